//! Faults of the engine, of containers and of the host: a run goes on or ends with its cause, its ledger is whole, and
//! nothing is left in the engine.
//!
//! Without an engine, or without the image, the tests skip with a line that says so; in CI they fail.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/containers.rs"]
mod containers;
#[path = "support/patience.rs"]
mod patience;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/program.rs"]
mod program;
#[path = "support/relay.rs"]
mod relay;
#[path = "support/scripts.rs"]
mod scripts;
#[path = "support/served.rs"]
mod served;
#[path = "support/standin.rs"]
mod standin;
#[path = "support/swept.rs"]
mod swept;
#[path = "support/waiting.rs"]
mod waiting;

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use bollard::query_parameters::{KillContainerOptions, RemoveContainerOptions};
use bytes::Bytes;
use containers::{Containers, engine};
use futures::StreamExt;
use patience::wait_until;
use processes::send;
use program::Outcome;
use relay::{Breaks, Refusal, Relay};
use rustix::process::Signal;
use scripts::LIMITS;
use serde_json::json;
use served::{Served, next, question};
use standin::StandIn;
use swept::{gone_or_swept, until_ended};
use tokio::sync::Notify;
use waiting::Waiting;
use workbench::results::format::{RuleStatus, Stop};
use workbench::sandbox::docker::engine::Engine;
use workbench::sandbox::docker::{DockerSettings, sweep};
use workbench::sandbox::{Bridge, BridgeError, Sandbox, ScriptLimits, ScriptOutcome};

async fn run_on(sandbox: &dyn Sandbox, source: &str, limits: ScriptLimits, bridge: &dyn Bridge) -> ScriptOutcome {
    scripts::run(sandbox, source, &standin::specs(), limits, bridge).await
}

/// Lets a test know that a script is running, and never answers it.
#[derive(Default)]
struct Silence(Notify);

#[async_trait]
impl Bridge for Silence {
    async fn call(&self, _tool: &str, _arguments: Bytes) -> Result<Bytes, BridgeError> {
        self.0.notify_one();
        std::future::pending().await
    }
}

/// What somebody does by hand to the container of a script that waits for a tool.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Kill,
    Terminate,
    Remove,
    Pause,
}

#[tokio::test]
async fn a_container_that_somebody_ends_ends_its_script_and_the_next_one_runs() {
    let Some(containers) = Containers::open(DockerSettings::default()).await else { return };
    let docker = containers.engine.docker();
    let short = ScriptLimits { time: Duration::from_secs(4), ..LIMITS };
    for (deed, end) in [
        (Deed::Kill, "Killed"),
        (Deed::Terminate, "Crashed(\"its container ended with 143 in the middle of the script\")"),
        (Deed::Remove, "Killed"),
        (Deed::Pause, "TimedOut"),
    ] {
        let bridge = Silence::default();
        let limits = if end == "TimedOut" { short } else { LIMITS };
        let script = "from tools import *\nprint('begun')\nnoop(1)";
        let mut run = std::pin::pin!(run_on(&*containers.sandbox, script, limits, &bridge));
        tokio::select! {
            outcome = &mut run => panic!("{deed:?}: {outcome:?}"),
            () = bridge.0.notified() => {}
        }
        let ids = containers.ids().await;
        let id = ids.first().unwrap();
        let kill = |signal: &str| KillContainerOptions { signal: signal.to_owned() };
        match deed {
            Deed::Kill => docker.kill_container(id, Some(kill("KILL"))).await.unwrap(),
            Deed::Terminate => docker.kill_container(id, Some(kill("TERM"))).await.unwrap(),
            Deed::Remove => {
                let options = RemoveContainerOptions { force: true, ..RemoveContainerOptions::default() };
                docker.remove_container(id, Some(options)).await.unwrap();
            }
            Deed::Pause => docker.pause_container(id).await.unwrap(),
        }
        let outcome = run.await;
        assert_eq!(format!("{:?}", outcome.end), end, "{deed:?}");
        assert_eq!(outcome.stdout.text, "begun\n", "{deed:?}");
        let next = run_on(&*containers.sandbox, "print('well')", LIMITS, &StandIn::with_budget(0)).await;
        assert_eq!(next.stdout.text, "well\n", "{deed:?}");
        containers.sandbox.close().await;
        assert_eq!(containers.ids().await, Vec::<String>::new(), "{deed:?}");
    }
    containers.close().await;
}

#[tokio::test]
async fn a_container_that_waits_and_dies_is_replaced() {
    let Some(containers) = Containers::open(DockerSettings::default()).await else { return };
    containers.sandbox.prepare().await;
    let id = containers.ids().await.remove(0);
    containers.engine.docker().kill_container(&id, None::<KillContainerOptions>).await.unwrap();
    let outcome = run_on(&*containers.sandbox, "print('well')", LIMITS, &StandIn::with_budget(0)).await;
    assert_eq!(outcome.stdout.text, "well\n");
    containers.close().await;
}

#[tokio::test]
async fn a_dropped_run_leaves_no_container() {
    let Some(containers) = Containers::open(DockerSettings::default()).await else { return };
    let bridge = Silence::default();
    tokio::select! {
        outcome = run_on(&*containers.sandbox, "from tools import *\nnoop(1)", LIMITS, &bridge) => panic!("{outcome:?}"),
        () = bridge.0.notified() => {}
    }
    containers.close().await;
}

/// Scripts with all kinds of ends, some with calls under way.
const SCRIPTS: &[&str] = &[
    "print('well')",
    "from tools import *\nprint(noop(1))",
    "raise ValueError('wrong')",
    "import os; os._exit(3)",
    "import os; os.abort()",
    "import os; os.kill(os.getppid(), 9)",
    "import os; os.kill(os.getpid(), 9)",
    "import os\nif os.fork() == 0:\n    while True: pass",
    "open('/data/out/x', 'wb').write(b'x' * 100_000)",
    "x = bytearray(10**10)",
    "def f(: pass",
    "from tools import *\nfor i in range(1000): noop(i)",
    "import os; os.write(3, b'garbage'); os.write(4, b'garbage'); os.write(5, b'garbage')",
    "while True: pass",
];

#[tokio::test]
async fn two_hundred_scripts_with_faults_leave_nothing() {
    let Some(containers) = Containers::open(DockerSettings::default()).await else { return };
    let limits = ScriptLimits { time: Duration::from_secs(1), ..LIMITS };
    // Always the same order, and one after another in no pattern.
    let order = (0..200_usize).map(|number| SCRIPTS[number * 31 % 199 % SCRIPTS.len()]);
    let (sandbox, docker) = (&*containers.sandbox, containers.engine.docker());
    let runs = futures::stream::iter(order.enumerate()).map(|(number, source)| async move {
        let bridge = StandIn::with_budget(500);
        let run = run_on(sandbox, source, limits, &bridge);
        if number % 10 > 0 {
            run.await;
            return;
        }
        // Some are dropped, wherever they are.
        _ = tokio::time::timeout(Duration::from_millis(number as u64 * 3), run).await;
        sandbox.prepare().await;
    });
    runs.buffer_unordered(4).collect::<Vec<()>>().await;
    let outcome = run_on(sandbox, "print('well')", LIMITS, &StandIn::with_budget(0)).await;
    assert_eq!(outcome.stdout.text, "well\n");
    docker.ping().await.unwrap();
    containers.close().await;
}

/// The socket of the engine, for a relay before it.
fn socket_of(engine: &Engine) -> PathBuf {
    let address = engine.address();
    address.strip_prefix("unix://").unwrap_or_else(|| panic!("{address} is no socket")).into()
}

/// Calls a tool, then waits for what happens.
const WAITS: &str =
    "from tools import *\nquick()\nprint('begun', flush=True)\nimport time\ntime.sleep(6)\nprint('slept')";

/// What happens to the engine while the first of two scripts runs, and what comes of it.
struct Fault {
    what: &'static str,
    act: fn(&Relay),
    /// How the command ends, and the run.
    code: i32,
    stop: Stop,
    /// A part of what the model read of the first script, and of what the record or the command says.
    script: &'static str,
    said: &'static str,
}

const FAULTS: &[Fault] = &[
    Fault {
        what: "the engine stops",
        act: Relay::stop,
        code: 4,
        stop: Stop::Interrupted,
        script: "CRASHED",
        said: "the docker sandbox could not start",
    },
    Fault {
        what: "the connections break",
        act: Relay::cut,
        code: 0,
        stop: Stop::EndTurn,
        script: "the connection to its container broke",
        said: "",
    },
    Fault {
        what: "the connections break, and those of the next questions",
        // Of five questions the last one must be answered.
        act: |relay| relay.cut_again(Breaks { request: "/json", times: 4 }),
        code: 0,
        stop: Stop::EndTurn,
        script: "the connection to its container broke",
        said: "",
    },
    Fault {
        what: "the image is removed",
        act: |relay| {
            relay.refuse(Refusal {
                request: "/containers/create",
                status: "404 Not Found",
                message: "No such image: sha256:0123",
            });
        },
        code: 4,
        stop: Stop::Interrupted,
        script: "slept",
        said: "No such image: sha256:0123",
    },
    Fault {
        what: "the engine's disk is full",
        act: |relay| {
            relay.refuse(Refusal {
                request: "/containers/create",
                status: "500 Internal Server Error",
                message: "write /var/lib/docker/x: no space left on device",
            });
        },
        code: 4,
        stop: Stop::Interrupted,
        script: "slept",
        said: "no space left on device",
    },
];

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_engine_fails_goes_on_or_tells_the_cause() {
    let Some(engine) = engine().await else { return };
    for Fault { what, act, code, stop, script, said } in FAULTS {
        let relay = Relay::before(&socket_of(&engine));
        let waiting = Waiting::new("[[verify]]\nname = 'sums'\ncheck = '1 + 1 == 2'\n");
        // A container is made ready when a script has ended: the third script's is refused, or the second's.
        waiting.plays(&[WAITS, "print('second')", "print('third')"]);
        let mut command = waiting.command("code", &["--sandbox", "docker"]);
        let host = command.env("DOCKER_HOST", relay.address()).spawn().unwrap();
        let process = host.id();
        wait_until(what, || waiting.only_run().is_some_and(|run| !run.ledger.is_empty()));
        act(&relay);
        let outcome = Outcome::of(host.wait_with_output().unwrap());
        let run = waiting.only_run().unwrap();
        assert_eq!((outcome.code, run.record.stop), (*code, *stop), "{what}: {outcome:?}");
        let output = run.file("scripts/01.out");
        assert!(output.contains(script), "{what}: {output}");
        let told = format!("{} {}", run.record.stop_detail.clone().unwrap_or_default(), outcome.stderr);
        assert!(told.contains(said), "{what}: {told}");
        assert_eq!(run.calls(), ["quick answered"], "{what}");
        gone_or_swept(&engine, process, what).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_a_script_that_the_host_cannot_save_is_no_fault_of_the_model() {
    if engine().await.is_none() {
        return;
    }
    let waiting = Waiting::new(
        "[evidence]\nlong = { text = 'long.txt' }\n[[verify]]\nname = 'long'\ncheck = 'long|length > 9'\n",
    );
    waiting.plays(&["open('/data/out/long.txt', 'w').write('x' * 8_000_000)"]);
    let command = waiting.command("code", &["--sandbox", "docker"]);
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "ulimit -f 4000 && exec \"$0\" \"$@\""]).arg(command.get_program()).args(command.get_args());
    let outcome = Outcome::of(limited.output().unwrap());
    let run = waiting.only_run().unwrap();
    let output = run.file("scripts/01.out");
    assert!(
        output.contains("note: /data/out/long.txt was not kept: ") && output.contains("File too large"),
        "{output}"
    );
    assert_eq!(run.record.faults.len(), 1, "{outcome:?}");
    let verdict = run.record.verify.unwrap();
    assert_eq!((outcome.code, verdict.rules[0].status), (5, RuleStatus::Error), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_is_not_there_is_told_before_anything_is_done() {
    if engine().await.is_none() {
        return;
    }
    let waiting = Waiting::new("");
    waiting.plays(&["print('never')"]);
    let mut command = waiting.command("code", &["--sandbox", "docker"]);
    let outcome = Outcome::of(command.env("DOCKER_HOST", "unix:///nowhere/engine.sock").output().unwrap());
    assert_eq!(outcome.code, 4, "{outcome:?}");
    assert!(outcome.stderr.contains("no container engine answers at unix:///nowhere/engine.sock"), "{outcome:?}");
    assert!(outcome.stderr.contains("hint: "), "{outcome:?}");
    assert!(waiting.only_run().is_none());

    let mut command = waiting.command("code", &["--sandbox", "auto"]);
    let outcome = Outcome::of(command.env("DOCKER_HOST", "unix:///nowhere/engine.sock").output().unwrap());
    assert!(
        outcome.stderr.contains("note: scripts run in the embedded sandbox: no container engine answers"),
        "{outcome:?}"
    );
    assert_eq!(waiting.only_run().unwrap().record.sandbox.as_deref(), Some("embedded"));
}

/// Scripts that never end by themselves; the last one keeps the interpreter from looking at anything else.
const ENDLESS: &[&str] = &["while True: pass", "import time\ntime.sleep(1000)", "10 ** 10 ** 9"];

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_ends_takes_its_containers_along() {
    let Some(engine) = engine().await else { return };
    for script in ENDLESS {
        for signals in [&[Signal::INT][..], &[Signal::TERM], &[Signal::INT, Signal::INT], &[Signal::KILL]] {
            let waiting = Waiting::new("");
            waiting.plays(&[&format!("from tools import *\nquick()\n{script}")]);
            let host = waiting.command("code", &["--sandbox", "docker"]).spawn().unwrap();
            let process = host.id();
            wait_until(script, || waiting.only_run().is_some_and(|run| !run.ledger.is_empty()));
            for signal in signals {
                send(process, *signal);
            }
            let outcome = Outcome::of(host.wait_with_output().unwrap());
            let code = if signals == [Signal::KILL] { -1 } else { 130 };
            assert_eq!(outcome.code, code, "{script} {signals:?}: {outcome:?}");
            let run = waiting.only_run().unwrap();
            assert_eq!(
                (run.record.stop, run.calls()),
                (Stop::Interrupted, vec!["quick answered".to_owned()]),
                "{script}"
            );
            let label = format!("{script} {signals:?}");
            if signals.len() == 1 && signals != [Signal::KILL] {
                // In order: nothing is left for others.
                let ours = sweep::belongings(&engine).await.unwrap();
                assert!(ours.iter().all(|one| one.process != Some(process)), "{label}: {ours:?}");
            }
            until_ended(&engine, process, &label).await;
            gone_or_swept(&engine, process, &label).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_leaves_nothing_either() {
    let Some(engine) = engine().await else { return };
    let turns = json!([{ "text": "Well." }, { "code": ["await get_order({})"] }, { "code": ["while True: pass"] }]);
    let mut served = Served::start(&turns, &["--sandbox", "docker"]);
    let first = next(&question(), &served.post(&question()).await, &json!(""));
    let waiting = served.post(&first).await;
    assert_eq!(waiting.body["stop_reason"], "tool_use", "{waiting:?}");
    assert_eq!(served.post(&first).await.body["stop_reason"], "tool_use");
    // One goes on and computes, the other waits.
    let going = tokio::spawn(served.sender(next(&first, &waiting, &json!("1"))));
    let (process, what) = (served.id(), "a server with a cell that runs and one that waits");
    let ours =
        || async { sweep::belongings(&engine).await.unwrap().into_iter().filter(|one| one.process == Some(process)) };
    assert!(ours().await.count() >= 2, "each has a container of its own");
    send(process, Signal::KILL);
    wait_until("it is killed", || served.has_ended());
    going.await.unwrap();
    until_ended(&engine, process, what).await;
    gone_or_swept(&engine, process, what).await;
}
