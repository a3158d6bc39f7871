//! The container engine: found, reached, its version agreed on.

use std::error::Error as StdError;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bollard::errors::Error as ApiError;
use bollard::{API_DEFAULT_VERSION, Docker};

use super::places::{Address, Origin, Place, Surroundings};
use crate::web::use_ring;

/// How long an engine may take to say its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long an engine may take to begin the answer to any request.
const REQUEST_SECONDS: u64 = 120;

/// The oldest version of the API that is spoken: that of Docker 20.10 and of Podman 4.
const OLDEST_API: (u32, u32) = (1, 41);

/// An engine that answers.
#[derive(Clone, Debug)]
pub struct Engine {
    docker: Docker,
    place: Place,
    is_podman: bool,
    version: String,
    api: String,
}

/// Why there is no engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Nobody names one, and no known socket is there.
    #[error("no container engine was found: there is no socket at {}", .tried.join(", "))]
    None {
        /// The sockets that are not there.
        tried: Vec<String>,
    },
    /// Nothing listens at the place.
    #[error("no container engine answers at {place}: {reason}")]
    Absent {
        /// Where.
        place: Place,
        /// What the system says.
        reason: String,
    },
    /// The socket belongs to others.
    #[error("this user may not use the container engine at {place}")]
    NotAllowed {
        /// Where.
        place: Place,
    },
    /// It accepts, and says nothing.
    #[error("the container engine at {place} did not answer in {} s", PATIENCE.as_secs())]
    Silent {
        /// Where.
        place: Place,
    },
    /// It speaks something else.
    #[error("what answers at {place} is no container engine that can be spoken to: {reason}")]
    Strange {
        /// Where.
        place: Place,
        /// What is wrong with the answer.
        reason: String,
    },
    /// It is from before Docker 20.10.
    #[error("the container engine at {place} is too old: version {version} (API {api})")]
    TooOld {
        /// Where.
        place: Place,
        /// Its version.
        version: String,
        /// Its newest API.
        api: String,
    },
    /// The place is one for ssh.
    #[error("the container engine is at `{address}`{origin}, and ssh is not spoken here")]
    Ssh {
        /// The address.
        address: String,
        /// Who names it.
        origin: Origin,
    },
    /// What says where it is cannot be followed; the text says why.
    #[error("{0}")]
    Settings(String),
}

impl EngineError {
    /// One way on.
    pub fn hint(&self) -> String {
        match self {
            Self::None { .. } => {
                "start Docker or the service of Podman (`systemctl --user start podman.socket`), or name the engine in \
                 `DOCKER_HOST`"
            }
            Self::Absent { place, .. } => match place.origin {
                Origin::Known => "start the engine, or name another in `DOCKER_HOST`",
                Origin::Variable(_) => "start it, or correct the variable",
                Origin::Context(_) => "start it, or choose another with `docker context use`",
            },
            Self::NotAllowed { .. } => {
                "become a member of the group docker (`sudo usermod --append --groups docker $USER`, then log in \
                 again), or use an engine of your own, such as Docker without root or Podman"
            }
            Self::Silent { .. } => "look whether it is well (`docker version`), and start it again",
            Self::Strange { .. } => "look whether the address is right, and whether the engine wants TLS",
            Self::TooOld { .. } => "Docker 20.10 or newer, or Podman 4 or newer, is needed",
            Self::Ssh { address, .. } => {
                return format!(
                    "forward its socket, and name that: `ssh -NL /tmp/engine.sock:/var/run/docker.sock {}`, then \
                     `DOCKER_HOST=unix:///tmp/engine.sock`",
                    address.trim_start_matches("ssh://").trim_end_matches('/')
                );
            }
            Self::Settings(_) => "correct it, or name the engine in `DOCKER_HOST`",
        }
        .to_owned()
    }
}

impl Engine {
    /// The engine that the user's surroundings name, or the first of the known ones that can be used.
    ///
    /// # Errors
    /// When there is none; of several, about the first.
    pub async fn connect() -> Result<Self, EngineError> {
        Self::first_of(Surroundings::ours().places()?).await
    }

    async fn first_of(places: Vec<Place>) -> Result<Self, EngineError> {
        let mut first = None;
        let mut tried = Vec::new();
        for place in places {
            if let (Address::Socket(path), Origin::Known) = (&place.address, &place.origin)
                && path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
            {
                tried.push(path.display().to_string());
                continue;
            }
            match Self::at(place).await {
                Ok(engine) => return Ok(engine),
                Err(error) => first = first.or(Some(error)),
            }
        }
        Err(first.unwrap_or(EngineError::None { tried }))
    }

    /// The engine at a place.
    async fn at(place: Place) -> Result<Self, EngineError> {
        let docker = client(&place)?;
        let agreed = async {
            let docker = docker.negotiate_version().await?;
            let version = docker.version().await?;
            Ok((docker, version))
        };
        let (docker, about) = match tokio::time::timeout(PATIENCE, agreed).await {
            Ok(Ok(agreed)) => agreed,
            Ok(Err(error)) => return Err(failure(place, &error)),
            Err(_) => return Err(EngineError::Silent { place }),
        };
        let version = about.version.unwrap_or_default();
        let api = about.api_version.unwrap_or_default();
        let numbers = api.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        if numbers.is_none_or(|numbers: (u32, u32)| numbers < OLDEST_API) {
            return Err(EngineError::TooOld { place, version, api });
        }
        let components = about.components.unwrap_or_default();
        let is_podman = components.iter().any(|component| component.name.contains("Podman"));
        Ok(Self { docker, place, is_podman, version, api })
    }

    /// Its API.
    pub fn docker(&self) -> &Docker {
        &self.docker
    }

    /// Where it is, as the docker command line writes it.
    pub fn address(&self) -> String {
        self.place.address.to_string()
    }

    /// Whose it is.
    pub fn name(&self) -> &'static str {
        if self.is_podman { "Podman" } else { "Docker" }
    }

    /// Whether it is Podman's, which speaks the API of Docker with an accent.
    pub fn is_podman(&self) -> bool {
        self.is_podman
    }

    /// Its version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The newest API it speaks.
    pub fn api(&self) -> &str {
        &self.api
    }

    /// The names of the runtimes it offers, such as `runc` or `runsc`; none when it does not say.
    pub async fn runtimes(&self) -> Vec<String> {
        let about = self.docker.info().await.unwrap_or_default();
        let mut names: Vec<String> = about.runtimes.unwrap_or_default().into_keys().collect();
        names.sort();
        names
    }

    /// Whether it is reached over TCP, perhaps on another machine: it may see none of this machine's files.
    pub fn is_remote(&self) -> bool {
        !matches!(self.place.address, Address::Socket(_))
    }
}

fn client(place: &Place) -> Result<Docker, EngineError> {
    let made = match &place.address {
        Address::Socket(path) => {
            let path = path.to_str().ok_or_else(|| EngineError::Settings(format!("{place} is not UTF-8")))?;
            Docker::connect_with_unix(path, REQUEST_SECONDS, API_DEFAULT_VERSION)
        }
        Address::Tcp(authority) => Docker::connect_with_http(authority, REQUEST_SECONDS, API_DEFAULT_VERSION),
        Address::Tls(authority, folder) => {
            let [ca, cert, key] = certificates(place, folder)?;
            use_ring();
            Docker::connect_with_ssl(authority, &key, &cert, &ca, REQUEST_SECONDS, API_DEFAULT_VERSION)
        }
    };
    made.map_err(|error| failure(place.clone(), &error))
}

/// The files that TLS needs. Without those of the client an engine ends the connection with no word about why.
fn certificates(place: &Place, folder: &Path) -> Result<[PathBuf; 3], EngineError> {
    let files = ["ca.pem", "cert.pem", "key.pem"].map(|name| folder.join(name));
    match files.iter().find(|file| !file.is_file()) {
        Some(missing) => Err(EngineError::Settings(format!("{place} needs {}, which is not there", missing.display()))),
        None => Ok(files),
    }
}

/// What an error of the first requests means.
fn failure(place: Place, error: &ApiError) -> EngineError {
    use io::ErrorKind::{ConnectionRefused, HostUnreachable, NetworkUnreachable, NotFound, PermissionDenied, TimedOut};
    if matches!(error, ApiError::SocketNotFoundError(_)) {
        return EngineError::Absent { place, reason: "there is no such socket".to_owned() };
    }
    let causes = || std::iter::successors(Some(error as &(dyn StdError + 'static)), |error| (*error).source());
    let reason = causes().last().map(ToString::to_string).unwrap_or_default();
    let kind = causes().find_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind);
    // A name that is not known has no kind of its own, nor has a certificate that is refused.
    let is_connecting = matches!(error, ApiError::HyperLegacyError { err } if err.is_connect());
    let is_tls = matches!(place.address, Address::Tls(..));
    match kind {
        Some(PermissionDenied) => EngineError::NotAllowed { place },
        Some(ConnectionRefused | NotFound | HostUnreachable | NetworkUnreachable | TimedOut) => {
            EngineError::Absent { place, reason }
        }
        _ if is_connecting && !is_tls => EngineError::Absent { place, reason },
        _ => EngineError::Strange { place, reason },
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixListener;

    use super::*;

    fn known(path: &Path) -> Place {
        Place { address: Address::Socket(path.to_owned()), origin: Origin::Known }
    }

    fn connect(places: Vec<Place>) -> Result<Engine, EngineError> {
        tokio::runtime::Runtime::new().unwrap().block_on(Engine::first_of(places))
    }

    #[test]
    fn of_known_sockets_the_first_that_can_be_used_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        drop(UnixListener::bind(path("stopped")).unwrap());
        let listener = UnixListener::bind(path("works")).unwrap();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                _ = stream.read(&mut [0; 4096]);
                let body =
                    r#"{"Version":"5.4.1","ApiVersion":"1.41","Components":[{"Name":"Podman Engine","Version":""}]}"#;
                let length = body.len();
                _ = write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
            }
        });
        let engine = connect(["missing", "stopped", "works"].map(|name| known(&path(name))).into()).unwrap();
        assert_eq!((engine.name(), engine.version(), engine.api()), ("Podman", "5.4.1", "1.41"));
        assert_eq!(engine.address(), format!("unix://{}", path("works").display()));
        assert!(!engine.is_remote());

        let error = connect(["missing", "stopped"].map(|name| known(&path(name))).into()).unwrap_err();
        let words = format!("no container engine answers at unix://{}: Connection refused", path("stopped").display());
        assert!(error.to_string().starts_with(&words), "{error}");
        let error = connect(["missing", "gone"].map(|name| known(&path(name))).into()).unwrap_err();
        let [missing, gone] = ["missing", "gone"].map(|name| path(name).display().to_string());
        let words = format!("no container engine was found: there is no socket at {missing}, {gone}");
        assert_eq!(error.to_string(), words);
        assert!(error.hint().contains("`DOCKER_HOST`"), "{}", error.hint());
    }
}
