//! How a provider is reached: the key in the environment, the address of its API.

use std::env::VarError;

use reqwest::Url;
use reqwest::header::HeaderValue;

/// What cannot be in a key or an address; the texts never hold a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    /// There is no key where one is needed.
    #[error("the environment variable `{0}` is not set, and `{1}` needs it: the key of its API")]
    NoKey(&'static str, String),
    /// A key that no header can carry.
    #[error("{0}")]
    BadKey(String),
    /// An address that is none. It is not shown, since it may hold a password.
    #[error("{place} is no address of an API: {reason}; write it as `https://host/path`")]
    BadAddress {
        /// What the user calls the place where it stands: `--base-url` or a variable.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// The folder of `--trace`, or the HTTP client.
    #[error("{0}")]
    Setup(String),
}

/// What an environment variable holds; nothing where it is not set or empty.
///
/// # Errors
/// When it is no text.
pub fn variable(name: &str) -> Result<Option<String>, AccessError> {
    match std::env::var(name) {
        Ok(text) if text.is_empty() => Ok(None),
        Ok(text) => Ok(Some(text)),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(AccessError::BadKey(no_key(name, NOT_ASCII))),
    }
}

const NOT_ASCII: &str = "letters that are not ASCII";

fn no_key(variable: &str, problem: &str) -> String {
    format!("the environment variable `{variable}` holds what no key can: {problem}")
}

/// A header's value that is kept out of logs and traces: `prefix` and the key that stands in `variable`.
///
/// # Errors
/// When it cannot be a key, such as one with a line feed: a text for people, which never holds it.
pub fn secret(prefix: &str, key: &str, variable: &str) -> Result<HeaderValue, String> {
    let bad = |problem| no_key(variable, problem);
    let problem = match key {
        key if !key.is_ascii() => Some(NOT_ASCII),
        key if key.contains(['\n', '\r']) => Some("a line feed"),
        key if key.contains([' ', '\t']) => Some("blanks"),
        key if key.contains(|letter: char| letter.is_ascii_control()) => Some("control characters"),
        "" => Some("nothing"),
        _ => None,
    };
    if let Some(problem) = problem {
        return Err(bad(problem));
    }
    let mut value = HeaderValue::from_str(&format!("{prefix}{key}")).map_err(|_| bad("control characters"))?;
    value.set_sensitive(true);
    Ok(value)
}

/// The address of an API, as a user gives it in `place`, such as `--base-url`, without a slash at its end.
///
/// # Errors
/// When it is no address, or holds what must not travel in one.
pub fn address(text: &str, place: &str) -> Result<Url, AccessError> {
    let bad = |reason: &str| AccessError::BadAddress { place: place.to_owned(), reason: reason.to_owned() };
    let mut url = Url::parse(text.trim()).map_err(|error| bad(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad("it does not begin with `http://` or `https://`"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(bad("it holds a user or a password, which belong in the key's variable"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(bad("it has a `?` or a `#`"));
    }
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&path);
    Ok(url)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn keys_that_are_none_are_refused_and_never_told() {
        let table = [
            ("sk-key\n", "a line feed"),
            ("sk-key\r\nx-evil: 1", "a line feed"),
            (" sk-key", "blanks"),
            ("sk-key ", "blanks"),
            ("sk-\tkey", "blanks"),
            ("sk-kéy", "letters that are not ASCII"),
            ("sk-\u{0}key", "control characters"),
            ("sk-\u{7f}key", "control characters"),
            ("", "nothing"),
        ];
        for (key, problem) in table {
            let told = secret("Bearer ", key, "A_KEY").unwrap_err();
            assert_eq!(told, format!("the environment variable `A_KEY` holds what no key can: {problem}"), "{key:?}");
        }
        let good = secret("Bearer ", "sk-key_1.2", "A_KEY").unwrap();
        assert!(good.is_sensitive() && good == "Bearer sk-key_1.2");
    }

    #[test]
    fn addresses_of_apis() {
        let table = [
            ("https://api.example", Ok("https://api.example/")),
            (" https://api.example/ ", Ok("https://api.example/")),
            ("http://127.0.0.1:8080/proxy//", Ok("http://127.0.0.1:8080/proxy")),
            ("https://api.example/v1", Ok("https://api.example/v1")),
            ("localhost:8080", Err("does not begin with")),
            ("api.example", Err("relative URL without a base")),
            ("ftp://api.example", Err("does not begin with")),
            ("https://me:secret@api.example", Err("holds a user or a password")),
            ("https://api.example/?key=secret", Err("has a `?`")),
            ("", Err("relative URL")),
        ];
        for (text, expected) in table {
            match (address(text, "`--base-url`"), expected) {
                (Ok(url), Ok(expected)) => assert_eq!(url.as_str(), expected, "{text}"),
                (Err(error), Err(part)) => {
                    let told = error.to_string();
                    assert!(told.contains(part) && !told.contains("secret"), "{text}: {told}");
                }
                (outcome, _) => panic!("{text}: {outcome:?}"),
            }
        }
    }
}
