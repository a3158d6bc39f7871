//! Where a server's API is, from what a user writes.

use reqwest::Url;

use crate::model::access::{self, AccessError};

/// The address below which `chat/completions` and `models` are, from what stands in `place`. A path without a version gets
/// `/v1`, as all servers have it there; one that ends in `/chat/completions` says itself where that is.
pub(super) fn base(text: &str, place: &str) -> Result<Url, AccessError> {
    let mut url = access::address(text, place)?;
    let path = url.path().trim_end_matches('/').to_owned();
    let path = match path.strip_suffix("/chat/completions") {
        Some(above) => above.to_owned(),
        None if path.split('/').any(is_version) => path,
        None => format!("{path}/v1"),
    };
    url.set_path(&path);
    Ok(url)
}

/// The address of the server itself: what is not part of the common API is there.
pub(super) fn root(base: &Url) -> Url {
    let mut root = base.clone();
    let path = base.path().trim_end_matches('/');
    root.set_path(path.strip_suffix("/v1").unwrap_or(path));
    root
}

/// `v1`, `v1beta`, `v4`.
fn is_version(segment: &str) -> bool {
    segment.strip_prefix('v').is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn whatever_form_a_user_writes() {
        let table = [
            ("http://localhost:11434", "http://localhost:11434/v1", "http://localhost:11434/"),
            ("http://localhost:11434/", "http://localhost:11434/v1", "http://localhost:11434/"),
            (" http://localhost:11434/v1/ ", "http://localhost:11434/v1", "http://localhost:11434/"),
            ("https://host/openai/v1", "https://host/openai/v1", "https://host/openai"),
            ("https://host/team", "https://host/team/v1", "https://host/team"),
            ("https://host/v1beta/openai/", "https://host/v1beta/openai", "https://host/v1beta/openai"),
            ("https://host/chat/completions", "https://host/", "https://host/"),
            ("https://host/v1/chat/completions/", "https://host/v1", "https://host/"),
            ("http://[::1]:8000", "http://[::1]:8000/v1", "http://[::1]:8000/"),
        ];
        for (text, expected, server) in table {
            let found = base(text, "`--base-url`").unwrap();
            assert_eq!((found.as_str(), root(&found).as_str()), (expected, server), "{text}");
        }
    }
}
