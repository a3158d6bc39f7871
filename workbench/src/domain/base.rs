//! `[api] base`: the address that paths are put behind.

use url::Url;

/// Reads a base; where it is none, the error says what it is not, to stand behind it.
pub fn parse(base: &str) -> Result<Url, &'static str> {
    match Url::parse(base) {
        Ok(url) if !matches!(url.scheme(), "http" | "https") => Err("is no http or https address"),
        Ok(url) if url.query().is_some() || url.fragment().is_some() => {
            Err("must end with its path, without `?` and `#`")
        }
        Ok(url) => Ok(url),
        Err(_) => Err("is no http or https address"),
    }
}
