//! Where an engine is looked for: where the environment or a context of the docker command line says, else at the sockets
//! that engines are known to have.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::engine::EngineError;
use crate::env;
use crate::files::{LONGEST_TEXT, read_text};

/// Where an engine may be, and who says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where.
    pub address: Address,
    /// Who says so.
    pub origin: Origin,
}

/// How an engine is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A unix socket.
    Socket(PathBuf),
    /// Plain TCP: host and port.
    Tcp(String),
    /// TCP with TLS, and the folder with `ca.pem`, `cert.pem` and `key.pem`.
    Tls(String, PathBuf),
}

/// Who says that an engine is at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A variable of the environment.
    Variable(&'static str),
    /// A context of the docker command line.
    Context(String),
    /// Nobody: engines are known to be there.
    Known,
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket(path) => write!(formatter, "unix://{}", path.display()),
            Self::Tcp(authority) => write!(formatter, "tcp://{authority}"),
            Self::Tls(authority, _) => write!(formatter, "tcp://{authority} with TLS"),
        }
    }
}

impl fmt::Display for Origin {
    /// Stands behind an address.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => write!(formatter, " (of `{name}`)"),
            Self::Context(name) => write!(formatter, " (of the docker context `{name}`)"),
            Self::Known => Ok(()),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", self.address, self.origin)
    }
}

/// What of the user's surroundings decides where an engine is.
pub struct Surroundings<'a> {
    /// Reads a variable of the environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The user's home.
    pub home: Option<PathBuf>,
}

impl Surroundings<'_> {
    /// Those of this process.
    pub fn ours() -> Self {
        Self { variable: &|name| std::env::var(name).ok(), home: std::env::home_dir() }
    }

    /// The places to try, in order. A place that somebody names is the only one: another engine is not what is meant.
    ///
    /// # Errors
    /// When what names it cannot be followed.
    pub fn places(&self) -> Result<Vec<Place>, EngineError> {
        if let Some(host) = self.set(env::DOCKER_HOST) {
            let origin = Origin::Variable(env::DOCKER_HOST);
            let tls = [env::DOCKER_TLS_VERIFY, env::DOCKER_TLS].iter().any(|name| self.set(name).is_some());
            let folder = self.set(env::DOCKER_CERT_PATH).map(PathBuf::from).or_else(|| self.settings());
            return Ok(vec![Place { address: address(&host, &origin, folder.filter(|_| tls))?, origin }]);
        }
        if let Some(context) = self.context()? {
            return Ok(vec![self.place_of(&context)?]);
        }
        let known = |path| Place { address: Address::Socket(path), origin: Origin::Known };
        Ok(self.known_sockets().into_iter().map(known).collect())
    }

    /// An empty variable is none, as for the docker command line.
    fn set(&self, name: &str) -> Option<String> {
        (self.variable)(name).filter(|value| !value.is_empty())
    }

    /// The folder of the docker command line's settings.
    fn settings(&self) -> Option<PathBuf> {
        self.set(env::DOCKER_CONFIG).map(PathBuf::from).or_else(|| Some(self.home.as_ref()?.join(".docker")))
    }

    /// The context in use, unless it is the default one, which names nothing.
    fn context(&self) -> Result<Option<String>, EngineError> {
        #[derive(Deserialize)]
        struct Settings {
            #[serde(rename = "currentContext", default)]
            current_context: Option<String>,
        }
        let named = match (self.set(env::DOCKER_CONTEXT), self.settings().map(|folder| folder.join("config.json"))) {
            (Some(context), _) => Some(context),
            (None, Some(file)) if file.is_file() => read_json::<Settings>(&file)?.current_context,
            _ => None,
        };
        Ok(named.filter(|name| !name.is_empty() && name != "default"))
    }

    /// Where a context says that the engine is. Its folder is named by the digest of its name.
    fn place_of(&self, context: &str) -> Result<Place, EngineError> {
        #[derive(Deserialize)]
        struct Meta {
            #[serde(rename = "Endpoints")]
            endpoints: Endpoints,
        }
        #[derive(Deserialize)]
        struct Endpoints {
            docker: Endpoint,
        }
        #[derive(Deserialize)]
        struct Endpoint {
            #[serde(rename = "Host", default)]
            host: String,
        }
        let contexts = self.settings().unwrap_or_default().join("contexts");
        let digest: String = Sha256::digest(context).iter().map(|byte| format!("{byte:02x}")).collect();
        let meta = contexts.join("meta").join(&digest).join("meta.json");
        if !meta.is_file() {
            return Err(EngineError::Settings(format!(
                "the docker context `{context}` is in use, but there is none of that name in {}",
                contexts.display()
            )));
        }
        let host = read_json::<Meta>(&meta)?.endpoints.docker.host;
        let certificates = contexts.join("tls").join(digest).join("docker");
        let origin = Origin::Context(context.to_owned());
        Ok(Place { address: address(&host, &origin, Some(certificates).filter(|folder| folder.is_dir()))?, origin })
    }

    /// Those of Docker, Docker Desktop, Colima, Docker without root, Podman without and with root.
    fn known_sockets(&self) -> Vec<PathBuf> {
        let home = |path: &str| self.home.as_ref().map(|home| home.join(path));
        let runtime = |path: &str| self.set(env::RUNTIME_FOLDER).map(|folder| Path::new(&folder).join(path));
        let sockets = [
            Some(PathBuf::from("/var/run/docker.sock")),
            home(".docker/run/docker.sock"),
            home(".colima/default/docker.sock"),
            runtime("docker.sock"),
            runtime("podman/podman.sock"),
            Some(PathBuf::from("/run/podman/podman.sock")),
        ];
        sockets.into_iter().flatten().collect()
    }
}

/// Reads an address as the docker command line writes it.
fn address(text: &str, origin: &Origin, certificates: Option<PathBuf>) -> Result<Address, EngineError> {
    let refused = |problem: &str| EngineError::Settings(format!("`{text}`{origin} {problem}"));
    let Some((scheme, rest)) = text.split_once("://") else {
        return Err(refused("has no scheme; write unix:///PATH or tcp://HOST:PORT"));
    };
    match scheme {
        "unix" if rest.starts_with('/') => Ok(Address::Socket(rest.into())),
        "unix" => Err(refused("is no absolute path; write unix:///PATH")),
        "tcp" | "http" | "https" => {
            let authority = rest.trim_end_matches('/');
            if authority.is_empty() || authority.contains(['/', '@', '?', '#']) {
                return Err(refused("is no host and port; write tcp://HOST:PORT"));
            }
            let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
            let with_port = |port| if has_port { authority.to_owned() } else { format!("{authority}:{port}") };
            match certificates {
                Some(folder) => Ok(Address::Tls(with_port(2376), folder)),
                None if scheme == "https" => Err(refused(&format!(
                    "wants TLS; set `{}` and, unless they are with the settings of docker, the folder of the \
                     certificates, `{}`",
                    env::DOCKER_TLS_VERIFY,
                    env::DOCKER_CERT_PATH
                ))),
                None => Ok(Address::Tcp(with_port(2375))),
            }
        }
        "ssh" => Err(EngineError::Ssh { address: text.to_owned(), origin: origin.clone() }),
        _ => Err(refused("has a scheme that is not spoken here; write unix:///PATH or tcp://HOST:PORT")),
    }
}

fn read_json<T: for<'de> Deserialize<'de>>(file: &Path) -> Result<T, EngineError> {
    let problem = |problem: String| EngineError::Settings(format!("{} cannot be read: {problem}", file.display()));
    let text = read_text(file, LONGEST_TEXT).map_err(|error| problem(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| problem(error.to_string()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn places(variables: &[(&str, &str)]) -> Result<Vec<Place>, EngineError> {
        let find = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        Surroundings { variable: &find, home: Some("/home/me".into()) }.places()
    }

    #[test]
    fn what_nobody_names_is_looked_for_where_engines_are_known_to_be() {
        let found = places(&[("XDG_RUNTIME_DIR", "/run/user/7"), ("DOCKER_HOST", "")]).unwrap();
        let expected = [
            "unix:///var/run/docker.sock",
            "unix:///home/me/.docker/run/docker.sock",
            "unix:///home/me/.colima/default/docker.sock",
            "unix:///run/user/7/docker.sock",
            "unix:///run/user/7/podman/podman.sock",
            "unix:///run/podman/podman.sock",
        ];
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
        assert_eq!(places(&[]).unwrap().len(), 4);
    }

    #[test]
    fn an_address_is_read_as_the_docker_command_line_reads_it() {
        let tls = |folder: &str| Address::Tls("far.example:2376".to_owned(), folder.into());
        let verify = ("DOCKER_TLS_VERIFY", "1");
        let table = [
            ("unix:///a/b", &[][..], Address::Socket("/a/b".into())),
            ("tcp://far.example", &[], Address::Tcp("far.example:2375".to_owned())),
            ("tcp://[::1]:7/", &[], Address::Tcp("[::1]:7".to_owned())),
            ("tcp://[::1]", &[], Address::Tcp("[::1]:2375".to_owned())),
            ("tcp://far.example", &[("DOCKER_TLS_VERIFY", "")], Address::Tcp("far.example:2375".to_owned())),
            ("tcp://far.example", &[verify], tls("/home/me/.docker")),
            ("tcp://far.example", &[("DOCKER_TLS", "1")], tls("/home/me/.docker")),
            ("https://far.example", &[verify, ("DOCKER_CONFIG", "/settings")], tls("/settings")),
            ("tcp://far.example:2376", &[verify, ("DOCKER_CERT_PATH", "/keys")], tls("/keys")),
        ];
        for (host, variables, address) in table {
            let found = places(&[variables, &[("DOCKER_HOST", host)]].concat()).unwrap();
            assert_eq!(found, [Place { address, origin: Origin::Variable("DOCKER_HOST") }], "{host} {variables:?}");
        }
    }
}
