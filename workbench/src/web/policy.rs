//! What a domain may ask for, and where its requests really go.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

use super::WebError;
use super::address::Address;
use super::doors::Door;
use super::source::Route;
use crate::domain::authority;

/// The allow-list of a domain, and the routes of this command.
#[derive(Clone, Debug)]
pub(super) struct Policy {
    base: Option<String>,
    hosts: HashSet<String>,
    routes: HashMap<String, Url>,
}

/// Where a request goes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) url: Url,
    pub(super) door: Door,
}

impl Policy {
    pub(super) fn new(base: Option<String>, hosts: &[String], routes: &[Route]) -> Self {
        Self {
            base,
            hosts: hosts.iter().filter_map(|host| authority::parse(host)).collect(),
            routes: routes.iter().map(|route| (route.host.clone(), route.to.clone())).collect(),
        }
    }

    /// The address a tool means, when it is one that may be asked for.
    pub(super) fn resolve(&self, path: &str, query: &[(String, String)]) -> Result<Address, WebError> {
        self.admit(Address::resolve(self.base.as_deref(), path, query)?)
    }

    /// The address, when it is one that may be asked for.
    pub(super) fn admit(&self, address: Address) -> Result<Address, WebError> {
        match self.check(&address) {
            Ok(()) => Ok(address),
            Err(reason) => Err(WebError::NotAllowed { url: address.shown(), reason }),
        }
    }

    /// Checks an address, or tells which rule forbids it.
    fn check(&self, address: &Address) -> Result<(), String> {
        let authority = address.authority();
        if !self.allows(&authority) {
            let hosts = listed(&self.hosts());
            return Err(format!("`{authority}` is not among the domain's `[api] hosts` ({hosts})"));
        }
        if self.routes.contains_key(&authority) {
            return Ok(());
        }
        if is_private(address.url()) {
            return Err(format!(
                "an address of this machine or of a private network needs a route: add \
                 `--route {authority}={}://{authority}`",
                address.url().scheme()
            ));
        }
        if address.url().scheme() != "https" {
            return Err("only https is used, except for hosts with a `--route`".to_owned());
        }
        Ok(())
    }

    /// Whether a host, with its port where it is not the usual one, is among the domain's.
    pub(super) fn allows(&self, authority: &str) -> bool {
        self.hosts.contains(authority)
    }

    /// The domain's hosts, sorted.
    pub(super) fn hosts(&self) -> Vec<String> {
        let mut hosts: Vec<String> = self.hosts.iter().cloned().collect();
        hosts.sort_unstable();
        hosts
    }

    /// Where the request for `address` is sent.
    pub(super) fn target(&self, address: &Address) -> Target {
        match self.routes.get(&address.authority()) {
            Some(to) => {
                let mut url = to.clone();
                url.set_path(&format!("{}{}", to.path().trim_end_matches('/'), address.url().path()));
                url.set_query(address.url().query());
                let door = Door { tls: url.scheme() == "https", proxy: !is_private(&url) };
                Target { url, door }
            }
            None => Target { url: address.url().clone(), door: Door { tls: true, proxy: true } },
        }
    }

    /// The addresses that routes lead to.
    pub(super) fn routed_to(&self) -> impl Iterator<Item = &Url> {
        self.routes.values()
    }

    /// Names that must not resolve to a private network: those of the hosts without a route. A
    /// resolver is asked for names without ports, and never for addresses.
    pub(super) fn public_names(&self) -> HashSet<String> {
        let unrouted = self.hosts.iter().filter(|host| !self.routes.contains_key(*host));
        unrouted.filter_map(|host| host.split(':').next()).map(str::to_owned).collect()
    }
}

/// Hosts as an error text lists them.
pub(super) fn listed(hosts: &[String]) -> String {
    if hosts.is_empty() { "none".to_owned() } else { hosts.join(", ") }
}

fn is_private(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => !is_public(address.into()),
        Some(Host::Ipv6(address)) => !is_public(address.into()),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => true,
    }
}

/// Whether an address belongs to the public internet. One that only carries an IPv4 address is judged by that.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match carried(address) {
            Some(address) => is_public_v4(address),
            None => is_public_v6(address),
        },
    }
}

/// The IPv4 address that an IPv6 address stands for, on this machine or behind a translator.
fn carried(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let of = |high: u16, low: u16| Some(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)));
    match address.segments() {
        // Mapped, translated, compatible; `::` and `::1` are among the last, and 0.0.0.0/8 is not public.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0, 0, 0, 0, 0xffff, 0, high, low] | [0, 0, 0, 0, 0, 0, high, low] => {
            of(high, low)
        }
        // NAT64: what resolvers of networks without IPv4 make of a public IPv4 address.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => of(high, low),
        // 6to4.
        [0x2002, high, low, ..] => of(high, low),
        _ => None,
    }
}

/// 2000::/3 is all that was ever given out; of it Teredo leads anywhere, and 2001:db8::/32 nowhere.
fn is_public_v6(address: Ipv6Addr) -> bool {
    match address.segments() {
        [0x2001, 0 | 0xdb8, ..] => false,
        [first, ..] => (0x2000..0x4000).contains(&first),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    let is_shared = first == 100 && (64..128).contains(&second);
    let is_for_protocols = (first, second, third) == (192, 0, 0);
    let is_for_benchmarks = first == 198 && (18..20).contains(&second);
    // 240.0.0.0/4, the broadcast address included.
    let is_reserved = first >= 240;
    !(first == 0
        || is_shared
        || is_for_protocols
        || is_for_benchmarks
        || is_reserved
        || address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_multicast())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn policy(routes: &[&str]) -> Policy {
        let hosts =
            ["api.example.org", "127.0.0.1", "[::1]", "10.0.0.7:8443", "8.8.8.8", "localhost"].map(str::to_owned);
        let routes: Vec<Route> = routes.iter().map(|route| route.parse().unwrap()).collect();
        Policy::new(Some("https://api.example.org/v1".to_owned()), &hosts, &routes)
    }

    #[test]
    fn allows_the_listed_public_hosts_only() {
        let table = [
            ("/x", true),
            ("https://api.example.org/x", true),
            ("https://API.EXAMPLE.ORG:443/x", true),
            ("https://8.8.8.8/x", true),
            ("https://api.example.org:8443/x", false),
            ("https://api.example.org.evil.example/x", false),
            ("https://evil.example/?https://api.example.org", false),
            ("http://api.example.org/x", false),
            ("https://127.0.0.1/x", false),
            ("https://2130706433/x", false),
            ("https://[::1]/x", false),
            ("https://10.0.0.7:8443/x", false),
            ("https://localhost/x", false),
        ];
        for (path, allowed) in table {
            assert_eq!(policy(&[]).resolve(path, &[]).is_ok(), allowed, "{path}");
        }
    }

    #[test]
    fn a_host_may_have_a_port() {
        let hosts = ["API.example.org:8443", "images.example.org:443", "free.example.org"].map(str::to_owned);
        let route = "free.example.org=http://127.0.0.1:8099".parse().unwrap();
        let policy = Policy::new(Some("https://api.example.org:8443/v1".to_owned()), &hosts, &[route]);
        for (path, allowed) in [
            ("/x", true),
            ("https://api.example.org:8443/x", true),
            ("https://api.example.org/x", false),
            ("https://images.example.org/x", true),
            ("https://images.example.org:8443/x", false),
        ] {
            assert_eq!(policy.resolve(path, &[]).is_ok(), allowed, "{path}");
        }
        let names = ["api.example.org", "images.example.org"].map(str::to_owned);
        assert_eq!(policy.public_names(), HashSet::from(names));
    }

    #[test]
    fn a_route_keeps_path_and_query() {
        let policy = policy(&["api.example.org=http://127.0.0.1:8099/mirror/", "127.0.0.1=https://mirror.example"]);
        let target = |path: &str| policy.target(&policy.resolve(path, &[]).unwrap());
        let there = target("/a b?q=1 2");
        assert_eq!(there.url.as_str(), "http://127.0.0.1:8099/mirror/v1/a%20b?q=1+2");
        assert_eq!(there.door, Door { tls: false, proxy: false });
        assert_eq!(target("http://api.example.org/x").url.as_str(), "http://127.0.0.1:8099/mirror/x");
        assert_eq!(target("https://127.0.0.1/x").door, Door { tls: true, proxy: true });
        assert_eq!(target("https://8.8.8.8/x").url.as_str(), "https://8.8.8.8/x");
    }

    #[test]
    fn knows_private_addresses() {
        for address in [
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "0.0.0.0",
            "100.64.0.1",
            "192.0.0.8",
            "198.18.0.5",
            "198.19.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::ffff:127.0.0.1",
            "::ffff:198.18.0.5",
            "::ffff:0:127.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::10.1.2.3",
            "64:ff9b:1::808:808",
            "2002:7f00:1::",
            "2002:c0a8:101::1",
            "2001::1",
            "2001:db8::1",
            "fd00::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "::",
            "::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
        for address in [
            "1.1.1.1",
            "172.32.0.1",
            "100.128.0.1",
            "192.0.1.1",
            "198.17.0.1",
            "198.20.0.1",
            "2606:4700::1111",
            "64:ff9b::808:808",
            "::ffff:8.8.8.8",
            "2002:808:808::1",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }
}
