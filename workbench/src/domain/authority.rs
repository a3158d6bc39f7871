//! `host` or `host:port`, in one form: what `hosts` and routes name, and what addresses are compared by.

use url::Url;

/// The authority of a web address: the host, with the port where it is not the usual one.
pub fn of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

/// Reads `host` or `host:port`: in lower case, without port 443, as an address of `https` would have
/// it. Nothing when `text` is something else.
pub fn parse(text: &str) -> Option<String> {
    let is_more = |letter: char| "/\\?#@".contains(letter) || letter.is_whitespace() || letter.is_control();
    if text.contains(is_more) || text.ends_with(':') {
        return None;
    }
    Url::parse(&format!("https://{text}")).ok().map(|url| of(&url))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_hosts_with_and_without_a_port() {
        for (text, expected) in [
            ("API.example", "api.example"),
            ("api.example:8443", "api.example:8443"),
            ("api.example:443", "api.example"),
            ("api.example:80", "api.example:80"),
            ("10.0.0.7:1", "10.0.0.7:1"),
            ("[::1]", "[::1]"),
            ("[::1]:8099", "[::1]:8099"),
        ] {
            assert_eq!(parse(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_more_or_less() {
        for text in [
            "",
            ":80",
            "api.example:",
            "api.example:http",
            "api.example:65536",
            "https://api.example",
            "api.example/v1",
            "user@api.example",
            "api.example?x",
            "api example",
            "api.\texample",
            "::1",
            "[::1",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
