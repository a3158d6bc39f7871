//! What a script could do that has broken out of its interpreter: the lock itself, tried from inside.
//!
//! A lock is for good, so each attempt is made in a process of its own: this test program again, with a variable that
//! says what to try.
#![cfg(all(feature = "embedded", target_os = "linux"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::exit, clippy::print_stdout)]

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio, exit};

use rustix::process::{Pid, Signal, getppid, kill_process, test_kill_process};
use workbench::lockdown;

/// Names the attempt of a child.
const ATTEMPT: &str = "LOCKED_WORKER_ATTEMPT";

/// What may be tried from inside; each is harmless where it works.
struct Attempt {
    name: &'static str,
    /// What it would get hold of, opened before the lock where that is what is tried.
    attempt: fn(&mut Before) -> Result<String, String>,
}

/// What was there before the lock.
struct Before {
    file: File,
    listener: TcpListener,
    address: std::net::SocketAddr,
    parent: Pid,
    victim: Pid,
}

fn tell<T>(result: Result<T, impl ToString>) -> Result<String, String> {
    result.map(|_| "it worked".to_owned()).map_err(|error| error.to_string())
}

const REFUSED: &[Attempt] = &[
    Attempt { name: "open /etc/passwd", attempt: |_| tell(File::open("/etc/passwd")) },
    Attempt { name: "read a folder, such as that of another run", attempt: |_| tell(fs::read_dir("..")) },
    Attempt { name: "ask for the state of a file", attempt: |_| tell(fs::metadata("/etc/passwd")) },
    Attempt {
        name: "write a file",
        attempt: |_| tell(File::create(std::env::temp_dir().join("locked-worker-was-here"))),
    },
    Attempt { name: "remove a file", attempt: |_| tell(fs::remove_file("/no/such/file").map_err(denied)) },
    Attempt { name: "read what was open before", attempt: |before| tell(before.file.read(&mut [0; 8])) },
    Attempt { name: "copy a descriptor", attempt: |before| tell(before.file.try_clone()) },
    Attempt { name: "accept on what was open before", attempt: |before| tell(before.listener.accept()) },
    Attempt { name: "a TCP connection", attempt: |before| tell(TcpStream::connect(before.address)) },
    Attempt { name: "a TCP listener", attempt: |_| tell(TcpListener::bind("127.0.0.1:0")) },
    Attempt { name: "a UDP socket", attempt: |_| tell(UdpSocket::bind("127.0.0.1:0")) },
    Attempt { name: "a Unix socket", attempt: |_| tell(UnixStream::connect("/run/docker.sock").map_err(denied)) },
    Attempt { name: "a pair of sockets", attempt: |_| tell(UnixStream::pair()) },
    Attempt { name: "a pipe", attempt: |_| tell(rustix::pipe::pipe()) },
    Attempt { name: "spawn a program", attempt: |_| tell(Command::new("true").stdin(Stdio::null()).spawn()) },
    Attempt { name: "start a thread", attempt: |_| tell(std::thread::Builder::new().spawn(|| ())) },
    Attempt { name: "ask whether the parent is there", attempt: |before| tell(test_kill_process(before.parent)) },
    Attempt { name: "kill another process", attempt: |before| tell(kill_process(before.victim, Signal::KILL)) },
    Attempt {
        name: "raise its limits",
        attempt: |_| {
            let limit = rustix::process::Rlimit { current: Some(64), maximum: Some(64) };
            tell(rustix::process::setrlimit(rustix::process::Resource::Nofile, limit))
        },
    },
    Attempt {
        name: "live on when the host dies",
        attempt: |_| tell(rustix::process::set_parent_process_death_signal(None)),
    },
    Attempt {
        name: "open a file from another thread",
        attempt: |_| {
            // The thread was there before the lock; see `locked`.
            THREAD.get().unwrap().lock().unwrap().0.send(()).unwrap();
            THREAD.get().unwrap().lock().unwrap().1.recv().unwrap()
        },
    },
];

type ToThread = (std::sync::mpsc::Sender<()>, std::sync::mpsc::Receiver<Result<String, String>>);
static THREAD: std::sync::OnceLock<std::sync::Mutex<ToThread>> = std::sync::OnceLock::new();

/// Only a refusal by the lock counts, not that a thing is not there.
fn denied(error: std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::PermissionDenied => error.to_string(),
        _ => panic!("it was tried: {error}"),
    }
}

/// Works, since a script needs it.
const ALLOWED: &[Attempt] = &[
    Attempt { name: "write its output", attempt: |_| tell(std::io::stderr().write_all(b"x")) },
    Attempt {
        name: "take memory",
        attempt: |_| tell::<()>(if vec![1_u8; 32 << 20].iter().all(|byte| *byte == 1) { Ok(()) } else { Err("") }),
    },
    Attempt {
        name: "sleep",
        attempt: |_| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            tell::<()>(Ok::<(), &str>(()))
        },
    },
];

/// In the child: takes the lock, makes one attempt, and says on standard output how it went.
fn locked(name: &str) -> ! {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let victim = std::env::var("LOCKED_WORKER_VICTIM").unwrap().parse().unwrap();
    let mut before = Before {
        file: File::open("/etc/passwd").unwrap(),
        address: listener.local_addr().unwrap(),
        listener,
        parent: getppid().unwrap(),
        victim: Pid::from_raw(victim).unwrap(),
    };
    let (go, gone) = std::sync::mpsc::channel();
    let (answer, answered) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        answer.send(Ok("it is up".to_owned())).unwrap();
        gone.recv().unwrap();
        answer.send(tell(File::open("/etc/passwd"))).unwrap();
        // To end, a thread would need more rights than that.
        std::thread::park();
    });
    // A thread that is still coming up needs more rights than one that waits.
    answered.recv().unwrap().unwrap();
    THREAD.set(std::sync::Mutex::new((go, answered))).unwrap();
    let (mine, _theirs) = UnixStream::pair().unwrap();
    lockdown::script::lock(256 << 20, 60, mine.as_fd(), mine.as_fd()).unwrap();
    let attempt = REFUSED.iter().chain(ALLOWED).find(|attempt| attempt.name == name).unwrap();
    let line = match (attempt.attempt)(&mut before) {
        Ok(text) => format!("RESULT ok {text}\n"),
        Err(text) => format!("RESULT refused {text}\n"),
    };
    std::io::stdout().write_all(line.as_bytes()).unwrap();
    std::io::stdout().flush().unwrap();
    exit(0);
}

/// Makes the attempt in a process of its own; the line it says.
fn attempted(attempt: &Attempt) -> String {
    let mut victim = Command::new("sleep").arg("600").spawn().unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_locked_process_can_do_nothing_but_work", "--nocapture", "--test-threads=1"])
        .env(ATTEMPT, attempt.name)
        .env("LOCKED_WORKER_VICTIM", victim.id().to_string())
        .output()
        .unwrap();
    let lives = victim.try_wait().unwrap().is_none();
    victim.kill().unwrap();
    victim.wait().unwrap();
    assert!(lives, "{}: it killed another process", attempt.name);
    let stdout = String::from_utf8_lossy(&output.stdout);
    let line = stdout.lines().find_map(|line| line.split_once("RESULT ")).map(|(_, said)| said.to_owned());
    line.unwrap_or_else(|| format!("{}: {stdout}{}", output.status, String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn a_locked_process_can_do_nothing_but_work() {
    if let Ok(name) = std::env::var(ATTEMPT) {
        locked(&name);
    }
    let expected = REFUSED.iter().map(|attempt| (attempt, "refused ")).chain(ALLOWED.iter().map(|it| (it, "ok ")));
    let wrong: Vec<String> = expected
        .filter_map(|(attempt, word)| {
            let said = attempted(attempt);
            let is_right = said.starts_with(word) && (word == "ok " || said.contains("not permitted"));
            (!is_right).then(|| format!("{}: {said}", attempt.name))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // A lock that refuses everything would pass all of the above but this: the same attempts work without it.
    assert!(File::open("/etc/passwd").is_ok() && test_kill_process(getppid().unwrap()).is_ok());
}
