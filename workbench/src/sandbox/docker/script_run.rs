//! One script's run in a container: its limits, its end, what it printed and what it left.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use tokio_util::task::TaskTracker;

use super::NAME;
use super::container::{Container, Reader, Settings, Started, data_memory};
use super::left_files;
use super::supervisor::{Supervisor, Told};
use crate::death::Death;
use crate::frames::{self, Frame};
use crate::sandbox::conversation::protocol::{Job, ToHost, ToWorker};
use crate::sandbox::conversation::{Clock, FLOOD, LAST_OUTPUT, Link, Tail, converse};
use crate::sandbox::{Bridge, SandboxError, Script, ScriptEnd, ScriptOutcome};

/// How long a container may take to come up, on a machine that is busy with other things.
const START_LIMIT: Duration = Duration::from_secs(60);

/// How often the engine is asked again whether a container that was killed has ended.
const MEMORY_LOOKS: u32 = 100;
const MEMORY_PAUSE: Duration = Duration::from_millis(30);

/// Bytes of the first frame, which has no body.
const LONGEST_GREETING: u64 = 1024;

/// A container whose interpreter is up.
pub(super) struct Worker {
    container: Container,
    link: Link,
    supervisor: Supervisor,
    memory: u64,
    /// Whether the last script ended as it should, in an interpreter that lives on.
    reusable: bool,
    /// What was told of the files that were left when it did; they are still there.
    told: HashSet<String>,
}

impl Worker {
    /// Starts a container and waits for its interpreter.
    pub(super) async fn boot(
        docker: &bollard::Docker,
        settings: &Settings,
        removals: &TaskTracker,
    ) -> Result<Self, SandboxError> {
        let booting = async {
            let Started { container, input, output, errors } =
                Container::start(docker, settings, removals).await.map_err(|error| failed_start(error.to_string()))?;
            Self::greet(container, input, output, errors, settings.memory).await
        };
        match tokio::time::timeout(START_LIMIT, booting).await {
            Ok(booted) => booted,
            Err(_) => Err(failed_start(format!("its container was not ready after {} s", START_LIMIT.as_secs()))),
        }
    }

    async fn greet(
        container: Container,
        input: std::pin::Pin<Box<dyn AsyncWrite + Send>>,
        mut output: Reader,
        errors: Reader,
        memory: u64,
    ) -> Result<Self, SandboxError> {
        let first = frames::read_async_within::<ToHost>(&mut output, LONGEST_GREETING).await;
        let mut supervisor = Supervisor::listen(errors);
        match first {
            Ok(Some(Frame { head: ToHost::Ready, .. })) => {}
            Ok(Some(frame)) => return Err(failed_start(format!("its first words were {:?}", frame.head))),
            Ok(None) => return Err(failed_start(last_words(&container, &mut supervisor).await)),
            Err(error) => return Err(failed_start(error.to_string())),
        }
        Ok(Self {
            container,
            link: Link::open(output, input),
            supervisor,
            memory,
            reusable: false,
            told: HashSet::new(),
        })
    }

    /// Bytes of memory its container has.
    pub(super) fn memory(&self) -> u64 {
        self.memory
    }

    /// Whether its interpreter may be given another script.
    pub(super) fn is_reusable(&self) -> bool {
        self.reusable
    }

    /// The worker, unless its container has ended.
    pub(super) async fn if_alive(self) -> Option<Self> {
        let state = self.container.state().await.ok()?;
        state.running.unwrap_or(false).then_some(self)
    }

    /// Runs a script.
    pub(super) async fn run(
        &mut self,
        script: &Script<'_>,
        keep_state: bool,
        bridge: &dyn Bridge,
    ) -> Result<ScriptOutcome, SandboxError> {
        let started = Instant::now();
        let number = self.link.next_job(script.announce_waiting);
        let job = serde_json::to_vec(&Job::of(number, script, keep_state, data_memory(self.memory)))
            .map_err(|error| failed_start(error.to_string()))?;
        self.link.send(ToWorker::Run, job.into(), None);
        let mut printed = Printed::new(script.limits.output_bytes);
        let clock = Clock::start(script.limits.time);
        let ending = tokio::select! {
            ending = printed.follow(&mut self.supervisor) => ending,
            end = converse(&mut self.link, script.announce_waiting, &clock, bridge) => end.map_or(Ending::Gone, Ending::Host),
            () = clock.over() => Ending::Host(ScriptEnd::TimedOut),
        };
        let time = started.elapsed();
        self.reusable = matches!(ending, Ending::Script { .. });
        let left = match &ending {
            Ending::Script { files, .. } | Ending::Interpreter { files, .. } => *files,
            Ending::Gone => false,
            Ending::Host(_) => true,
        };
        if matches!(ending, Ending::Host(_)) {
            // Its limit is over: nothing of it runs on while its files are fetched.
            self.container.pause().await;
        }
        if left {
            let told = left_files::keep(&self.container, bridge).await;
            let lines = told.split_inclusive('\n');
            lines
                .clone()
                .filter(|line| !self.told.contains(*line))
                .for_each(|line| printed.stderr.add(line.as_bytes()));
            self.told = lines.map(str::to_owned).collect();
        }
        let end = match ending {
            Ending::Script { out_of_memory: true, .. } => ScriptEnd::OutOfMemory,
            Ending::Script { code, .. } => ScriptEnd::Exit(code),
            Ending::Interpreter { status, .. } => self.end_of_process(status).await,
            Ending::Gone => self.end_of_container(&mut printed).await,
            Ending::Host(end) => end,
        };
        // What a script started may print on and on, where its container lives on.
        while printed.bytes <= FLOOD
            && let Some((told, body)) = self.supervisor.said()
        {
            if let Told::Output { stream } = told {
                printed.take(stream, &body);
            }
        }
        Ok(ScriptOutcome { end, stdout: printed.stdout.text(), stderr: printed.stderr.text(), time })
    }

    /// What the end of the interpreter's process means, whose container lives on.
    async fn end_of_process(&self, status: i32) -> ScriptEnd {
        if status >= 0 {
            return ScriptEnd::Exit(status);
        }
        // A script may have said it, and then it may be any number.
        match status.unsigned_abs() {
            9 if self.ran_out_of_memory().await => ScriptEnd::OutOfMemory,
            6 => ScriptEnd::Crashed("the interpreter aborted".to_owned()),
            11 => ScriptEnd::Crashed("the interpreter died of a segmentation fault".to_owned()),
            signal => ScriptEnd::Crashed(format!("the interpreter was ended by signal {signal}")),
        }
    }

    /// The engine's word that a process was killed for memory, which it gives when the container has ended.
    async fn ran_out_of_memory(&self) -> bool {
        self.container.kill().await;
        for _ in 0..MEMORY_LOOKS {
            match self.container.state().await {
                Ok(state) if state.running == Some(true) => tokio::time::sleep(MEMORY_PAUSE).await,
                Ok(state) => return state.oom_killed == Some(true),
                Err(_) => return false,
            }
        }
        false
    }

    /// Why the container is gone, which nobody here has ended.
    async fn end_of_container(&mut self, printed: &mut Printed) -> ScriptEnd {
        // What it said before may still be on its way.
        if let Ok(Ending::Interpreter { status, .. }) =
            tokio::time::timeout(LAST_OUTPUT, printed.follow(&mut self.supervisor)).await
        {
            return self.end_of_process(status).await;
        }
        match self.container.state().await {
            Ok(state) if state.oom_killed == Some(true) && state.exit_code == Some(137) => ScriptEnd::OutOfMemory,
            Ok(state) if state.exit_code == Some(137) => ScriptEnd::Killed,
            // The supervisor ends all when its input does, and well: otherwise a script cannot make it end with 0.
            Ok(state) if state.running == Some(true) || state.exit_code == Some(0) => {
                ScriptEnd::Crashed("the connection to its container broke".to_owned())
            }
            Ok(state) => ScriptEnd::Crashed(format!(
                "its container ended with {} in the middle of the script",
                state.exit_code.unwrap_or_default()
            )),
            Err(bollard::errors::Error::DockerResponseServerError { status_code: 404, .. }) => ScriptEnd::Killed,
            Err(error) => ScriptEnd::Crashed(format!("the engine does not tell how its container ended: {error}")),
        }
    }
}

/// Why the host stops listening.
enum Ending {
    /// The script ended in an interpreter that lives on, by the supervisor's word.
    Script { code: i32, out_of_memory: bool, files: bool },
    /// The interpreter's process ended, by the same.
    Interpreter { status: i32, files: bool },
    /// The host's own: a limit, a budget, a protocol that was broken.
    Host(ScriptEnd),
    /// The container said no more.
    Gone,
}

/// What a script printed so far.
struct Printed {
    stdout: Tail,
    stderr: Tail,
    bytes: u64,
}

impl Printed {
    fn new(keep: usize) -> Self {
        Self { stdout: Tail::new(keep), stderr: Tail::new(keep), bytes: 0 }
    }

    fn take(&mut self, stream: u8, body: &[u8]) {
        self.bytes += body.len() as u64;
        let stream = if stream == 1 { &mut self.stdout } else { &mut self.stderr };
        stream.add(body);
    }

    /// Takes in the output, to the end of the script or of the container.
    async fn follow(&mut self, supervisor: &mut Supervisor) -> Ending {
        loop {
            let (told, body): (Told, Bytes) = match supervisor.next().await {
                None => return Ending::Gone,
                Some(Err(error)) if error.kind() == std::io::ErrorKind::InvalidData => {
                    return Ending::Host(ScriptEnd::Crashed(format!("its container broke the protocol: {error}")));
                }
                Some(Err(_)) => return Ending::Gone,
                Some(Ok(frame)) => frame,
            };
            match told {
                Told::Output { stream } => self.take(stream, &body),
                Told::End { code, out_of_memory, files } => return Ending::Script { code, out_of_memory, files },
                Told::Died { status, files } => return Ending::Interpreter { status, files },
            }
            if self.bytes > FLOOD {
                let text = format!("it printed more than {} MB", FLOOD / 1024 / 1024);
                return Ending::Host(ScriptEnd::Stopped(text));
            }
        }
    }
}

/// How a container explains itself that ended before it was ready.
async fn last_words(container: &Container, supervisor: &mut Supervisor) -> Death {
    let said = match tokio::time::timeout(LAST_OUTPUT, supervisor.next()).await {
        Ok(Some(Err(error))) => format!(": {error}"),
        _ => String::new(),
    };
    match container.state().await {
        Ok(state) => {
            let code = state.exit_code.unwrap_or_default();
            let error = state.error.filter(|error| !error.is_empty()).map(|error| format!(" ({error})"));
            format!("its container ended with {code}{}{said}", error.unwrap_or_default()).into()
        }
        Err(error) => error.to_string().into(),
    }
}

fn failed_start(reason: impl Into<Death>) -> SandboxError {
    SandboxError::Start { sandbox: NAME, reason: reason.into() }
}
