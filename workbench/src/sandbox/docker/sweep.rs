//! What an engine has of ours: every container and volume says by labels which process made it, so that what a killed
//! one left is found and removed by the next.
//!
//! An engine may serve several machines, and several processes on each. Only what belongs to a dead process of this
//! machine and user is swept: of others nobody here can tell whether they live.

use std::collections::HashMap;
use std::fs;
use std::time::{Duration, Instant};

use bollard::errors::Error as ApiError;
use bollard::models::ContainerSummary;
use bollard::query_parameters::{
    ListContainersOptionsBuilder, ListVolumesOptionsBuilder, RemoveContainerOptionsBuilder, RemoveVolumeOptionsBuilder,
};
use rustix::process::Pid;
use sha2::{Digest as _, Sha256};

use super::engine::Engine;

/// How long Podman may take to tidy up after a container.
const TIDYING_LIMIT: Duration = Duration::from_secs(3);
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// What a list is to hold: of each kind of property, values of which one is there.
type Filters<'a> = HashMap<&'a str, Vec<&'a str>>;

/// On all that is ours; its value is the version of the workbench.
pub const LABEL: &str = "workbench";
/// The run it is for.
pub const LABEL_RUN: &str = "workbench.run";
/// The machine and user whose process made it.
pub const LABEL_HOST: &str = "workbench.host";
/// That process.
pub const LABEL_PROCESS: &str = "workbench.process";

/// The labels of what this process makes for `run`.
pub fn labels(run: &str) -> HashMap<String, String> {
    let labels = [
        (LABEL, env!("CARGO_PKG_VERSION").to_owned()),
        (LABEL_RUN, run.to_owned()),
        (LABEL_HOST, host()),
        (LABEL_PROCESS, ProcessId::ours().to_string()),
    ];
    labels.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Something of ours that an engine has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Belonging {
    /// What it is.
    pub kind: Kind,
    /// The id of a container, the name of a volume.
    pub name: String,
    /// Who made it.
    pub owner: Owner,
    /// The number of that process, on its own machine.
    pub process: Option<u32>,
}

/// What an engine may have of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A container.
    Container,
    /// A volume.
    Volume,
}

/// Who made something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A process of this machine and user that lives.
    Living,
    /// One that does not.
    Dead,
    /// Another machine or user.
    Elsewhere,
}

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Swept {
    /// Containers.
    pub containers: usize,
    /// Volumes.
    pub volumes: usize,
}

/// The engine would not list or remove something.
#[derive(Debug, thiserror::Error)]
#[error("the engine does not {action} what is ours: {reason}")]
pub struct SweepError {
    action: &'static str,
    reason: String,
}

/// Everything of ours that the engine has.
///
/// # Errors
/// When it cannot be listed.
pub async fn belongings(engine: &Engine) -> Result<Vec<Belonging>, SweepError> {
    let failed = |error: ApiError| SweepError { action: "list", reason: error.to_string() };
    let ours: Filters<'_> = HashMap::from([("label", vec![LABEL_PROCESS])]);
    let here = host();
    let belonging = |kind, name, labels: HashMap<String, String>| {
        let process = labels.get(LABEL_PROCESS).and_then(|label| label.split(':').next()?.parse().ok());
        Belonging { kind, name, owner: owner(&here, &labels), process }
    };
    let containers = list_containers(engine, &ours).await.map_err(failed)?;
    let options = ListVolumesOptionsBuilder::new().filters(&ours).build();
    let volumes = engine.docker().list_volumes(Some(options)).await.map_err(failed)?.volumes.unwrap_or_default();
    let containers = containers.into_iter().map(|container| {
        belonging(Kind::Container, container.id.unwrap_or_default(), container.labels.unwrap_or_default())
    });
    let volumes = volumes.into_iter().map(|volume| belonging(Kind::Volume, volume.name, volume.labels));
    Ok(containers.chain(volumes).collect())
}

async fn list_containers(engine: &Engine, filters: &Filters<'_>) -> Result<Vec<ContainerSummary>, ApiError> {
    let options = ListContainersOptionsBuilder::new().all(true).filters(filters).build();
    let begun = Instant::now();
    loop {
        match engine.docker().list_containers(Some(options.clone())).await {
            // Of a container that has ended and that it has not tidied up after, Podman says `stopped`, which the API of
            // Docker does not know.
            Err(ApiError::JsonDataError { .. }) if engine.is_podman() && begun.elapsed() < TIDYING_LIMIT => {
                tokio::time::sleep(BETWEEN_LOOKS).await;
            }
            listed => return listed,
        }
    }
}

/// Removes what dead processes of this machine and user left.
///
/// # Errors
/// When the engine refuses.
pub async fn sweep(engine: &Engine) -> Result<Swept, SweepError> {
    clean(engine, false).await
}

/// As [`sweep`]; with `all` everything of ours, whoever made it and whether it is in use or not. One that the engine will
/// not remove keeps none of the others.
///
/// # Errors
/// The first of what the engine refused, when all was tried.
pub async fn clean(engine: &Engine, all: bool) -> Result<Swept, SweepError> {
    let (mut swept, mut refused) = (Swept::default(), None);
    // Containers come first: a volume in use cannot be removed.
    for belonging in belongings(engine).await?.into_iter().filter(|belonging| all || belonging.owner == Owner::Dead) {
        let Belonging { kind, name, .. } = &belonging;
        let removed = match kind {
            Kind::Container => {
                let options = RemoveContainerOptionsBuilder::new().force(true).v(true).build();
                engine.docker().remove_container(name, Some(options)).await
            }
            Kind::Volume => {
                let options = RemoveVolumeOptionsBuilder::new().force(true).build();
                engine.docker().remove_volume(name, Some(options)).await
            }
        };
        match (removed, kind) {
            (Ok(()), Kind::Container) => swept.containers += 1,
            (Ok(()), Kind::Volume) => swept.volumes += 1,
            // Somebody else removes it, or has done so.
            (Err(ApiError::DockerResponseServerError { status_code: 404 | 409, .. }), _) => {}
            (Err(error), _) => {
                refused.get_or_insert(SweepError { action: "remove", reason: error.to_string() });
            }
        }
    }
    refused.map_or(Ok(swept), Err)
}

fn owner(here: &str, labels: &HashMap<String, String>) -> Owner {
    if labels.get(LABEL_HOST).is_none_or(|host| host != here) {
        return Owner::Elsewhere;
    }
    match labels.get(LABEL_PROCESS).and_then(|label| ProcessId::read(label)) {
        Some(process) if process.lives() => Owner::Living,
        Some(_) => Owner::Dead,
        // Another version of the workbench may know what this means.
        None => Owner::Elsewhere,
    }
}

/// Names this machine and user, the same from start to start. Process ids mean nothing outside of their namespace, so a
/// container that the workbench runs in is a machine of its own.
fn host() -> String {
    let machine = ["/etc/machine-id", "/var/lib/dbus/machine-id"].iter().find_map(|file| fs::read(file).ok());
    let machine = machine.unwrap_or_else(|| rustix::system::uname().nodename().to_bytes().to_vec());
    let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let mut digest = Sha256::new();
    digest.update(machine);
    digest.update(namespace.as_os_str().as_encoded_bytes());
    digest.update(rustix::process::getuid().as_raw().to_le_bytes());
    digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// One process, not to be taken for another that gets its number later: when it was started, and since which start of
/// the system that is counted. Where the system does not tell, both are empty, and a number in use is a process alive.
#[derive(Debug, PartialEq, Eq)]
struct ProcessId {
    number: Pid,
    started: String,
    boot: String,
}

impl ProcessId {
    fn ours() -> Self {
        let number = rustix::process::getpid();
        Self { number, started: started(number).unwrap_or_default(), boot: boot() }
    }

    fn read(label: &str) -> Option<Self> {
        let mut parts = label.splitn(3, ':');
        // Of a negative number no `Pid` is made, and labels may be anybody's.
        let number = Pid::from_raw(parts.next()?.parse().ok().filter(|number: &i32| *number > 0)?)?;
        Some(Self { number, started: parts.next()?.to_owned(), boot: parts.next()?.to_owned() })
    }

    fn lives(&self) -> bool {
        if self.started.is_empty() {
            return !matches!(rustix::process::test_kill_process(self.number), Err(rustix::io::Errno::SRCH));
        }
        self.boot == boot() && started(self.number).is_some_and(|started| started == self.started)
    }
}

impl std::fmt::Display for ProcessId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}:{}:{}", self.number.as_raw_nonzero(), self.started, self.boot)
    }
}

/// When a process was started, in ticks of the system's clock. `None`: it is dead, or the system does not tell.
fn started(number: Pid) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{}/stat", number.as_raw_nonzero())).ok()?;
    // The name before it may hold anything.
    let (_, fields) = text.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    let state = fields.next()?;
    // Its parent has not looked yet.
    if matches!(state, "Z" | "X") {
        return None;
    }
    fields.nth(18).map(str::to_owned)
}

/// Names this start of the system.
fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_told_from_a_later_one_of_its_number() {
        let ours = ProcessId::ours();
        assert_eq!(ProcessId::read(&ours.to_string()), Some(ProcessId::ours()));
        assert!(ours.lives());
        for broken in ["", "1", "1:2", "x:2:3", "-1:2:3", "0:2:3"] {
            assert_eq!(ProcessId::read(broken), None, "{broken}");
        }
        let earlier = ProcessId { started: "1".to_owned(), ..ProcessId::ours() };
        let before_the_start_of_the_system = ProcessId { boot: "another".to_owned(), ..ProcessId::ours() };
        // One that has ended, and that its parent has not waited for.
        let mut child = std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let number = Pid::from_child(&child);
        let ended = ProcessId { number, started: started(number).unwrap_or_default(), boot: boot() };
        assert!(ended.lives());
        drop(child.stdin.take());
        while started(number).is_some() {
            std::thread::yield_now();
        }
        if cfg!(target_os = "linux") {
            assert!(![earlier, before_the_start_of_the_system].iter().any(ProcessId::lives));
            assert!(!ended.lives(), "it has ended");
        }
        child.wait().unwrap();
        assert!(!ended.lives(), "it is gone");
    }

    #[test]
    fn nobody_elses_is_ever_ours() {
        let here = host();
        let dead = ProcessId { started: "1".to_owned(), ..ProcessId::ours() }.to_string();
        let owner = |changes: &[(&str, &str)]| {
            let mut labels = labels("run");
            labels.extend(changes.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
            super::owner(&here, &labels)
        };
        assert_eq!(owner(&[]), Owner::Living);
        assert_eq!(owner(&[(LABEL_HOST, "another")]), Owner::Elsewhere);
        assert_eq!(owner(&[(LABEL_PROCESS, "of another version")]), Owner::Elsewhere);
        assert_eq!(super::owner(&here, &HashMap::new()), Owner::Elsewhere);
        if cfg!(target_os = "linux") {
            assert_eq!(owner(&[(LABEL_PROCESS, &dead)]), Owner::Dead);
            assert_eq!(owner(&[(LABEL_PROCESS, &dead), (LABEL_HOST, "another")]), Owner::Elsewhere);
        }
    }
}
