//! Pages as evidence: the whole page, or what a selector finds in it.

use std::path::Path;
use std::time::{Duration, Instant};

use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::{ParseOpts, parse_document};
use regex::Regex;
use scraper::{ElementRef, Html, HtmlTreeSink, Node, Selector};
use serde_json::{Value, json};

use super::evidence::Lack;
use super::files;
use crate::domain::manifest::{Conversion, Evidence};
use crate::expression;

/// Elements inside each other. Building a tree and matching selectors cost depth times size.
const DEPTH: usize = 256;
/// Elements and texts of a page. Unclosed formatting makes a parser repeat itself.
const NODES: usize = 400_000;
/// Elements that `select` may find; rules have fuel for lists of this length.
const FOUND: usize = 10_000;
/// How long building the tree may take; a tag of a million attributes would take hours.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes that are parsed between two looks at the limits.
const PIECE: usize = 16 << 10;

/// Reads what `evidence` asks of the page `name`: a list with `select`, else the page as an object.
pub(super) fn read(out: &Path, name: &str, evidence: &Evidence) -> Result<Value, Lack> {
    let page = parse(&files::text(out, name)?, PATIENCE).map_err(|reason| Lack::Missing(format!("{name} {reason}")))?;
    let Some(select) = &evidence.select else { return Ok(summary(&page)) };
    let selector = selector(select)?;
    let pattern = evidence.pattern.as_deref().map(expression::pattern).transpose().map_err(Lack::Fault)?;
    if page.select(&selector).nth(FOUND).is_some() {
        return Err(Lack::Missing(format!("{name} has more than {FOUND} elements that match `{select}`")));
    }
    page.select(&selector)
        .filter_map(|element| raw(element, evidence.attribute.as_deref()))
        .filter_map(|text| kept(&text, pattern.as_ref()))
        .map(|text| convert(&text, evidence.r#as.unwrap_or_default(), name))
        .collect()
}

/// Builds the tree piece by piece and stops as soon as it is too deep, too big or too slow.
fn parse(text: &str, patience: Duration) -> Result<Html, String> {
    let start = Instant::now();
    let mut parser = parse_document(HtmlTreeSink::new(Html::new_document()), ParseOpts::default());
    let mut rest = text;
    let mut seen = 0;
    while !rest.is_empty() {
        let (piece, remainder) = rest.split_at(rest.floor_char_boundary(PIECE.min(rest.len())));
        parser.process(StrTendril::from(piece));
        rest = remainder;
        let tree = &parser.tokenizer.sink.sink.0.borrow().tree;
        if tree.nodes().skip(seen).any(|node| node.ancestors().take(DEPTH + 1).count() > DEPTH) {
            return Err(format!("has elements more than {DEPTH} deep"));
        }
        seen = tree.nodes().len();
        if seen > NODES {
            return Err(format!("has more than {NODES} elements and texts"));
        }
        if start.elapsed() > patience {
            return Err("is so made that it takes too long to parse".to_owned());
        }
    }
    Ok(parser.finish())
}

fn summary(page: &Html) -> Value {
    let attributes = |selector: &str, attribute: &str| -> Vec<String> {
        let Ok(selector) = Selector::parse(selector) else { return Vec::new() };
        page.select(&selector).filter_map(|element| raw(element, Some(attribute))).collect()
    };
    let texts = |selector: &str| -> Vec<String> {
        let Ok(selector) = Selector::parse(selector) else { return Vec::new() };
        page.select(&selector).map(text_of).collect()
    };
    json!({
        "title": texts("title").into_iter().next().unwrap_or_default(),
        "text": text_of(page.root_element()),
        "headings": texts("h1, h2, h3, h4, h5, h6"),
        "links": attributes("a[href]", "href"),
        "images": attributes("img[src]", "src"),
    })
}

fn selector(select: &str) -> Result<Selector, Lack> {
    Selector::parse(select).map_err(|error| Lack::Fault(format!("`{select}` is no CSS selector: {error}")))
}

/// The attribute, or the text; nothing when the element has no such attribute.
fn raw(element: ElementRef<'_>, attribute: Option<&str>) -> Option<String> {
    match attribute {
        Some(attribute) => element.attr(attribute).map(|value| value.trim().to_owned()),
        None => Some(text_of(element)),
    }
}

/// Text as a reader sees it: no scripts and styles, white space run together.
fn text_of(element: ElementRef<'_>) -> String {
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

fn kept(text: &str, pattern: Option<&Regex>) -> Option<String> {
    let Some(pattern) = pattern else { return Some(text.to_owned()) };
    let found = pattern.captures(text)?;
    found.get(1).or_else(|| found.get(0)).map(|part| part.as_str().to_owned())
}

fn convert(text: &str, conversion: Conversion, name: &str) -> Result<Value, Lack> {
    let number = match conversion {
        Conversion::Text => return Ok(Value::from(text)),
        Conversion::Int => text.trim().parse::<i64>().ok().map(Value::from),
        Conversion::Float => text.trim().parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from),
    };
    let shown: String = text.chars().take(60).collect();
    let wanted = if conversion == Conversion::Int { "a whole number" } else { "a number" };
    number.ok_or_else(|| Lack::Missing(format!("{name} has `{shown}` where {wanted} should be")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_tag_of_countless_attributes_is_given_up() {
        let attributes: String = (0..500_000).map(|number| format!(" a{number}")).collect();
        let refusal = parse(&format!("<p{attributes}>"), Duration::from_millis(100)).unwrap_err();
        assert_eq!(refusal, "is so made that it takes too long to parse");
    }

    #[test]
    fn a_page_cut_into_pieces_is_the_same_page() {
        let text: String = (0..5_000).map(|number| format!("<li class=\"é{number}\">猫 {number}</li>")).collect();
        let page = parse(&text, PATIENCE).unwrap();
        assert_eq!(page.html(), Html::parse_document(&text).html());
    }
}
