//! Scripts in containers, where an engine and the image are here.

use std::io::{BufRead as _, BufReader};
use std::pin::Pin;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bollard::container::{AttachContainerResults, LogOutput};
use bollard::models::{ContainerCreateBody, HostConfig};
use bollard::query_parameters::{AttachContainerOptions, CreateContainerOptions, RemoveContainerOptions};
use bytes::Bytes;
use futures::StreamExt as _;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use workbench::runner::script_limits;
use workbench::sandbox::docker::availability::{self, Available};
use workbench::sandbox::docker::{Docker, DockerSettings};
use workbench::sandbox::{Bridge, BridgeError, SCRIPT_FILE, Sandbox, Script};

use crate::rounds::{alternate, repeat};
use crate::scripting::first_line;
use crate::stage::{SMALL, Stage, TOOL};
use crate::table::Table;

/// Longer than the interpreter of a container takes to import ahead, and shorter than any model thinks.
const PAUSE: Duration = Duration::from_millis(500);

/// Calls and echoes in a round.
const CALLS: u32 = 1000;

/// Bytes of an answer, and of a line that is echoed: a call and its answer together are about twice as long.
const ANSWER: usize = 200;

pub(crate) fn measure(stage: &Stage, table: &mut Table) {
    let available = match stage.runtime.block_on(availability::look()) {
        Ok(available) => available,
        Err(error) => {
            eprintln!("the rows of containers are left out: {error}");
            return;
        }
    };
    let memory = script_limits(&stage.domain.manifest.limits).memory;
    let open = Docker::open(DockerSettings::default(), "bench", memory);
    let sandbox = stage.runtime.block_on(open).unwrap();
    let (record, _) = SMALL;
    let line = format!("from tools import *; {TOOL}({record})");

    let warm = repeat(15, || {
        stage.runtime.block_on(sandbox.prepare());
        // The engine's connection is read meanwhile.
        stage.runtime.block_on(async { tokio::time::sleep(PAUSE).await });
        first_line(stage, &sandbox, &line)
    });
    table.alone(
        "a script up to its first line, in a container that waited for it",
        warm,
        Some(Duration::from_millis(10)),
    );

    let pair = alternate(
        9,
        || {
            let time = first_line(stage, &sandbox, &line);
            stage.runtime.block_on(sandbox.close());
            time
        },
        || by_command_line(&available.image.id),
    );
    table.against("the same in a container that is started for it ÷ `docker run` of the image", &pair, Some(0.8));

    // What no sandbox can be quicker than: nothing asked of the engine but a container, nothing of Python but a line.
    let pair = alternate(9, || least(stage, &available), || by_command_line(&available.image.id));
    table.against(
        "the least that the engine needs for a container's first line ÷ `docker run` of the image",
        &pair,
        None,
    );

    let mut echo = stage.runtime.block_on(Attached::start(&available, ECHO));
    let pair = alternate(7, || bridged_call(stage, &sandbox), || stage.runtime.block_on(echo.round()));
    table.against("a call of a script in a container ÷ an echo of a line over such a stream", &pair, Some(1.5));
    stage.runtime.block_on(async {
        echo.remove(&available).await;
        sandbox.close().await;
    });
}

/// From the start of the docker command line to the first line that Python prints in a container.
fn by_command_line(image: &str) -> Duration {
    let begun = Instant::now();
    let mut docker = Command::new("docker");
    docker.args(["run", "--rm", "--interactive", "--network", "none", image, "python3", "-I", "-c", "print(1)"]);
    let mut child = docker.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let time = begun.elapsed();
    assert_eq!(line, "1\n");
    assert!(child.wait().unwrap().success());
    // The engine removes it a little later.
    thread::sleep(PAUSE);
    time
}

/// The time of a call, of many in one script, answered at once.
fn bridged_call(stage: &Stage, sandbox: &dyn Sandbox) -> Duration {
    let source = format!("from tools import *\nfor _ in range({CALLS} + 1):\n    {TOOL}(1)\n");
    let script = Script {
        source: &source,
        file: SCRIPT_FILE,
        tools: stage.toolbox.tools(),
        domain: stage.domain.name(),
        announce_waiting: false,
        limits: script_limits(&stage.domain.manifest.limits),
    };
    let bridge = AtOnce(OnceLock::new());
    let outcome = stage.runtime.block_on(sandbox.run(&script, &bridge)).unwrap();
    assert!(outcome.end.is_success(), "{outcome:?}");
    let (first, last) = bridge.0.into_inner().unwrap();
    last.into_inner().unwrap().duration_since(first) / CALLS
}

/// Answers at once, and notes when the first call came, and the last.
struct AtOnce(OnceLock<(Instant, std::sync::Mutex<Instant>)>);

#[async_trait]
impl Bridge for AtOnce {
    async fn call(&self, _tool: &str, _arguments: Bytes) -> Result<Bytes, BridgeError> {
        let now = Instant::now();
        let (_, last) = self.0.get_or_init(|| (now, std::sync::Mutex::new(now)));
        *last.lock().unwrap() = now;
        Ok(format!("\"{}\"", "x".repeat(ANSWER)).into())
    }
}

/// A program whose Python sends each line back.
const ECHO: &str =
    "import sys\nfor line in sys.stdin.buffer:\n    sys.stdout.buffer.write(line)\n    sys.stdout.buffer.flush()";

/// From the first request to the engine to the first line of a container that has nothing of a sandbox.
fn least(stage: &Stage, available: &Available) -> Duration {
    let (time, container) = stage.runtime.block_on(async {
        let begun = Instant::now();
        let mut container = Attached::start(available, "print(1)").await;
        let line = container.output.next().await.unwrap().unwrap().into_bytes();
        assert_eq!(line, "1\n");
        (begun.elapsed(), container)
    });
    stage.runtime.block_on(container.remove(available));
    thread::sleep(PAUSE);
    time
}

/// A container of the image, without network, that runs a Python program.
struct Attached {
    id: String,
    input: Pin<Box<dyn AsyncWrite + Send>>,
    output: Pin<Box<dyn futures::Stream<Item = Result<LogOutput, bollard::errors::Error>> + Send>>,
}

impl Attached {
    async fn start(available: &Available, program: &str) -> Self {
        let body = ContainerCreateBody {
            image: Some(available.image.id.clone()),
            cmd: Some(["python3", "-I", "-c", program].map(str::to_owned).to_vec()),
            attach_stdin: Some(true),
            attach_stdout: Some(true),
            open_stdin: Some(true),
            stdin_once: Some(true),
            host_config: Some(HostConfig { network_mode: Some("none".to_owned()), ..HostConfig::default() }),
            ..ContainerCreateBody::default()
        };
        let docker = available.engine.docker();
        let id = docker.create_container(None::<CreateContainerOptions>, body).await.unwrap().id;
        let attach =
            AttachContainerOptions { stream: true, stdin: true, stdout: true, ..AttachContainerOptions::default() };
        let AttachContainerResults { output, input } = docker.attach_container(&id, Some(attach)).await.unwrap();
        docker.start_container(&id, None).await.unwrap();
        Self { id, input, output }
    }

    /// The time of one line there and back.
    async fn round(&mut self) -> Duration {
        let line = format!("{}\n", "x".repeat(ANSWER));
        let begun = Instant::now();
        for _ in 0..CALLS {
            self.input.write_all(line.as_bytes()).await.unwrap();
            self.input.flush().await.unwrap();
            let mut got = 0;
            while got < line.len() {
                got += self.output.next().await.unwrap().unwrap().into_bytes().len();
            }
        }
        begun.elapsed() / CALLS
    }

    async fn remove(&self, available: &Available) {
        let options = RemoveContainerOptions { force: true, ..RemoveContainerOptions::default() };
        available.engine.docker().remove_container(&self.id, Some(options)).await.unwrap();
    }
}
