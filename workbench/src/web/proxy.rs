//! The proxy of the environment, as far as error texts name it. The HTTP client finds and uses it by itself.

use crate::env;

/// What to add to an error of a request over `scheme` that may have gone to a proxy. Values are never shown: they may
/// hold a password.
pub(super) fn hint(scheme: &str) -> Option<String> {
    hint_from(scheme, |name| std::env::var(name).ok())
}

fn hint_from(scheme: &str, variable: impl Fn(&'static str) -> Option<String>) -> Option<String> {
    let names = if scheme == "https" { env::HTTPS_PROXIES } else { env::HTTP_PROXIES };
    let mut set = names.into_iter().filter_map(|name| Some((name, variable(name)?)));
    let (name, value) = set.find(|(_, value)| !value.is_empty())?;
    let is_socks = value.trim_start().to_ascii_lowercase().starts_with("socks");
    let kind = if is_socks { "; SOCKS is not supported" } else { "" };
    Some(format!(" (a proxy is set in `{name}`{kind})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_variable_and_never_its_value() {
        let hint = |scheme: &str, set: &[(&str, &str)]| {
            let value = |name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
            hint_from(scheme, value).unwrap_or_default()
        };
        let secret = "http://user:password@proxy.example:3128";
        assert_eq!(hint("https", &[("HTTPS_PROXY", secret)]), " (a proxy is set in `HTTPS_PROXY`)");
        assert_eq!(hint("http", &[("HTTPS_PROXY", secret), ("http_proxy", "")]), "");
        assert_eq!(hint("http", &[("all_proxy", secret)]), " (a proxy is set in `all_proxy`)");
        let socks = [("ALL_PROXY", "socks5://127.0.0.1:1080")];
        assert_eq!(hint("https", &socks), " (a proxy is set in `ALL_PROXY`; SOCKS is not supported)");
    }
}
