//! The templates of declared tools: texts with `{name}`, each brace a placeholder of a name alone.

use std::ops::Range;

/// A placeholder: the name, and where it stands in the template, without its braces.
pub(super) type Placeholder<'a> = (&'a str, Range<usize>);

/// What is wrong with a template.
pub(super) struct Fault {
    /// Where.
    pub(super) range: Range<usize>,
    /// What.
    pub(super) reason: &'static str,
    /// What to write instead.
    pub(super) help: String,
}

/// The placeholders of a template, in order.
pub(super) fn find(template: &str) -> Result<Vec<Placeholder<'_>>, Fault> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = template[from..].find(['{', '}']).map(|at| from + at) {
        let rest = &template[at..];
        let end = rest.find('}').map(|end| at + end);
        let fault = |end: usize, reason, help: &str| Fault { range: at..end, reason, help: help.to_owned() };
        let Some(end) = end.filter(|_| rest.starts_with('{')) else {
            return Err(fault(at + 1, "this brace stands alone", "write a placeholder as `{name}`"));
        };
        let name = &template[at + 1..end];
        if let Some(inner) = name.strip_prefix('{') {
            let help = format!("write `{{{}}}`; two braces are for `[evidence]`", inner.trim());
            let end = if template[end..].starts_with("}}") { end + 2 } else { end + 1 };
            return Err(fault(end, "a placeholder of a tool has one brace on each side", &help));
        }
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_name {
            return Err(fault(end + 1, "a placeholder holds a name and nothing else", "write `{name}`"));
        }
        found.push((name, at + 1..end));
        from = end + 1;
    }
    Ok(found)
}
