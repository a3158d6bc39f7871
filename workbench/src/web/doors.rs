//! The HTTP clients behind a domain's requests, made when they are first needed.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;

use reqwest::Client;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::policy::is_public;

/// How long a connection may take to be made.
const CONNECT_SECONDS: u64 = 15;

/// Which client a request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Door {
    /// Whether certificates are checked: reading those of the system takes a while, and fails where
    /// there are none, so plain http does without.
    pub(super) tls: bool,
    /// Whether the system's proxy is used; a routed address of this machine is not reached by it.
    pub(super) proxy: bool,
}

/// The clients of one domain.
pub(super) struct Doors {
    guard: Arc<Guard>,
    made: Mutex<HashMap<Door, Client>>,
}

impl Doors {
    pub(super) fn new(public_names: HashSet<String>) -> Self {
        use_ring();
        Self { guard: Arc::new(Guard { public_names }), made: Mutex::new(HashMap::new()) }
    }

    /// The client for `door`. Redirects and retries are not its business: each needs a check and a
    /// place in the queue first.
    pub(super) fn client(&self, door: Door) -> Result<Client, reqwest::Error> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = made.get(&door) {
            return Ok(client.clone());
        }
        let mut builder = Client::builder()
            .user_agent(concat!("workbench/", env!("CARGO_PKG_VERSION"), " (studies tool calling; paced, cached)"))
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .connect_timeout(Duration::from_secs(CONNECT_SECONDS))
            .dns_resolver(Arc::clone(&self.guard));
        if !door.tls {
            builder = builder.tls_certs_only([]);
        }
        if !door.proxy {
            builder = builder.no_proxy();
        }
        let client = builder.build()?;
        made.insert(door, client.clone());
        Ok(client)
    }
}

/// Has TLS done by ring in this process. Whoever makes an HTTP client calls it first.
pub fn use_ring() {
    static PROVIDER: Once = Once::new();
    // Fails only when the process has a provider already, which serves as well.
    PROVIDER.call_once(|| _ = rustls::crypto::ring::default_provider().install_default());
}

/// Resolves names by the system, but no name of the allow-list into a private network: a public name
/// must not open this machine or its neighbours to a tool.
struct Guard {
    public_names: HashSet<String>,
}

/// Every address of a name was refused.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` resolves to a private network; use a `--route` when that is meant")]
pub(super) struct PrivateName(String);

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let name = name.as_str().to_owned();
        let public_only = self.public_names.contains(&name.to_ascii_lowercase());
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let allowed: Vec<SocketAddr> =
                found.into_iter().filter(|address| !public_only || is_public(address.ip())).collect();
            if allowed.is_empty() {
                return Err(PrivateName(name).into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_public_name_must_not_lead_to_this_machine() {
        let resolve = async |public_names: &[&str]| {
            let guard = Guard { public_names: public_names.iter().map(|name| (*name).to_owned()).collect() };
            guard.resolve("LocalHost".parse()?).await.map(Iterator::count)
        };
        assert!(resolve(&[]).await.is_ok_and(|addresses| addresses > 0));
        let refused = resolve(&["localhost"]).await;
        assert!(refused.is_err_and(|error| error.is::<PrivateName>()));
    }
}
