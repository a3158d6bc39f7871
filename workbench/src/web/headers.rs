//! Headers a manifest asks for; those that carry a secret are read when a request is made.

use std::collections::BTreeMap;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use url::{Host, Url};

use crate::domain::header::{self, HeaderFault, HeaderText, VARIABLE};

/// The headers of a domain. Only [`Self::read`] ever holds a secret, for one request.
#[derive(Clone, Debug, Default)]
pub(super) struct Headers(Vec<(HeaderName, HeaderText)>);

/// A header that cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// It is no header.
    #[error("`{name}` {fault}")]
    Unfit {
        /// Which header.
        name: String,
        /// What is wrong with it, or with its secret.
        fault: HeaderFault,
    },
    /// The environment variable it stands in is not set.
    #[error("header `{name}` needs the environment variable {variable}, which is not set")]
    Variable {
        /// Which header.
        name: String,
        /// Which variable.
        variable: String,
    },
    /// It carries a secret, and would be read by everybody on the way.
    #[error(
        "header `{name}` carries a secret (`{VARIABLE}`), which goes over https or to this machine only, not to {to}; \
         give the `--route` an https address"
    )]
    Insecure {
        /// Which header.
        name: String,
        /// Scheme and authority of the target.
        to: String,
    },
}

impl Headers {
    /// Reads `[api] headers`.
    pub(super) fn new(headers: &BTreeMap<String, String>) -> Result<Self, HeaderError> {
        let parsed = headers.iter().map(|(name, value)| header::parse(name, value).map_err(unfit(name)));
        parsed.collect::<Result<_, _>>().map(Self)
    }

    /// Whether these headers may be sent to `target`, a real address or where a route leads.
    pub(super) fn check(&self, target: &Url) -> Result<(), HeaderError> {
        let secret = self.0.iter().find(|(_, value)| matches!(value, HeaderText::Variable(_)));
        match secret {
            Some((name, _)) if !keeps_secrets(target) => {
                let to = target.origin().ascii_serialization();
                Err(HeaderError::Insecure { name: name.to_string(), to })
            }
            _ => Ok(()),
        }
    }

    /// The headers of a request to `target`, secrets read now.
    pub(super) fn read(&self, target: &Url) -> Result<HeaderMap, HeaderError> {
        self.check(target)?;
        let mut map = HeaderMap::with_capacity(self.0.len());
        for (name, value) in &self.0 {
            let value = match value {
                HeaderText::Fixed(value) => value.clone(),
                HeaderText::Variable(variable) => secret(name, variable)?,
            };
            map.insert(name, value);
        }
        Ok(map)
    }
}

fn unfit(name: &str) -> impl FnOnce(HeaderFault) -> HeaderError {
    move |fault| HeaderError::Unfit { name: name.to_owned(), fault }
}

/// Whether nobody else can read what is sent there.
fn keeps_secrets(target: &Url) -> bool {
    let is_this_machine = match target.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    target.scheme() == "https" || is_this_machine
}

fn secret(name: &HeaderName, variable: &str) -> Result<HeaderValue, HeaderError> {
    let value = std::env::var(variable)
        .map_err(|_| HeaderError::Variable { name: name.to_string(), variable: variable.to_owned() })?;
    let mut value = header::text(value.trim()).map_err(unfit(name.as_str()))?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_goes_over_https_or_to_this_machine_only() {
        let headers = |value: &str| Headers::new(&[("x-key".to_owned(), value.to_owned())].into()).unwrap();
        for (target, allowed) in [
            ("https://mirror.example/x", true),
            ("http://127.0.0.1:8099", true),
            ("http://[::1]:8099", true),
            ("http://localhost:8099", true),
            ("http://mirror.example:8099/x", false),
            ("http://192.168.1.7", false),
            ("http://localhost.example", false),
        ] {
            let target = Url::parse(target).unwrap();
            assert_eq!(headers("env:ANY").check(&target).is_ok(), allowed, "{target}");
            assert_eq!(headers("plain").check(&target), Ok(()), "{target}");
        }
        let told = headers("env:ANY").read(&Url::parse("http://mirror.example:8099/x?a=1").unwrap()).unwrap_err();
        assert!(told.to_string().contains("header `x-key` carries a secret"), "{told}");
        assert!(told.to_string().contains("not to http://mirror.example:8099;"), "{told}");
    }
}
