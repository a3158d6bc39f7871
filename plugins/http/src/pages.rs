//! Asks page after page and puts their items together.

use std::collections::BTreeSet;

use plugin_api::{Host, RawJson, ToolError, ToolResult};
use serde_json::Value;

use crate::declaration::Pages;
use crate::reading::{Filled, evaluate};
use crate::template::Names;

/// The items of all pages, each as the API sent it.
pub(crate) fn read_all(host: &Host, first: Filled, pages: &Pages, names: Names<'_>) -> ToolResult<Vec<RawJson>> {
    let mut items: Vec<RawJson> = Vec::new();
    let mut seen = BTreeSet::new();
    let start = first.path.clone();
    let fixed = first.query.clone();
    let mut request = first;
    let mut number = pages.first.unwrap_or(1);
    for _ in 0..pages.at_most {
        if pages.next.is_none() {
            request.query = counted(&fixed, pages, items.len() as u64, number);
        }
        let page = request.json(host)?;
        let found = items_of(host, &page, pages, names)?;
        let is_empty = found.is_empty();
        items.extend(found);
        match &pages.next {
            Some(next) => match next_address(host, next, &page, names)? {
                None => return Ok(items),
                Some(address) if seen.insert(address.clone()) => request = Filled { path: address, query: Vec::new() },
                Some(address) => {
                    let message = format!("the pages of {start} go round in a circle: {address} comes again");
                    return Err(ToolError::new(message).with_code("unexpected_answer"));
                }
            },
            None if is_empty || is_whole(host, &page, pages, items.len(), names)? => return Ok(items),
            // The number of the first page is an author's, and may be the last there is.
            None => number = number.saturating_add(1),
        }
    }
    let message = format!("{start} has more than {} pages, and this tool reads no more", pages.at_most);
    Err(ToolError::new(message).with_code("too_many_pages").with_help("narrow down what is asked for"))
}

/// The parameters of one page, in place of those of the same name.
fn counted(fixed: &[(String, String)], pages: &Pages, skipped: u64, number: u64) -> Vec<(String, String)> {
    let ours = [(&pages.offset, Some(skipped)), (&pages.number, Some(number)), (&pages.limit, pages.size)];
    let ours: Vec<_> = ours.into_iter().filter_map(|(name, value)| Some((name.clone()?, value?.to_string()))).collect();
    let others = fixed.iter().filter(|(name, _)| ours.iter().all(|(other, _)| other != name)).cloned();
    others.chain(ours.iter().cloned()).collect()
}

fn items_of(host: &Host, page: &RawJson, pages: &Pages, names: Names<'_>) -> ToolResult<Vec<RawJson>> {
    let items = evaluate(host, &pages.items, page, names)?;
    let items: Option<Vec<RawJson>> = serde_json::from_slice(items.bytes()).map_err(|_| {
        let message = format!("`{}` is no list on a page of the API", pages.items);
        ToolError::new(message).with_code("unexpected_answer")
    })?;
    Ok(items.unwrap_or_default())
}

/// Where the next page is; nothing behind the last one.
fn next_address(host: &Host, next: &str, page: &RawJson, names: Names<'_>) -> ToolResult<Option<String>> {
    let address = match evaluate(host, next, page, names) {
        Err(error) if error.code.as_deref() == Some("undefined") => return Ok(None),
        address => address?.parse::<Value>()?,
    };
    match address {
        Value::Null | Value::Bool(false) => Ok(None),
        Value::String(address) => Ok(Some(address).filter(|address| !address.is_empty())),
        other => {
            let message = format!("`{next}` is no address on a page of the API: {other}");
            Err(ToolError::new(message).with_code("unexpected_answer"))
        }
    }
}

/// Whether the API has said how many items there are, and all of them are here.
fn is_whole(host: &Host, page: &RawJson, pages: &Pages, count: usize, names: Names<'_>) -> ToolResult<bool> {
    let Some(total) = &pages.total else { return Ok(false) };
    let value: Value = evaluate(host, total, page, names)?.parse()?;
    let total = value.as_u64().ok_or_else(|| {
        let message = format!("`{total}` is no number of items on a page of the API: {value}");
        ToolError::new(message).with_code("unexpected_answer")
    })?;
    Ok(count as u64 >= total)
}
