//! Container engines for tests: the machine's own, a second one that a test starts, and what only looks like one.
#![allow(clippy::unwrap_used, dead_code, reason = "each test file uses a part of it")]

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write};
use std::net::{Shutdown, TcpListener};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;

use bollard::models::{ContainerCreateBody, VolumeCreateRequest};
use bollard::query_parameters::{
    BuildImageOptionsBuilder, CreateContainerOptions, ImportImageOptions, PruneImagesOptionsBuilder,
    RemoveContainerOptionsBuilder, RemoveImageOptionsBuilder, RemoveVolumeOptions,
};
use bollard::{Docker, body_full};
use futures::TryStreamExt as _;
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::program::{Outcome, Program, finish, workspace};

/// What tells where an engine is: none of it is left for a test's own words.
const SURROUNDINGS: [&str; 7] = [
    "DOCKER_HOST",
    "DOCKER_CONTEXT",
    "DOCKER_CONFIG",
    "DOCKER_TLS",
    "DOCKER_TLS_VERIFY",
    "DOCKER_CERT_PATH",
    "XDG_RUNTIME_DIR",
];

/// Runs `workbench` with these variables and none of the machine's about engines.
pub(crate) fn workbench(variables: &[(&str, &str)], arguments: &[&str]) -> Outcome {
    let program = Program::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_workbench"));
    command.args(arguments).current_dir(workspace()).env("WORKBENCH_RESULTS", program.results());
    SURROUNDINGS.iter().for_each(|name| _ = command.env_remove(name));
    finish(command.envs(variables.iter().copied()), "")
}

/// The machine's engine, and the image of the sandbox in it. Without them the test says that it was not made; where `CI`
/// is set, that is a failure.
pub(crate) fn with_image() -> Option<(Engine, Value)> {
    let status = Program::new().json(&["sandbox", "status", "--format", "json"]);
    if status["image"].is_null() {
        return skipped(&format!("{}; {}", status["reason"].as_str().unwrap(), status["hint"].as_str().unwrap()));
    }
    let address = status["engine"]["address"].as_str().unwrap();
    Some((Engine::at(address), status["image"].clone()))
}

fn skipped<T>(why: &str) -> Option<T> {
    assert!(std::env::var_os("CI").is_none(), "not to be skipped where `CI` is set: {why}");
    // Not by a macro, whose words the harness keeps to itself.
    _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
    None
}

/// An engine, spoken to by the test itself.
pub(crate) struct Engine {
    docker: Docker,
    runtime: Runtime,
}

impl Engine {
    fn at(address: &str) -> Self {
        let runtime = Runtime::new().unwrap();
        let docker = Docker::connect_with_host(address).unwrap();
        let docker = runtime.block_on(docker.negotiate_version()).unwrap();
        Self { docker, runtime }
    }

    /// An image of this name, gone with what is returned.
    pub(crate) fn image(&self, name: &str, dockerfile: &str) -> TestImage<'_> {
        let mut header = tar::Header::new_gnu();
        header.set_size(dockerfile.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        let mut archive = tar::Builder::new(Vec::new());
        archive.append_data(&mut header, "Dockerfile", dockerfile.as_bytes()).unwrap();
        let body = body_full(archive.into_inner().unwrap().into());
        // What is built from it has its labels, too.
        let labels = HashMap::from([TestImage::label()]);
        let options = BuildImageOptionsBuilder::new().t(name).labels(&labels).networkmode("none").rm(true).build();
        let building = self.docker.build_image(options, None, Some(body));
        self.runtime.block_on(building.try_collect::<Vec<_>>()).unwrap();
        TestImage { engine: self, name: name.to_owned() }
    }

    /// Takes over an image of another engine, under the same name.
    pub(crate) fn take_image(&self, other: &Self, name: &str) {
        let image = other.docker.export_image(name);
        let image = other.runtime.block_on(image.try_collect::<Vec<_>>()).unwrap().concat();
        let taking = self.docker.import_image(ImportImageOptions::default(), body_full(image.into()), None);
        self.runtime.block_on(taking.try_collect::<Vec<_>>()).unwrap();
    }

    /// Makes a container that is not started, and tells its id.
    pub(crate) fn container(&self, image: &str, labels: HashMap<String, String>) -> String {
        let body = ContainerCreateBody {
            image: Some(image.to_owned()),
            cmd: Some(vec!["nothing".to_owned()]),
            labels: Some(labels),
            ..ContainerCreateBody::default()
        };
        self.runtime.block_on(self.docker.create_container(None::<CreateContainerOptions>, body)).unwrap().id
    }

    /// Makes a volume, and tells its name.
    pub(crate) fn volume(&self, labels: HashMap<String, String>) -> String {
        let request = VolumeCreateRequest { labels: Some(labels), ..VolumeCreateRequest::default() };
        self.runtime.block_on(self.docker.create_volume(request)).unwrap().name
    }

    /// Removes a container; whether it was there.
    pub(crate) fn take_container(&self, id: &str) -> bool {
        let options = RemoveContainerOptionsBuilder::new().force(true).build();
        self.runtime.block_on(self.docker.remove_container(id, Some(options))).is_ok()
    }

    /// Removes a volume; whether it was there.
    pub(crate) fn take_volume(&self, name: &str) -> bool {
        // By force, the engine says nothing of a volume that is not there.
        self.runtime.block_on(self.docker.remove_volume(name, None::<RemoveVolumeOptions>)).is_ok()
    }
}

/// An image that a test made.
pub(crate) struct TestImage<'a> {
    engine: &'a Engine,
    pub(crate) name: String,
}

impl TestImage<'_> {
    fn label() -> (&'static str, String) {
        ("workbench.test", std::process::id().to_string())
    }
}

impl Drop for TestImage<'_> {
    fn drop(&mut self) {
        let Engine { docker, runtime } = self.engine;
        let options = RemoveImageOptionsBuilder::new().force(true).build();
        _ = runtime.block_on(docker.remove_image(&self.name, Some(options), None));
        // The steps of builds that failed.
        let (name, value) = Self::label();
        let filters =
            HashMap::from([("dangling", vec!["true".to_owned()]), ("label", vec![format!("{name}={value}")])]);
        let options = PruneImagesOptionsBuilder::new().filters(&filters).build();
        _ = runtime.block_on(docker.prune_images(Some(options)));
    }
}

/// An engine of the test's own on a TCP port, with nothing in it.
///
/// It has a network of its own, since one that is to make no bridge removes that of the machine's engine; so its port is
/// one of the test, which forwards it to the engine's socket.
pub(crate) struct SecondEngine {
    daemon: Child,
    _folder: TempDir,
    pub(crate) address: String,
    pub(crate) engine: Engine,
}

impl SecondEngine {
    /// Starts one. Needs root and `dockerd`.
    pub(crate) fn start() -> Option<Self> {
        if !rustix::process::geteuid().is_root() || Command::new("dockerd").arg("--version").output().is_err() {
            return skipped("a second engine needs root and `dockerd`");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        // The settings of the machine's own name its storage.
        std::fs::write(path("settings.json"), "{}").unwrap();
        let mut command = Command::new("unshare");
        command.args(["--net", "dockerd", "--bridge=none", "--iptables=false", "--storage-driver=vfs"]);
        command.args(["--config-file", &path("settings.json"), "--data-root", &path("data")]);
        command.args(["--exec-root", &path("exec"), "--pidfile", &path("pid")]);
        command.args(["--host", &format!("unix://{}", path("engine.sock"))]);
        let mut daemon = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(daemon.stderr.take().unwrap());
        let mut told = String::new();
        while !told.contains("API listen on") {
            let length = log.read_line(&mut told).unwrap();
            assert!(length > 0, "the second engine ended: {told}");
        }
        // Whoever writes to a full pipe waits.
        thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        let address = format!("tcp://127.0.0.1:{}", forward(path("engine.sock").into()));
        let engine = Engine::at(&address);
        Some(Self { daemon, _folder: folder, address, engine })
    }
}

impl Drop for SecondEngine {
    fn drop(&mut self) {
        // In good order, so that it ends its own children and leaves no mount.
        let id = rustix::process::Pid::from_child(&self.daemon);
        _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        _ = self.daemon.wait();
    }
}

/// A port whose connections are those of the socket, as long as the test runs.
fn forward(socket: PathBuf) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for outer in listener.incoming().flatten() {
            let Ok(inner) = UnixStream::connect(&socket) else { continue };
            let (mut to_engine, mut from_client) = (inner.try_clone().unwrap(), outer.try_clone().unwrap());
            thread::spawn(move || {
                _ = std::io::copy(&mut from_client, &mut to_engine);
                _ = to_engine.shutdown(Shutdown::Write);
            });
            let (mut from_engine, mut to_client) = (inner, outer);
            thread::spawn(move || {
                _ = std::io::copy(&mut from_engine, &mut to_client);
                _ = to_client.shutdown(Shutdown::Write);
            });
        }
    });
    port
}

/// A unix socket whose server answers whatever it is asked with the same bytes.
pub(crate) struct FakeSocket {
    folder: TempDir,
}

impl FakeSocket {
    pub(crate) fn start(answer: &'static [u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join("engine.sock")).unwrap();
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut request = [0; 4096];
                _ = stream.read(&mut request);
                _ = stream.write_all(answer);
            }
        });
        Self { folder }
    }

    /// One that nobody listens at any more.
    pub(crate) fn abandoned() -> Self {
        let folder = tempfile::tempdir().unwrap();
        drop(UnixListener::bind(folder.path().join("engine.sock")).unwrap());
        Self { folder }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("engine.sock")
    }

    pub(crate) fn address(&self) -> String {
        format!("unix://{}", self.path().display())
    }
}
