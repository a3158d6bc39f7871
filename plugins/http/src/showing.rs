//! Tools that show what was read: a contact sheet, a page, a text.

use plugin_api::{Host, Picture, RawJson, SavedFile, ToolError, ToolResult, named};
use serde_json::{Map, Value, json};

use crate::declaration::{Action, ContactSheet, Declaration, Page, Request, SaveText};
use crate::reading::{Filled, Written, file_name};
use crate::template::{self, Names, placeholders};

/// `contact_sheet`: the downloaded pictures, each with its label.
pub(crate) fn contact_sheet(
    host: &Host,
    sheet: &ContactSheet,
    names: Names<'_>,
    tools: &[Declaration],
) -> ToolResult<RawJson> {
    let items = items_of(&sheet.each, names)?;
    let files = pictures(host, &sheet.picture, &items, names, tools)?;
    let labelled = files.into_iter().zip(&items);
    let pictures: Vec<_> = labelled
        .map(|(file, item)| Picture { file: file.file, label: template::text(&sheet.label, names.with(item)) })
        .collect();
    let (name, _) = file_name(&sheet.save, names);
    Written::answer(host.contact_sheet(name, &pictures)?, Some(pictures.len()))
}

/// `page`: the template, filled with arguments, records and names of pictures.
pub(crate) fn page(host: &Host, page: &Page, names: Names<'_>, tools: &[Declaration]) -> ToolResult<RawJson> {
    let mut data = Map::from_iter([("arguments".to_owned(), json!(names.arguments()))]);
    let mut count = None;
    if let Some(each) = &page.each {
        let items = items_of(each, names)?;
        if let Some(picture) = &page.picture {
            let files = pictures(host, picture, &items, names, tools)?;
            // Beside the page, nothing remote.
            let beside: Vec<_> = files.iter().map(|file| file.file.rsplit('/').next().unwrap_or_default()).collect();
            data.insert("pictures".to_owned(), json!(beside));
        }
        count = Some(items.len());
        let items = match &page.request {
            Some(request) => records(host, request, items, names)?,
            None => items,
        };
        data.insert("items".to_owned(), Value::from(items));
    }
    let (name, _) = file_name(&page.save, names);
    Written::answer(host.render(&page.template, name, &data)?, count)
}

/// `save_text`
pub(crate) fn save_text(host: &Host, save: &SaveText, names: Names<'_>) -> ToolResult<RawJson> {
    let (name, extension) = file_name(&save.save, names);
    Written::answer(host.save(name, extension, &template::text(&save.text, names))?, None)
}

fn items_of(each: &str, names: Names<'_>) -> ToolResult<Vec<Value>> {
    let items = names.arguments().get(each).and_then(Value::as_array).cloned().unwrap_or_default();
    if items.is_empty() {
        return Err(ToolError::new(format!("{each} is empty: there is nothing to show")).with_code("bad_arguments"));
    }
    Ok(items)
}

/// The record of each item. Names every one that cannot be read, so that one more turn is enough.
fn records(host: &Host, request: &Request, items: Vec<Value>, names: Names<'_>) -> ToolResult<Vec<Value>> {
    let (mut records, mut failed) = (Vec::new(), Vec::new());
    let count = items.len();
    for item in items {
        let record = Filled::new(request, names.with(&item)).and_then(|request| request.json(host)?.parse());
        match record {
            Ok(record) => records.push(record),
            Err(error) => failed.push((item, error)),
        }
    }
    let message = match failed.as_slice() {
        [] => return Ok(records),
        [(item, error)] => format!("the record of {} could not be read: {}", shown(item), error.message),
        [(_, first), ..] => format!(
            "the records of {} of {count} could not be read: {}; the first says: {}",
            failed.len(),
            named(&failed.iter().map(|(item, _)| shown(item)).collect::<Vec<_>>()),
            first.message
        ),
    };
    let (_, first) = failed.swap_remove(0);
    Err(ToolError { message, ..first })
}

/// The downloaded picture of each item. Names every one that is missing, so that one more turn is enough.
fn pictures(
    host: &Host,
    picture: &str,
    items: &[Value],
    names: Names<'_>,
    tools: &[Declaration],
) -> ToolResult<Vec<SavedFile>> {
    let (mut files, mut missing) = (Vec::new(), Vec::new());
    for item in items {
        let (name, extension) = file_name(picture, names.with(item));
        match host.saved(name, extension)? {
            Some(file) => files.push(file),
            None => missing.push(shown(item)),
        }
    }
    let tool = downloader(picture, tools);
    let problem = match missing.as_slice() {
        [] => return Ok(files),
        [item] => format!("the picture of {item} was not downloaded yet: call {tool} for it first"),
        items => format!("the pictures of {} were not downloaded yet: call {tool} for each first", named(items)),
    };
    Err(ToolError::new(problem).with_code("not_downloaded"))
}

/// The tool that saves files of this name.
fn downloader<'tools>(picture: &str, tools: &'tools [Declaration]) -> &'tools str {
    let mut downloads = tools.iter().filter_map(|tool| match &tool.action {
        Action::Download { download } => Some((tool.name.as_str(), shape(&download.save))),
        _ => None,
    });
    let wanted = shape(picture);
    downloads.find(|(_, saved)| *saved == wanted).map_or("the tool that downloads it", |(name, _)| name)
}

/// A template without the names of its placeholders.
fn shape(template: &str) -> String {
    placeholders(template)
        .iter()
        .fold(template.to_owned(), |shape, name| shape.replacen(&format!("{{{name}}}"), "{}", 1))
}

fn shown(item: &Value) -> String {
    item.as_str().map_or_else(|| item.to_string(), str::to_owned)
}
