//! The known name a misspelt one most likely meant, for error texts.

/// The candidate that resembles `name` most, if any resembles it at all.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LEAST_LIKENESS: f64 = 0.7;
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(likeness, _)| *likeness >= LEAST_LIKENESS)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, candidate)| candidate)
}

/// `; did you mean `x`?` when something resembles `name`, else nothing.
pub fn suggestion<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    question(name, candidates).map(|question| format!("; {question}")).unwrap_or_default()
}

/// `did you mean `x`?` when something resembles `name`.
pub fn question<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(name, candidates).map(|candidate| format!("did you mean `{candidate}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_meant_and_nothing_far_fetched() {
        let known = ["html", "image", "get", "select", "attribute"];
        assert_eq!(nearest("imgae", known), Some("image"));
        assert_eq!(nearest("atribute", known), Some("attribute"));
        assert_eq!(nearest("zzz", known), None);
        assert_eq!(suggestion("selct", known), "; did you mean `select`?");
        assert_eq!(suggestion("", known), "");
    }
}
