//! Doc comments, as text for a model.

use syn::{Attribute, Expr, Lit, Meta};

/// The text of all doc comments among `attributes`, without the marks of a comment.
pub(crate) fn text(attributes: &[Attribute]) -> String {
    let mut text = String::new();
    for line in attributes.iter().filter_map(comment).flat_map(|comment| lines_of(&comment)) {
        // As in Markdown: a line goes on the one before, unless it begins a paragraph or an item.
        let begins = line.is_empty() || line.starts_with("- ") || text.is_empty() || text.ends_with('\n');
        text.push_str(if begins { "\n" } else { " " });
        text.push_str(&line);
    }
    text.trim().to_owned()
}

fn comment(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(meta) = &attribute.meta else { return None };
    let Expr::Lit(value) = &meta.value else { return None };
    match &value.lit {
        Lit::Str(text) if meta.path.is_ident("doc") => Some(text.value()),
        _ => None,
    }
}

/// A block comment comes in one piece, with the stars of its lines; a line comment comes line by line.
fn lines_of(comment: &str) -> Vec<String> {
    if !comment.contains('\n') {
        return vec![comment.trim().to_owned()];
    }
    comment.lines().map(|line| line.trim().trim_start_matches('*').trim().to_owned()).collect()
}
