//! One container: made, attached to and started, so that nothing it says is lost; removed when it is dropped.

use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bollard::Docker;
use bollard::container::{AttachContainerResults, LogOutput};
use bollard::errors::Error as EngineAnswer;
use bollard::models::{
    ContainerCreateBody, ContainerState, HostConfig, HostConfigLogConfig, Mount, MountType, MountVolumeOptions,
    MountVolumeOptionsDriverConfig, ResourcesUlimits,
};
use bollard::query_parameters::{
    AttachContainerOptions, CreateContainerOptions, InspectContainerOptions, RemoveContainerOptions,
    RemoveVolumeOptions,
};
use bytes::Bytes;
use futures::StreamExt;
use tokio::io::{AsyncBufRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio_util::io::StreamReader;
use tokio_util::task::TaskTracker;

use super::{supervisor, sweep};
use crate::sandbox::conversation::Task;

/// What a container may take beside memory; `docs/sandbox.md` tells the reasons.
const PROCESSES: i64 = 128;
const NANO_CPUS: i64 = 1_000_000_000;
const TEMPORARY: &str = "rw,noexec,nosuid,nodev,size=64m,mode=1777";
const OUT: &str = "size=64m,nr_inodes=1024,mode=0700,uid=1000,gid=1000,nosuid,nodev,noexec";

/// Who scripts are: nobody that the image knows.
const USER: &str = "1000:1000";

/// Where a script may leave files.
pub(super) const OUT_FOLDER: &str = "/data/out";

/// After this a container ends by itself, whatever else failed: no run lasts as long.
const LIFETIME: &str = "6h";

/// The one variable that a container gets beside those of its image.
const VARIABLE: &str = "WORKBENCH_SANDBOX=docker";

/// Pieces of a stream that wait to be read here; the rest waits in the engine.
const PIECES: usize = 16;

/// The least memory of a container: what interpreter and supervisor need, and something to work with.
const LEAST_MEMORY: u64 = 96 * 1024 * 1024;

/// What a container's memory holds beside a script's data.
const OWN_MEMORY: u64 = 32 * 1024 * 1024;

/// Bytes of memory that the container of a script has which may take `script` bytes.
pub(super) fn memory(script: u64) -> u64 {
    script.max(LEAST_MEMORY)
}

/// What of it the script may take before it gets a `MemoryError`; beyond, the engine ends a process.
pub(super) fn data_memory(container: u64) -> u64 {
    container.saturating_sub(OWN_MEMORY)
}

/// How often a question is asked whose connection breaks, and the pause before each time but the first.
const ASKED: usize = 5;
const ASKED_PAUSE: Duration = Duration::from_millis(20);

/// What all containers of a sandbox have in common.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// Id of the image.
    pub(super) image: String,
    /// What marks a container and its volume as ours.
    pub(super) labels: HashMap<String, String>,
    /// Bytes of memory, without swap.
    pub(super) memory: u64,
    /// `none`, or a network of the engine.
    pub(super) network: &'static str,
    /// The engine's runtime, such as `runsc`; `None`: its default.
    pub(super) runtime: Option<String>,
}

/// A stream of a container, to be read.
pub(super) type Reader = Pin<Box<dyn AsyncBufRead + Send>>;

/// A started container and its three streams.
pub(super) struct Started {
    pub(super) container: Container,
    pub(super) input: Pin<Box<dyn AsyncWrite + Send>>,
    pub(super) output: Reader,
    pub(super) errors: Reader,
}

/// A container, which is removed with its volume when this is dropped.
pub(super) struct Container {
    docker: Docker,
    id: String,
    /// The name of its volume.
    volume: String,
    /// Where removals are waited for.
    removals: TaskTracker,
    /// Brings the streams; ends with the container.
    _streams: Option<Task<()>>,
}

impl Container {
    /// Makes one and starts it.
    pub(super) async fn start(
        docker: &Docker,
        settings: &Settings,
        removals: &TaskTracker,
    ) -> Result<Started, EngineAnswer> {
        // Goes on when nobody waits for it any more: of a container whose making is not seen to its end nobody knows the
        // id, so nobody would remove it.
        let (engine, settings, tracker) = (docker.clone(), settings.clone(), removals.clone());
        let making = removals.spawn(async move { Self::make(engine, &settings, tracker).await });
        let mut container = making.await.map_err(|error| EngineAnswer::IOError { err: io::Error::other(error) })??;
        let attach = AttachContainerOptions {
            stream: true,
            stdin: true,
            stdout: true,
            stderr: true,
            ..AttachContainerOptions::default()
        };
        let AttachContainerResults { output, input } = docker.attach_container(&container.id, Some(attach)).await?;
        let (said, said_reader) = stream();
        let (told, told_reader) = stream();
        container._streams = Some(Task::spawn(async move {
            let mut output = output;
            while let Some(piece) = output.next().await {
                let (stream, piece) = match piece {
                    Ok(LogOutput::StdErr { message }) => (&told, Ok(message)),
                    Ok(other) => (&said, Ok(other.into_bytes())),
                    Err(error) => (&said, Err(io::Error::new(io::ErrorKind::ConnectionReset, error.to_string()))),
                };
                // Who has met garbage reads no more, and says so; that the other stream is cut off must not be heard first.
                if stream.send(piece).await.is_err() && told.is_closed() && said.is_closed() {
                    return;
                }
            }
        }));
        docker.start_container(&container.id, None).await?;
        Ok(Started { container, input, output: said_reader, errors: told_reader })
    }

    async fn make(docker: Docker, settings: &Settings, removals: TaskTracker) -> Result<Self, EngineAnswer> {
        // A question may be asked again, where making twice would leave one: it finds a connection that holds.
        asked_again(|| docker.ping()).await?;
        let volume = volume_name(settings);
        let options = None::<CreateContainerOptions>;
        match docker.create_container(options, body(settings, &volume)).await {
            Ok(made) => Ok(Self { docker, id: made.id, volume, removals, _streams: None }),
            Err(error) => {
                // It may have been made before the engine refused the rest.
                _ = docker.remove_volume(&volume, None::<RemoveVolumeOptions>).await;
                Err(error)
            }
        }
    }

    /// Its id.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// The engine it runs on.
    pub(super) fn docker(&self) -> &Docker {
        &self.docker
    }

    /// Stops all that runs in it where it is. It can still be killed.
    pub(super) async fn pause(&self) {
        // An engine that cannot, or a container that has ended, leaves it at that.
        _ = self.docker.pause_container(&self.id).await;
    }

    /// Ends all that runs in it. It is still there to be asked.
    pub(super) async fn kill(&self) {
        // One that has ended, or is gone, needs none.
        _ = asked_again(|| self.docker.kill_container(&self.id, None)).await;
    }

    /// What the engine knows of it.
    pub(super) async fn state(&self) -> Result<ContainerState, EngineAnswer> {
        let answer = asked_again(|| self.docker.inspect_container(&self.id, None::<InspectContainerOptions>)).await?;
        Ok(answer.state.unwrap_or_default())
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        let (docker, id) = (self.docker.clone(), std::mem::take(&mut self.id));
        let volume = std::mem::take(&mut self.volume);
        // Without a runtime the program is over; the next one's sweep finds the container.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            self.removals.spawn_on(async move { remove(&docker, &id, &volume).await }, &runtime);
        }
    }
}

/// Kills and removes; who removed it before, or what went wrong, is for the sweep.
async fn remove(docker: &Docker, id: &str, volume: &str) {
    let options = RemoveContainerOptions { force: true, v: true, ..RemoveContainerOptions::default() };
    _ = asked_again(|| docker.remove_container(id, Some(options.clone()))).await;
    // It has a name so that it is found here, too, when somebody else removed the container.
    _ = docker.remove_volume(volume, None::<RemoveVolumeOptions>).await;
}

/// Asks until the engine answers, be it with a refusal: of the connections that are kept, several may have broken since.
/// Only for what may be done twice.
async fn asked_again<T, Answer>(ask: impl Fn() -> Answer) -> Result<T, EngineAnswer>
where
    Answer: Future<Output = Result<T, EngineAnswer>>,
{
    for _ in 1..ASKED {
        match ask().await {
            Err(error) if !matches!(error, EngineAnswer::DockerResponseServerError { .. }) => {
                tokio::time::sleep(ASKED_PAUSE).await;
            }
            answer => return answer,
        }
    }
    ask().await
}

/// A name that no volume has.
fn volume_name(settings: &Settings) -> String {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let process = settings.labels.get(sweep::LABEL_PROCESS).map_or("", String::as_str).replace(':', "-");
    let host = settings.labels.get(sweep::LABEL_HOST).map_or("", String::as_str);
    format!("workbench-{host}-{process}-{}", MADE.fetch_add(1, Ordering::Relaxed))
}

/// The writing end and the reading end of a stream.
fn stream() -> (mpsc::Sender<io::Result<Bytes>>, Reader) {
    let (sender, mut pieces) = mpsc::channel(PIECES);
    let pieces = futures::stream::poll_fn(move |context| pieces.poll_recv(context));
    (sender, Box::pin(StreamReader::new(pieces)))
}

fn body(settings: &Settings, volume: &str) -> ContainerCreateBody {
    let words = |words: &[&str]| Some(words.iter().map(|word| (*word).to_owned()).collect());
    let command = ["timeout", "--signal=KILL", LIFETIME, "python3", "-I", "-u", "-X", "no_debug_ranges", "-c"];
    let mut command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
    let modules = [supervisor::SUPERVISOR, supervisor::INTERPRETER, supervisor::TOOLS, supervisor::ENDING];
    command.extend(modules.map(str::to_owned));
    ContainerCreateBody {
        image: Some(settings.image.clone()),
        entrypoint: Some(Vec::new()),
        cmd: Some(command),
        user: Some(USER.to_owned()),
        working_dir: Some("/data".to_owned()),
        env: words(&[VARIABLE]),
        labels: Some(settings.labels.clone()),
        attach_stdin: Some(true),
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        open_stdin: Some(true),
        stdin_once: Some(true),
        tty: Some(false),
        host_config: Some(HostConfig {
            network_mode: Some(settings.network.to_owned()),
            readonly_rootfs: Some(true),
            cap_drop: words(&["ALL"]),
            security_opt: words(&["no-new-privileges:true"]),
            tmpfs: Some(HashMap::from([("/tmp".to_owned(), TEMPORARY.to_owned())])),
            mounts: Some(vec![out_volume(settings, volume)]),
            memory: i64::try_from(settings.memory).ok(),
            memory_swap: i64::try_from(settings.memory).ok(),
            pids_limit: Some(PROCESSES),
            nano_cpus: Some(NANO_CPUS),
            ipc_mode: Some("none".to_owned()),
            runtime: settings.runtime.clone(),
            // The state is read before it is removed.
            auto_remove: Some(false),
            // What tools answered is to stand in no file of the engine.
            log_config: Some(HostConfigLogConfig { typ: Some("none".to_owned()), ..HostConfigLogConfig::default() }),
            ulimits: Some(vec![ResourcesUlimits { name: Some("core".to_owned()), soft: Some(0), hard: Some(0) }]),
            ..HostConfig::default()
        }),
        ..ContainerCreateBody::default()
    }
}

/// A volume in memory, with a size: files can be fetched out of it while the container runs, which those of a plain
/// tmpfs cannot. It is removed with its container.
fn out_volume(settings: &Settings, name: &str) -> Mount {
    let option = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let options = [("type", "tmpfs"), ("device", "tmpfs"), ("o", OUT)].map(option);
    Mount {
        typ: Some(MountType::VOLUME),
        source: Some(name.to_owned()),
        target: Some(OUT_FOLDER.to_owned()),
        volume_options: Some(MountVolumeOptions {
            no_copy: Some(true),
            labels: Some(settings.labels.clone()),
            driver_config: Some(MountVolumeOptionsDriverConfig {
                name: Some("local".to_owned()),
                options: Some(HashMap::from(options)),
            }),
            ..MountVolumeOptions::default()
        }),
        ..Mount::default()
    }
}
