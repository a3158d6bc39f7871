//! Pages as evidence: the whole page, or what a selector finds in it.

use std::ops::Range;
use std::path::Path;

use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::{ParseOpts, parse_document};
use regex::Regex;
use scraper::{ElementRef, Html, HtmlTreeSink, Node, Selector};
use serde_json::{Value, json};

use super::budget::{Budget, Patience};
use super::evidence::Lack;
use super::files;
use crate::bounded_json::memory_of;
use crate::domain::manifest::{Conversion, Evidence};
use crate::expression;

/// Elements inside each other. Building a tree and matching selectors cost depth times size.
const DEPTH: usize = 256;
/// Elements and texts of a page. Unclosed formatting makes a parser repeat itself.
const NODES: usize = 400_000;
/// Elements that `select` may find; rules have fuel for lists of this length.
const FOUND: usize = 10_000;
/// Elements and texts of a page that a selector with `:has` may search: it looks through all below each element.
const HAS_NODES: usize = 20_000;
/// Bytes that are parsed between two looks at the limits.
const PIECE: usize = 4 << 10;

/// Reads what `evidence` asks of the page `name`: a list with `select`, else the page as an object.
pub(super) fn read(out: &Path, name: &str, evidence: &Evidence, budget: &Budget) -> Result<Value, Lack> {
    let text = files::text(out, name)?;
    let value = budget.page(|patience| {
        let page = parse(&text, patience)?;
        let Some(select) = &evidence.select else { return summary(&page, patience) };
        let selector = selector(select)?;
        let pattern = evidence.pattern.as_deref().map(expression::pattern).transpose().map_err(Lack::Fault)?;
        if select.contains(":has(") && page.tree.nodes().len() > HAS_NODES {
            return Err(Lack::Missing(format!(
                "has more than {HAS_NODES} elements and texts, too many for `{select}`"
            )));
        }
        let found = found(&page, &selector, patience)?;
        if found.len() > FOUND {
            return Err(Lack::Missing(format!("has more than {FOUND} elements that match `{select}`")));
        }
        raw(&found, evidence.attribute.as_deref(), patience)?
            .iter()
            .filter_map(|text| kept_part(text, pattern.as_ref()).map(|part| &text[part]))
            .map(|text| convert(text, evidence.r#as.unwrap_or_default()))
            .collect()
    });
    // What is the model's is said with the page's name before it.
    let value = value.map_err(|lack| match lack {
        Lack::Missing(reason) => Lack::Missing(format!("{name} {reason}")),
        fault @ Lack::Fault(_) => fault,
    })?;
    budget.keep(name, memory_of(&value))?;
    Ok(value)
}

/// Builds the tree piece by piece and stops as soon as it is too deep, too big or too slow.
fn parse(text: &str, patience: &Patience) -> Result<Html, Lack> {
    let mut parser = parse_document(HtmlTreeSink::new(Html::new_document()), ParseOpts::default());
    let mut rest = text;
    let mut seen = 0;
    while !rest.is_empty() {
        let (piece, remainder) = rest.split_at(rest.floor_char_boundary(PIECE.min(rest.len())));
        parser.process(StrTendril::from(piece));
        rest = remainder;
        let tree = &parser.tokenizer.sink.sink.0.borrow().tree;
        if tree.nodes().skip(seen).any(|node| node.ancestors().take(DEPTH + 1).count() > DEPTH) {
            return Err(Lack::Missing(format!("has elements more than {DEPTH} deep")));
        }
        seen = tree.nodes().len();
        if seen > NODES {
            return Err(Lack::Missing(format!("has more than {NODES} elements and texts")));
        }
        if patience.is_over() {
            return Err(Lack::Missing("is so made that it takes too long to parse".to_owned()));
        }
    }
    Ok(parser.finish())
}

fn summary(page: &Html, patience: &Patience) -> Result<Value, Lack> {
    let all =
        |select: &str, attribute: Option<&str>| raw(&found(page, &selector(select)?, patience)?, attribute, patience);
    Ok(json!({
        "title": all("title", None)?.into_iter().next().unwrap_or_default(),
        "text": text_of(page.root_element()),
        "headings": all("h1, h2, h3, h4, h5, h6", None)?,
        "links": all("a[href]", Some("href"))?,
        "images": all("img[src]", Some("src"))?,
    }))
}

/// The elements that match, one by one: looking for one among many siblings that do not match is as long a way for each
/// of them.
fn found<'page>(page: &'page Html, selector: &Selector, patience: &Patience) -> Result<Vec<ElementRef<'page>>, Lack> {
    let mut found = Vec::new();
    for element in page.tree.nodes().filter_map(ElementRef::wrap) {
        if element.parent().is_some() && selector.matches(&element) {
            found.push(element);
        }
        if patience.is_over() {
            return Err(Lack::Missing("is so made that it takes too long to search".to_owned()));
        }
    }
    Ok(found)
}

/// The attribute of each element that has it, or the text of each. Elements within each other have the same text, so
/// their texts may be much longer than the page.
fn raw(elements: &[ElementRef<'_>], attribute: Option<&str>, patience: &Patience) -> Result<Vec<String>, Lack> {
    let Some(attribute) = attribute else {
        let mut length = 0;
        let mut texts = Vec::with_capacity(elements.len());
        for element in elements {
            let text = text_of(*element);
            length += text.len() as u64;
            if length > files::TEXT_BYTES {
                let most = files::TEXT_BYTES >> 20;
                return Err(Lack::Missing(format!("has elements within each other with more than {most} MB of text")));
            }
            if patience.is_over() {
                return Err(Lack::Missing("is so made that it takes too long to search".to_owned()));
            }
            texts.push(text);
        }
        return Ok(texts);
    };
    Ok(elements.iter().filter_map(|element| element.attr(attribute).map(|value| value.trim().to_owned())).collect())
}

fn selector(select: &str) -> Result<Selector, Lack> {
    Selector::parse(select).map_err(|error| Lack::Fault(format!("`{select}` is no CSS selector: {error}")))
}

/// Text as a reader sees it: no scripts and styles, white space run together.
pub(crate) fn text_of(element: ElementRef<'_>) -> String {
    let mut text = String::new();
    for node in element.descendants() {
        let Node::Text(piece) = node.value() else { continue };
        let parent = node.parent().and_then(|parent| parent.value().as_element().map(|parent| parent.name()));
        if !matches!(parent, Some("script" | "style")) {
            text.push_str(piece);
            text.push(' ');
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The part of a text that a pattern keeps: group 1, else the whole match; without a pattern all of it.
pub(crate) fn kept_part(text: &str, pattern: Option<&Regex>) -> Option<Range<usize>> {
    let Some(pattern) = pattern else { return Some(0..text.len()) };
    let found = pattern.captures(text)?;
    found.get(1).or_else(|| found.get(0)).map(|part| part.range())
}

fn convert(text: &str, conversion: Conversion) -> Result<Value, Lack> {
    let number = match conversion {
        Conversion::Text => return Ok(Value::from(text)),
        Conversion::Int => text.trim().parse::<i64>().ok().map(Value::from),
        Conversion::Float => text.trim().parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from),
    };
    let shown: String = text.chars().take(60).collect();
    let wanted = if conversion == Conversion::Int { "a whole number" } else { "a number" };
    number.ok_or_else(|| Lack::Missing(format!("has `{shown}` where {wanted} should be")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::time::Duration;

    use super::*;

    #[test]
    fn a_page_that_takes_too_long_is_given_up() {
        let no_patience = Patience::of(Duration::ZERO);
        let enough = Patience::of(Duration::from_secs(3600));
        let Err(refusal) = parse("<p>", &no_patience) else { panic!("there was no patience left") };
        assert_eq!(refusal, Lack::Missing("is so made that it takes too long to parse".to_owned()));
        let page = parse("<p>one", &enough).unwrap();
        for outcome in [
            found(&page, &selector("h1 ~ p").unwrap(), &no_patience).map(|found| found.len()),
            raw(&[page.root_element()], None, &no_patience).map(|texts| texts.len()),
        ] {
            assert_eq!(outcome, Err(Lack::Missing("is so made that it takes too long to search".to_owned())));
        }
    }

    #[test]
    fn a_page_cut_into_pieces_is_the_same_page() {
        let text: String = (0..5_000).map(|number| format!("<li class=\"é{number}\">猫 {number}</li>")).collect();
        let page = parse(&text, &Patience::of(Duration::from_secs(3600))).unwrap();
        assert_eq!(page.html(), Html::parse_document(&text).html());
    }
}
