//! `[api] base`: the address that paths are put behind.

use url::{Host, Url};

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

/// Whether it says who asks: a manifest is copied into every run, and is no place for that.
pub fn names_user(address: &Url) -> bool {
    !address.username().is_empty() || address.password().is_some()
}

/// Whether nobody on the way can read what is sent there: it is encrypted, or does not leave this machine.
pub fn is_safe(address: &Url) -> bool {
    address.scheme() == "https"
        || match address.host() {
            Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        }
}
