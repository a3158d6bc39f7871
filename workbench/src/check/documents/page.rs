//! Lists in pages: what the selector of a piece of evidence finds.

use std::ops::Range;

use scraper::{ElementRef, Html, Node, Selector, StrTendril};

use super::{Edit, Kind};
use crate::domain::manifest::Evidence;
use crate::expression;
use crate::verify::{kept_part, text_of};

/// What is read of which elements.
#[derive(Clone, Debug)]
pub(super) struct Selection {
    select: String,
    attribute: Option<String>,
    pattern: Option<String>,
}

/// What evidence over a page looks at: what it selects; of a whole page title, headings and text.
pub(super) fn selections(name: &str, evidence: &Evidence) -> Vec<(String, Kind, Selection)> {
    let of = |select: &str| Selection { select: select.to_owned(), attribute: None, pattern: None };
    match &evidence.select {
        Some(select) => {
            let selection =
                Selection { attribute: evidence.attribute.clone(), pattern: evidence.pattern.clone(), ..of(select) };
            vec![(format!("`{name}`"), Kind::Items, selection)]
        }
        None => [("title", "title"), ("headings", "h1, h2, h3, h4, h5, h6"), ("text", "body")]
            .map(|(part, select)| (format!("`{name}.{part}`"), Kind::Places, of(select)))
            .into(),
    }
}

/// The texts that are found.
pub(super) fn values(text: &str, selection: &Selection) -> Vec<String> {
    let page = Html::parse_document(text);
    let found = selection.find(&page).unwrap_or_default();
    found.into_iter().map(|(_, text, part)| text[part].to_owned()).collect()
}

impl Selection {
    /// The elements that count, each with what is read of it and the part of that which is kept.
    fn find<'page>(&self, page: &'page Html) -> Option<Vec<(ElementRef<'page>, String, Range<usize>)>> {
        let selector = Selector::parse(&self.select).ok()?;
        let pattern = self.pattern.as_deref().map(expression::pattern).transpose().ok()?;
        let raw = |element: ElementRef<'_>| match &self.attribute {
            Some(attribute) => element.attr(attribute).map(|value| value.trim().to_owned()),
            None => Some(text_of(element)),
        };
        let found = page.select(&selector).filter_map(|element| {
            let text = raw(element)?;
            let part = kept_part(&text, pattern.as_ref())?;
            Some((element, text, part))
        });
        Some(found.collect())
    }
}

/// The page with what was found changed.
pub(super) fn edited(text: &str, selection: &Selection, edits: &[Edit]) -> Option<String> {
    let mut page = Html::parse_document(text);
    let found: Vec<_> =
        selection.find(&page)?.into_iter().map(|(element, text, part)| (element.id(), text, part)).collect();
    let is_set = |edit: &&Edit| matches!(edit, Edit::Set(..));
    // Values first: what is doubled is doubled as it then is.
    for edit in edits.iter().filter(is_set).chain(edits.iter().filter(|edit| !is_set(edit))) {
        let (Edit::Remove(place) | Edit::Double(place) | Edit::Set(place, _)) = edit;
        let (id, text, part) = found.get(*place)?;
        let mut node = page.tree.get_mut(*id)?;
        match edit {
            Edit::Remove(_) => node.detach(),
            Edit::Double(_) => {
                let copy = node.clone_subtree().id();
                page.tree.get_mut(*id)?.insert_id_after(copy);
            }
            Edit::Set(_, value) => {
                let mut changed = text.clone();
                changed.replace_range(part.clone(), value);
                match (&selection.attribute, node.value()) {
                    (Some(name), Node::Element(element)) => {
                        let attribute = element.attrs.iter_mut().find(|(known, _)| *known.local == **name)?;
                        attribute.1 = StrTendril::from(changed);
                    }
                    _ => {
                        while let Some(mut child) = node.first_child() {
                            child.detach();
                        }
                        node.append(Node::Text(scraper::node::Text { text: StrTendril::from(changed) }));
                    }
                }
            }
        }
    }
    Some(page.html())
}
