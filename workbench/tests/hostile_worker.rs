//! Worker processes that do not keep to the protocol, as after a script that broke out of its interpreter.
//!
//! The stand-in, `fixtures/hostile_worker.sh`, says that it is ready and does what stands beside the name it was
//! started under. The host must end it by a name, in bounded memory.
#![cfg(all(feature = "embedded", target_os = "linux"))]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/left_behind.rs"]
mod left_behind;
#[path = "support/patience.rs"]
mod patience;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/scripts.rs"]
mod scripts;
#[path = "support/standin.rs"]
mod standin;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use left_behind::{Marked, peak_memory};
use scripts::{LIMITS, sandbox_of};
use workbench::sandbox::{Bridge, BridgeError, SCRIPT_FILE, Sandbox, Script, ScriptEnd, ScriptLimits, ToolForm};

/// Megabytes the host may take: four times the longest argument waits at most, and as much again is on its way.
const MOST_MEMORY: u64 = 400;

/// Answers `echo` at once, `large` with eight megabytes, and `hang` never.
#[derive(Default)]
struct Answers {
    calls: AtomicUsize,
}

#[async_trait]
impl Bridge for Answers {
    async fn call(&self, tool: &str, arguments: Bytes) -> Result<Bytes, BridgeError> {
        if self.calls.fetch_add(1, Ordering::Relaxed) >= 300 {
            return Err(BridgeError::Stop("no calls are left".to_owned()));
        }
        match tool {
            "echo" => Ok(arguments),
            "large" => Ok(vec![b' '; 8 << 20].into()),
            "hang" => std::future::pending().await,
            _ => Err(BridgeError::Tool(format!("there is no tool {tool:?}"))),
        }
    }
}

/// Its name, what a worker does, in the words of the shell, and the end it comes to. `frame HEAD [BODY]` sends one.
type Attack = (&'static str, &'static str, &'static str);

const ATTACKS: &[Attack] = &[
    ("an end before the script", "frame '\"kind\":\"end\",\"code\":7,\"out_of_memory\":false'; rest", "Exit(7)"),
    (
        "two ends and more",
        "for code in 3 0; do frame '\"kind\":\"end\",\"code\":'$code',\"out_of_memory\":false'; done; call 1 echo; rest",
        "Exit(3)",
    ),
    ("an end of no number", "frame '\"kind\":\"end\",\"code\":9999999999,\"out_of_memory\":false'; rest", BROKEN),
    ("an end without its code", "frame '\"kind\":\"end\"'; rest", BROKEN),
    ("ready again", "frame '\"kind\":\"ready\"'; rest", BROKEN),
    ("a second beginning", "frame '\"kind\":\"started\",\"job\":1'; rest", BROKEN),
    ("a beginning of no script", "frame '\"kind\":\"started\",\"job\":2'; rest", BROKEN),
    ("a number used twice", "call 5 echo; call 5 echo; rest", "number 5"),
    ("a number of before", "call 5 echo; call 4 echo; rest", "number 4"),
    ("a number below one", "call 0 echo; rest", "number 0"),
    ("a number of no kind", "call '\"5\"' echo; rest", BROKEN),
    ("the highest number", "call 18446744073709551615 echo; call 1 echo; rest", "number 1"),
    ("an unknown kind", "frame '\"kind\":\"answer\",\"id\":1,\"ok\":true'; rest", BROKEN),
    ("no kind", "frame '\"id\":1'; rest", BROKEN),
    ("a head that is a list", "printf '[1,2]\\n' >&0; rest", BROKEN),
    ("a head that is no text", "printf '\\377\\376\\000\\n' >&0; rest", BROKEN),
    ("an empty head", "printf '\\n' >&0; rest", BROKEN),
    (
        "a body of 4 GiB",
        "printf '{\"kind\":\"ready\",\"len\":4294967296}\\n' >&0; head -c 100000000 /dev/zero >&0; rest",
        BROKEN,
    ),
    (
        "a body of all bytes there are",
        "printf '{\"kind\":\"ready\",\"len\":18446744073709551615}\\n' >&0; rest",
        BROKEN,
    ),
    ("a body of less than nothing", "printf '{\"kind\":\"ready\",\"len\":-1}\\n' >&0; rest", BROKEN),
    (
        "a body longer than arguments may be",
        "printf '{\"kind\":\"call\",\"id\":1,\"tool\":\"echo\",\"len\":16777217}\\n' >&0; rest",
        BROKEN,
    ),
    (
        "a body that never comes",
        "printf '{\"kind\":\"call\",\"id\":1,\"tool\":\"echo\",\"len\":16777216}\\nabc' >&0; rest",
        "TimedOut",
    ),
    (
        "half a frame and death",
        "printf '{\"kind\":\"call\",\"id\":1,\"tool\":\"echo\",\"len\":99}\\nabc' >&0; exit 9",
        "exit status: 9",
    ),
    ("half a head and death", "printf '{\"kind\":\"ca' >&0; exit 9", "exit status: 9"),
    ("a head without end", "exec cat /dev/zero >&0", BROKEN),
    ("a deep head", "printf '{\"a\":%s\\n' \"$(head -c 60000 /dev/zero | tr '\\0' '[')\" >&0; rest", BROKEN),
    ("a tool that does not exist", "call 1 'rm -rf \\u0000\\n'; read_one; call 2 echo; bye", "Exit(0)"),
    (
        "a long name of a tool",
        "call 1 \"$(head -c 60000 /dev/zero | tr '\\0' x)\"; read_one; bye",
        "a name of 60000 bytes",
    ),
    (
        "a body that is no JSON",
        "frame '\"kind\":\"call\",\"id\":1,\"tool\":\"echo\"' 'not: json'; read_one; bye",
        "Exit(0)",
    ),
    (
        "calls without end",
        "exec 3<&0; cat <&3 >/dev/null & i=1; while call $i echo; do i=$((i + 1)); done",
        "no calls are left",
    ),
    ("calls without end whose answers are not read", "i=1; while call $i large; do i=$((i + 1)); done", "TimedOut"),
    (
        "answers that are not read",
        "i=1; while [ $i -lt 500 ]; do call $i large; i=$((i + 1)); done; exec sleep 1000",
        "TimedOut",
    ),
    ("arguments that pile up", "i=1; while big $i hang; do i=$((i + 1)); done", "TimedOut"),
    ("output without end", "exec cat /dev/zero", "it printed more than 64 MB"),
    ("silence", "rest", "TimedOut"),
    ("a closed link", "exec 0</dev/null; exec sleep 1000", "lived on"),
    ("a stopped process", "kill -STOP $$", "TimedOut"),
    ("death at once", "exit 0", "exit status: 0"),
    ("death by a signal", "kill -SEGV $$", "segmentation fault"),
    ("death while answers wait", "call 1 large; sleep 0.2; exit 9", "exit status: 9"),
];

/// Those that end so where waits are not announced.
const PLAIN: &[Attack] = &[
    ("a wait nobody asked for", "frame '\"kind\":\"waiting\"'; rest", BROKEN),
    ("waits without end", "while frame '\"kind\":\"waiting\"'; do :; done", BROKEN),
    ("calls that hang without end", "i=1; while call $i hang; do i=$((i + 1)); done", "TimedOut"),
];

/// Those where they are.
const ANNOUNCED: &[Attack] = &[
    ("a wait for nothing", "frame '\"kind\":\"waiting\"'; rest", "TimedOut"),
    ("waits without end", "while frame '\"kind\":\"waiting\"'; do :; done", "TimedOut"),
    ("a wait and no pause", "call 1 echo; frame '\"kind\":\"waiting\"'; while :; do :; done", "TimedOut"),
    (
        "waits whose answers are not read",
        "i=1; while call $i large; frame '\"kind\":\"waiting\"'; do i=$((i + 1)); done",
        "TimedOut",
    ),
    ("calls that hang without end", "i=1; while call $i hang; do i=$((i + 1)); done", "no calls are left"),
];

const BROKEN: &str = "the interpreter broke the protocol";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_breaks_the_protocol_is_ended_by_a_name() {
    let stand_in = Marked::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hostile_worker.sh"));
    let tools = standin::specs();
    let mut wrong = Vec::new();
    peak_memory();
    let plain = ATTACKS.iter().chain(PLAIN).map(|attack| (false, attack));
    let announced = ATTACKS.iter().chain(ANNOUNCED).map(|attack| (true, attack));
    for (announce_waiting, (name, does, end)) in plain.chain(announced) {
        fs::write(stand_in.program().with_extension("does"), does).unwrap();
        // Only what ends by its time waits for it; all else has as long as a loaded machine may need.
        let time = if *end == "TimedOut" { Duration::from_secs(2) } else { LIMITS.time };
        let limits = ScriptLimits { time, ..LIMITS };
        let script = Script {
            source: "",
            file: SCRIPT_FILE,
            tools: &tools,
            domain: "standin",
            announce_waiting,
            form: ToolForm::Functions,
            limits,
        };
        let outcome = sandbox_of(stand_in.program()).run(&script, &Answers::default()).await.unwrap();
        let got = format!("{:?}", outcome.end);
        if !got.contains(end) {
            wrong.push(format!("{name}: {got} and not {end}: {}", outcome.stderr.text));
        }
        let taken = peak_memory();
        if taken > MOST_MEMORY {
            wrong.push(format!("{name}: the host took {taken} MB"));
        }
        // What it started itself reads a link that is closed, and ends.
        stand_in.all_gone().await;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// In a session a worker lives on after a script, unless it keeps writing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_of_a_session_that_writes_without_end_is_ended() {
    let stand_in = Marked::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hostile_worker.sh"));
    let does = "cat /dev/zero & sleep 0.05; frame '\"kind\":\"end\",\"code\":0,\"out_of_memory\":false'; rest";
    fs::write(stand_in.program().with_extension("does"), does).unwrap();
    let session = std::sync::Arc::new(sandbox_of(stand_in.program())).session();
    let script = Script {
        source: "",
        file: SCRIPT_FILE,
        tools: &[],
        domain: "standin",
        announce_waiting: false,
        form: ToolForm::Functions,
        limits: LIMITS,
    };
    // One that has not begun to write when it says that it ended is met by the next script.
    let mut end = ScriptEnd::Exit(0);
    while end == ScriptEnd::Exit(0) {
        end = session.run(&script, &Answers::default()).await.unwrap().end;
    }
    assert_eq!(end, ScriptEnd::Stopped("it printed more than 64 MB".to_owned()));
    session.close().await;
    stand_in.all_gone().await;
}

/// The same before the first script.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_does_not_come_up_is_no_sandbox() {
    let stand_in = Marked::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hostile_worker.sh"));
    let script = Script {
        source: "",
        file: SCRIPT_FILE,
        tools: &[],
        domain: "standin",
        announce_waiting: false,
        form: ToolForm::Functions,
        limits: LIMITS,
    };
    for (does, reason) in [
        ("frame '\"kind\":\"waiting\"'; rest", "its first words were Waiting"),
        ("printf '{\"kind\":\"ready\",\"len\":4294967296}\\n' >&0; rest", "over the limit"),
        ("exec cat /dev/zero >&0", "has no end"),
        ("echo why >&2; exit 3", "exit status: 3: why"),
        ("exec 0</dev/null; exec sleep 1000", "it closed its link and lived on"),
    ] {
        fs::write(stand_in.program().with_extension("first"), does).unwrap();
        let failure = sandbox_of(stand_in.program()).run(&script, &Answers::default()).await.unwrap_err().to_string();
        assert!(failure.contains(reason), "{does}: {failure}");
        stand_in.all_gone().await;
    }
}

/// What kills a child from outside may have passed; everything else would meet the next child as well.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_a_worker_that_was_killed_is_started_again() {
    let script = Script {
        source: "",
        file: SCRIPT_FILE,
        tools: &[],
        domain: "standin",
        announce_waiting: false,
        form: ToolForm::Functions,
        limits: LIMITS,
    };
    for (dies, tries, reason) in [
        ("kill -KILL $$", 2, "could not start: killed from outside"),
        ("kill -SEGV $$", 1, "signal: 11"),
        ("exit 3", 1, "exit status: 3"),
        ("frame '\"kind\":\"waiting\"'; rest", 1, "its first words were Waiting"),
    ] {
        let stand_in = Marked::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hostile_worker.sh"));
        let does = format!("echo >> \"$0.starts\"; {dies}");
        fs::write(stand_in.program().with_extension("first"), does).unwrap();
        let failure = sandbox_of(stand_in.program()).run(&script, &Answers::default()).await.unwrap_err().to_string();
        let starts = fs::read_to_string(stand_in.program().with_extension("starts")).unwrap();
        assert_eq!(starts.lines().count(), tries, "{dies}: {failure}");
        assert!(failure.contains(reason), "{dies}: {failure}");
        stand_in.all_gone().await;
    }
}
