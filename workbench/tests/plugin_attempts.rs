//! What a plugin may not do: a row an attempt, made in a worker by a plugin in Rust or by a bare system call.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

#[path = "support/faulty.rs"]
mod faulty;

use std::fs;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::process::{Child, Command};
use std::thread;

use faulty::{Faulty, Host, call_with, number, number_of, start};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};
use serde_json::json;
use workbench::lockdown;
use workbench::plugin::{CallOutcome, PluginClient};

const LONG: u64 = 60;

/// What a plugin in Rust tries, and on what; `{folder}` is the folder its `out/` is in, `{host}` this process.
const REFUSED: &[(&str, &str)] = &[
    ("read", "/etc/passwd"),
    ("read", "/proc/{host}/environ"),
    ("read", "/proc/{host}/mem"),
    ("read", "/proc/self/maps"),
    ("read", "{folder}/other-run/out/1.jpg"),
    ("read", "{folder}/out/there.jpg"),
    ("list", "/"),
    ("list", "{folder}"),
    ("write", "{folder}/beside.txt"),
    ("write", "{folder}/out/../beside.txt"),
    ("write", "{folder}/other-run/out/1.jpg"),
    ("write", "{folder}/libfaulty.so"),
    ("write", "{folder}/out/link/1.jpg"),
    ("write", "/dev/null"),
    ("make_folder", "{folder}/folder"),
    ("remove", "{folder}/other-run/out/1.jpg"),
    ("rename_to", "{folder}/other-run/out/2.jpg"),
    ("link_to", "{folder}/out/hard"),
    ("symbolic_link_to", "{folder}/out/soft"),
    ("connect_tcp", "{tcp}"),
    ("listen_tcp", "127.0.0.1:0"),
    ("open_udp", "127.0.0.1:0"),
    ("connect_unix", "{folder}/engine.sock"),
    ("listen_unix", "{folder}/out/own.sock"),
    ("open_unix", ""),
    ("start", "true"),
    ("start", "/bin/sh"),
];

const ALLOWED: &[(&str, &str)] = &[
    ("write", "{folder}/out/1.txt"),
    ("write", "out/2.txt"),
    ("make_folder", "out/folder"),
    ("write", "out/folder/3.txt"),
    ("rename_to", "out/4.txt"),
    ("remove", "out/4.txt"),
    ("start_thread", "worker"),
];

/// Whether the kernel lacks what a test is about, which it then says.
fn lacks(protection: &str) -> bool {
    let active = lockdown::of_plugin_workers().iter().any(|known| known.name == protection && known.active);
    if !active {
        eprintln!("skipped: this system has no {protection}");
    }
    !active
}

#[tokio::test]
async fn a_plugin_writes_to_its_out_folder_and_does_nothing_else() {
    if lacks("file rules") {
        return;
    }
    let faulty = Faulty::built().await;
    let folder = faulty.folder();
    fs::create_dir_all(folder.join("other-run/out")).unwrap();
    for file in ["other-run/out/1.jpg", "out/there.jpg"] {
        fs::write(folder.join(file), "picture").unwrap();
    }
    std::os::unix::fs::symlink(folder.join("other-run/out"), folder.join("out/link")).unwrap();
    let _engine = UnixListener::bind(folder.join("engine.sock")).unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let fill = |target: &str| {
        target
            .replace("{folder}", folder.to_str().unwrap())
            .replace("{host}", &std::process::id().to_string())
            .replace("{tcp}", &tcp.local_addr().unwrap().to_string())
    };

    let client = faulty.client(LONG, &Host::letting_through(0)).await;
    for in_thread in [false, true] {
        for (deed, target) in REFUSED {
            let said = attempt(&client, deed, &fill(target), in_thread).await;
            assert_eq!(said, "permission denied", "{deed} {target} {in_thread}");
        }
    }
    for (deed, target) in ALLOWED {
        assert_eq!(attempt(&client, deed, &fill(target), false).await, "done", "{deed} {target}");
    }

    let mut left: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["engine.sock", "libfaulty.so", "other-run", "out"]);
    assert_eq!(fs::read(folder.join("out/folder/3.txt")).unwrap(), b"mine");
    let others: Vec<_> =
        fs::read_dir(folder.join("other-run/out")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(others, [folder.join("other-run/out/1.jpg")]);
    assert_eq!(fs::read(&others[0]).unwrap(), b"picture");
}

/// A domain's tools may be looked at where there is no run: then nothing can be written.
#[tokio::test]
async fn without_an_out_folder_nothing_is_written() {
    if lacks("file rules") {
        return;
    }
    let faulty = Faulty::built().await;
    let out = faulty.folder().join("out");
    fs::remove_dir(&out).unwrap();
    let client = faulty.client(LONG, &Host::letting_through(0)).await;
    for target in ["out/1.txt", "1.txt", "../1.txt"] {
        assert_ne!(attempt(&client, "write", target, false).await, "done", "{target}");
    }
    fs::create_dir(&out).unwrap();
    assert_eq!(attempt(&client, "write", "out/1.txt", false).await, "permission denied");
}

async fn attempt(client: &PluginClient, deed: &str, target: &str, in_thread: bool) -> String {
    let arguments = json!({"deed": deed, "target": target, "in_thread": in_thread}).to_string();
    match call_with(client, "attempt", &arguments).await {
        CallOutcome::Answer(body) => serde_json::from_slice(&body).unwrap(),
        other => panic!("{deed} {target}: {other:?}"),
    }
}

/// A process that a plugin must not disturb; ended with the test.
struct Bystander(Child);

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// System calls that are answered with `EPERM`, whatever their arguments; `pid` is a bystander.
fn forbidden(pid: u64) -> Vec<(&'static str, i64, [u64; 6])> {
    use libc::*;
    let kill = SIGKILL as u64;
    vec![
        ("a process", SYS_clone, [SIGCHLD as u64, 0, 0, 0, 0, 0]),
        #[cfg(target_arch = "x86_64")]
        ("a process", SYS_fork, [0; 6]),
        #[cfg(target_arch = "x86_64")]
        ("a process", SYS_vfork, [0; 6]),
        ("a program", SYS_execve, [0; 6]),
        ("a program", SYS_execveat, [0; 6]),
        ("a trace", SYS_ptrace, [PTRACE_ATTACH as u64, pid, 0, 0, 0, 0]),
        ("another's memory", SYS_process_vm_readv, [pid, 0, 0, 0, 0, 0]),
        ("another's memory", SYS_process_vm_writev, [pid, 0, 0, 0, 0, 0]),
        ("a signal", SYS_kill, [pid, 0, 0, 0, 0, 0]),
        ("a signal", SYS_kill, [pid, kill, 0, 0, 0, 0]),
        ("a signal", SYS_tkill, [pid, kill, 0, 0, 0, 0]),
        ("a signal", SYS_tgkill, [pid, pid, kill, 0, 0, 0]),
        ("a signal", SYS_rt_sigqueueinfo, [pid, kill, 0, 0, 0, 0]),
        ("a signal", SYS_pidfd_open, [pid, 0, 0, 0, 0, 0]),
        ("a signal by input", SYS_fcntl, [3, F_SETOWN as u64, pid, 0, 0, 0]),
        ("a signal by input", SYS_fcntl, [3, F_SETFL as u64, O_ASYNC as u64, 0, 0, 0]),
        ("a signal by input", SYS_ioctl, [3, 0x8901, 0, 0, 0, 0]),
        ("a socket", SYS_socket, [AF_INET as u64, SOCK_STREAM as u64, 0, 0, 0, 0]),
        ("a socket", SYS_socket, [AF_NETLINK as u64, SOCK_RAW as u64, 0, 0, 0, 0]),
        ("a socket", SYS_socketpair, [AF_UNIX as u64, SOCK_STREAM as u64, 0, 0, 0, 0]),
        ("a descriptor over the channel", SYS_sendmsg, [3, 0, 0, 0, 0, 0]),
        ("a descriptor over the channel", SYS_recvmsg, [3, 0, 0, 0, 0, 0]),
        ("a ring", SYS_io_uring_setup, [1, 0, 0, 0, 0, 0]),
        #[cfg(target_arch = "x86_64")]
        ("own limits", SYS_setrlimit, [RLIMIT_AS as u64, 1, 0, 0, 0, 0]),
        ("own limits", SYS_prlimit64, [0, RLIMIT_AS as u64, 1, 0, 0, 0]),
        ("own limits", SYS_setpriority, [0; 6]),
        ("own survival", SYS_prctl, [PR_SET_PDEATHSIG as u64, 0, 0, 0, 0, 0]),
        ("another filter", SYS_seccomp, [0; 6]),
        ("another filter", SYS_prctl, [PR_SET_SECCOMP as u64, 2, 0, 0, 0, 0]),
        ("a file without a name", SYS_memfd_create, [0; 6]),
        ("a namespace", SYS_unshare, [CLONE_NEWUSER as u64, 0, 0, 0, 0, 0]),
        ("a namespace", SYS_setns, [0; 6]),
        ("a mount", SYS_mount, [0; 6]),
        ("a mount", SYS_open_tree, [0; 6]),
        ("a root", SYS_chroot, [0; 6]),
        ("a folder", SYS_chdir, [0; 6]),
        ("rights of a file", SYS_fchmodat, [0; 6]),
        ("owner of a file", SYS_fchownat, [0; 6]),
        ("length of a file", SYS_truncate, [0; 6]),
        ("a link", SYS_linkat, [0; 6]),
        ("a link", SYS_symlinkat, [0; 6]),
        ("a device", SYS_mknodat, [0; 6]),
        ("the kernel", SYS_bpf, [0; 6]),
        ("the kernel", SYS_perf_event_open, [0; 6]),
        ("the kernel", SYS_userfaultfd, [0; 6]),
        ("the kernel", SYS_keyctl, [0; 6]),
        ("the kernel", SYS_init_module, [0; 6]),
        ("the clock", SYS_settimeofday, [0; 6]),
        ("a call the kernel may get one day", 100_000, [0; 6]),
        #[cfg(target_arch = "x86_64")]
        ("the same call by its other number", 0x4000_0000 + SYS_getpid, [0; 6]),
    ]
}

#[tokio::test]
async fn system_calls_that_no_plugin_needs_are_refused() {
    if lacks("system-call filter") {
        return;
    }
    let bystander = Bystander(Command::new("sleep").arg("1000").spawn().unwrap());
    let pid = u64::from(bystander.0.id());
    let faulty = Faulty::compiled(&[]);
    let client = faulty.client(LONG, &Host::letting_through(0)).await;
    let process = number(&client, "process").await;
    let numbers = |numbers: &[u64]| numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
    for (aim, call, arguments) in forbidden(pid) {
        let text = numbers(&[&[call.unsigned_abs()][..], &arguments].concat());
        assert_eq!(number_of(&client, "raw", &text).await, i64::from(libc::EPERM), "{aim}: system call {text}");
    }
    // Its flags are out of the filter's sight: the C library takes it for missing, and `clone` instead.
    let clone3 = numbers(&[libc::SYS_clone3.unsigned_abs(), 0, 0]);
    assert_eq!(number_of(&client, "raw", &clone3).await, i64::from(libc::ENOSYS));
    // What it asks of itself is its own affair: signal 0 to itself.
    let itself = numbers(&[libc::SYS_tgkill.unsigned_abs(), process.unsigned_abs(), process.unsigned_abs(), 0]);
    assert_eq!(number_of(&client, "raw", &itself).await, 0);
    assert_eq!(number(&client, "process").await, process, "it lives");
    let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    assert!(state.contains(") S "), "the bystander neither stopped nor died: {state}");
}

#[tokio::test]
async fn constructors_are_locked_too_and_no_library_is_loaded_from_out() {
    if lacks("file rules") {
        return;
    }
    let faulty = Faulty::compiled(&[]);
    let copy = faulty.folder().join("out/libcopy.so");
    fs::copy(faulty.library(), &copy).unwrap();
    let beside = faulty.folder().join("libbeside.so.1");
    fs::copy(faulty.library(), &beside).unwrap();
    let client = faulty.client(LONG, &Host::letting_through(0)).await;
    assert_eq!(number(&client, "early").await, i64::from(libc::EACCES));
    for (library, loads) in [(copy.to_str().unwrap(), 0), (beside.to_str().unwrap(), 1), ("libm.so.6", 1)] {
        assert_eq!(number_of(&client, "load", library).await, loads, "{library}");
    }
}

/// A library that a plugin links, beside it or elsewhere.
#[tokio::test]
async fn a_library_that_is_linked_lies_beside_or_with_the_system() {
    if lacks("file rules") {
        return;
    }
    let host = Host::letting_through(0);
    let linked = Faulty::compiled(&["-DWITHOUT_CALL", "-Dworkbench_free=other", "-Wl,-soname,libfaulty.so"]);
    let elsewhere = linked.folder().display();
    let search = [format!("-L{elsewhere}"), format!("-Wl,-rpath,$ORIGIN:{elsewhere}")];
    let plugin = Faulty::compiled(&[&search[0], &search[1], "-Wl,--no-as-needed", "-l:libfaulty.so"]);
    // Two libraries of one name are one to the loader.
    let library = plugin.folder().join("libplugin.so");
    fs::rename(plugin.library(), &library).unwrap();

    let error = start(&library, LONG, &host).await.err().unwrap().to_string();
    assert!(error.ends_with("; a plugin may link libraries of the system and those beside it"), "{error}");
    fs::copy(linked.library(), plugin.library()).unwrap();
    let link = plugin.folder().join("liblink.so");
    std::os::unix::fs::symlink(&library, &link).unwrap();
    for library in [library, link] {
        let client = start(&library, LONG, &host).await.unwrap();
        assert_eq!(number(&client, "answer").await, 1, "{}", library.display());
    }
}

/// Does something in a thread to which the kernel does not know a system call; nor is it known to what that starts.
fn without<T: Send>(call: i64, work: impl FnOnce() -> T + Send) -> T {
    let unknown = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let machine = std::env::consts::ARCH.try_into().unwrap();
    let filter = SeccompFilter::new([(call, vec![])].into(), SeccompAction::Allow, unknown, machine).unwrap();
    let filter: BpfProgram = filter.try_into().unwrap();
    let confined = || {
        apply_filter(&filter).unwrap();
        work()
    };
    thread::scope(|scope| scope.spawn(confined).join().unwrap())
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

#[test]
fn a_kernel_without_file_rules_runs_plugins_under_the_rest_and_the_doctor_says_so() {
    if lacks("system-call filter") {
        return;
    }
    let faulty = Faulty::compiled(&[]);
    let host = Host::letting_through(0);
    without(libc::SYS_landlock_create_ruleset, || {
        block_on(async {
            let client = faulty.client(LONG, &host).await;
            assert_eq!(number(&client, "early").await, 0, "files can be read");
            let socket = format!("{} {} {}", libc::SYS_socket, libc::AF_INET, libc::SOCK_STREAM);
            assert_eq!(number_of(&client, "raw", &socket).await, i64::from(libc::EPERM));
        });
        let doctor = Command::new(env!("CARGO_BIN_EXE_workbench")).arg("doctor").output().unwrap();
        let said = String::from_utf8(doctor.stdout).unwrap();
        for rules in ["file rules", "network and signal rules"] {
            let line = format!("weaker:  plugin workers, {rules}: this system has none, so nothing keeps them from ");
            assert!(said.contains(&line), "{said}");
        }
    });
}

/// Where the system has a filter, a worker without it is none.
#[test]
fn a_lock_that_fails_starts_no_plugin() {
    if lacks("system-call filter") {
        return;
    }
    let faulty = Faulty::compiled(&[]);
    let host = Host::letting_through(0);
    let error =
        without(libc::SYS_seccomp, || block_on(start(&faulty.library(), LONG, &host))).err().unwrap().to_string();
    assert!(error.contains("did not start: called exit(70); its last words: plugin worker: "), "{error}");
}
