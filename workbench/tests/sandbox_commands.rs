//! `workbench sandbox`: engines that cannot be used, the image, and what is left behind, through the real program.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/engine.rs"]
mod engine;
#[path = "support/program.rs"]
mod program;
#[path = "support/server.rs"]
mod server;
#[path = "support/tls.rs"]
mod tls;

use std::collections::HashMap;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use engine::{FakeSocket, SecondEngine, with_image, workbench};
use program::{Program, finish, workspace};
use serde_json::{Value, json};
use server::Server;
use workbench::sandbox::docker::image::tag;
use workbench::sandbox::docker::sweep::{LABEL, LABEL_HOST, LABEL_PROCESS, labels};

const OLD: &str = r#"{"Version":"19.03.15","ApiVersion":"1.40"}"#;
const OLD_ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-length: 42\r\n\r\n{\"Version\":\"19.03.15\",\"ApiVersion\":\"1.40\"}";

/// `sandbox clean` with these variables ends in 4, with these words and this hint.
#[track_caller]
fn is_refused(variables: &[(&str, &str)], words: &str, hint: &str) {
    let outcome = workbench(variables, &["sandbox", "clean"]);
    let (error, told_hint) = outcome.stderr.split_once("\nhint: ").unwrap_or((&outcome.stderr, ""));
    let is_told = error.starts_with("error: ") && error.contains(words) && told_hint.contains(hint);
    assert!(outcome.code == 4 && is_told && outcome.stdout.is_empty(), "{variables:?}: {words}, {hint}: {outcome:#?}");
}

#[test]
fn an_engine_that_cannot_be_used_is_told_with_a_way_on() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let abandoned = FakeSocket::abandoned();
    let talker = FakeSocket::start(b"SSH-2.0-OpenSSH_9.9\r\n");
    let mute = FakeSocket::start(b"");
    let page = Server::start(|_| server::answer(200, &["content-type: text/html"], b"<html>"));
    let empty = Server::start(|_| server::json("{}"));
    let failing = Server::start(|_| server::answer(503, &[], b"{\"message\":\"starting up\"}"));
    let old = Server::start(|_| server::json(OLD));
    let at = |server: &Server| format!("tcp://127.0.0.1:{}", server.port());
    let table = [
        (format!("tcp://{closed}"), "no container engine answers at tcp://127.0.0.1:", "or correct the variable"),
        ("unix:///nowhere/engine.sock".to_owned(), "there is no such socket", "or correct the variable"),
        (abandoned.address(), "Connection refused", "start it"),
        (talker.address(), "(of `DOCKER_HOST`) is no container engine that can be spoken to: ", "address is right"),
        (mute.address(), "is no container engine that can be spoken to: ", "address is right"),
        (at(&page), "is no container engine that can be spoken to: ", "whether the engine wants TLS"),
        (at(&empty), "is no container engine that can be spoken to: ", "address is right"),
        (at(&failing), "starting up", "address is right"),
        (at(&old), "is too old: version 19.03.15 (API 1.40)", "Docker 20.10 or newer"),
        ("ssh://me@far.example".to_owned(), "ssh is not spoken", "docker.sock me@far.example`, then `DOCKER_HOST="),
        ("127.0.0.1:2375".to_owned(), "`127.0.0.1:2375` (of `DOCKER_HOST`) has no scheme", "correct it"),
        ("npipe:////./pipe/docker_engine".to_owned(), "has a scheme that is not spoken here", "correct it"),
        ("unix://engine.sock".to_owned(), "is no absolute path", "correct it"),
        ("tcp://me@127.0.0.1/x".to_owned(), "is no host and port", "correct it"),
        ("https://127.0.0.1:2376".to_owned(), "set `DOCKER_TLS_VERIFY`", "correct it"),
    ];
    for (host, words, hint) in table {
        is_refused(&[("DOCKER_HOST", &host)], words, hint);
    }
}

/// Who waits for an engine learns that it hangs.
#[test]
fn an_engine_that_says_nothing_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = format!("tcp://{}", listener.local_addr().unwrap());
    is_refused(&[("DOCKER_HOST", &host)], "did not answer in 10 s", "docker version");
}

#[test]
fn a_socket_of_others_is_told_apart_from_none() {
    let socket = FakeSocket::start(b"");
    fs::set_permissions(socket.path(), fs::Permissions::from_mode(0o000)).unwrap();
    let mut command = Command::new("setpriv");
    if rustix::process::geteuid().is_root() {
        // Root may use every socket, unless it gives that up.
        command.args(["--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search"]);
    }
    command.args([env!("CARGO_BIN_EXE_workbench"), "sandbox", "clean"]).current_dir(workspace());
    let outcome = finish(command.env("DOCKER_HOST", socket.address()), "");
    let words = format!("error: this user may not use the container engine at {}", socket.address());
    assert!(outcome.code == 4 && outcome.stderr.starts_with(&words), "{outcome:#?}");
    assert!(outcome.stderr.contains("hint: become a member of the group docker"), "{outcome:#?}");
}

#[test]
fn tls_is_spoken_and_certificates_are_checked() {
    let good = format!("tcp://{}", tls::start("good", OLD_ANSWER));
    let other = format!("tcp://{}", tls::start("self-signed", OLD_ANSWER));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let with = |host: &str, words: &str, hint: &str| {
        is_refused(&[("DOCKER_HOST", host), ("DOCKER_TLS_VERIFY", "1"), ("DOCKER_CERT_PATH", path)], words, hint);
    };
    with(&good, "ca.pem, which is not there", "correct it");
    fs::copy(tls::fixtures().join("ca.pem"), folder.path().join("ca.pem")).unwrap();
    for name in ["cert.pem", "key.pem"] {
        with(&good, &format!("{name}, which is not there"), "correct it");
        // The server does not ask for them.
        fs::write(folder.path().join(name), "").unwrap();
    }
    with(&good, "with TLS (of `DOCKER_HOST`) is too old: version 19.03.15", "Docker 20.10 or newer");
    with(
        &other,
        "is no container engine that can be spoken to: invalid peer certificate",
        "whether the engine wants TLS",
    );
    is_refused(
        &[("DOCKER_HOST", &good)],
        "is no container engine that can be spoken to",
        "whether the engine wants TLS",
    );
}

/// As Docker Desktop and Colima tell where their engine is.
#[test]
fn a_docker_context_names_the_engine() {
    let old = FakeSocket::start(OLD_ANSWER);
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().to_str().unwrap();
    let with =
        |more: (&str, &str), words: &str, hint: &str| is_refused(&[("DOCKER_CONFIG", settings), more], words, hint);
    let of_context = "(of the docker context `desktop-linux`)";
    fs::write(folder.path().join("config.json"), "{\"currentContext\": ").unwrap();
    with(("TERM", ""), "config.json cannot be read: EOF", "correct it, or name the engine in `DOCKER_HOST`");
    fs::write(folder.path().join("config.json"), r#"{"currentContext": "desktop-linux", "auths": {}}"#).unwrap();
    with(("TERM", ""), "the docker context `desktop-linux` is in use, but there is none of that name", "correct it");
    // The folder's name is the digest of `desktop-linux`.
    let digest = "fe9c6bd7a66301f49ca9b6a70b217107cd1284598bfc254700c989b916da791e";
    let meta = folder.path().join("contexts/meta").join(digest);
    fs::create_dir_all(&meta).unwrap();
    let write = |host: &str| {
        let text =
            format!(r#"{{"Name":"desktop-linux","Metadata":{{}},"Endpoints":{{"docker":{{"Host":"{host}"}}}}}}"#);
        fs::write(meta.join("meta.json"), text).unwrap();
    };
    write("unix:///nowhere/engine.sock");
    with(("TERM", ""), &format!("/nowhere/engine.sock {of_context}: there is no such socket"), "`docker context use`");
    write(&old.address());
    with(("TERM", ""), &format!("{of_context} is too old"), "20.10");
    // What wins over it, and what it is when another is the current one.
    let other = FakeSocket::abandoned();
    with(("DOCKER_HOST", &other.address()), "(of `DOCKER_HOST`): Connection refused", "correct the variable");
    with(("DOCKER_CONTEXT", "colima"), "the docker context `colima` is in use, but", "correct it");
    fs::write(folder.path().join("config.json"), r#"{"currentContext": "default"}"#).unwrap();
    with(("DOCKER_CONTEXT", "desktop-linux"), &format!("{of_context} is too old"), "20.10");
}

/// It says `stopped` of a container that it has not tidied up after, and soon something that clients know.
#[test]
fn podman_is_given_time_to_tidy_up() {
    let podman = r#"{"Version":"4.3.1","ApiVersion":"1.41","Components":[{"Name":"Podman Engine","Version":"4.3.1"}]}"#;
    let containers =
        |state: &str| format!(r#"[{{"Id":"a","State":"{state}","Labels":{{"{LABEL_PROCESS}":"1:1:1"}}}}]"#);
    let asked = AtomicUsize::new(0);
    let server = Server::start(move |request| {
        let untidy = || asked.fetch_add(1, Ordering::SeqCst) < 2;
        let is_list = request.target.contains("/containers/json");
        match request.target.contains("/volumes") {
            true => server::json(r#"{"Volumes":[]}"#),
            false if is_list && untidy() => server::json(&containers("stopped")),
            false if is_list => server::json(&containers("exited")),
            false => server::json(podman),
        }
    });
    let host = format!("tcp://127.0.0.1:{}", server.port());
    let outcome = workbench(&[("DOCKER_HOST", &host)], &["sandbox", "clean"]);
    // It belongs to nobody of this machine.
    assert_eq!((outcome.code, outcome.stdout.as_str()), (0, "removed 0 containers and 0 volumes\n"), "{outcome:#?}");
}

#[test]
fn what_cannot_be_removed_keeps_nothing_else() {
    let dead = labels_with(&[(LABEL_PROCESS, &dead_process())]);
    let containers = ["stuck", "free"].map(|id| json!({"Id": id, "State": "exited", "Labels": &dead}));
    let containers = json!(containers).to_string();
    let server = Server::start(move |request| match request.method.as_str() {
        "DELETE" if request.target.contains("/stuck") => server::answer(500, &[], br#"{"message":"device is busy"}"#),
        "DELETE" => server::answer(204, &[], b""),
        _ if request.target.contains("/containers/json") => server::json(&containers),
        _ if request.target.contains("/volumes") => server::json(r#"{"Volumes":[]}"#),
        _ => server::json(r#"{"Version":"27.0.1","ApiVersion":"1.46"}"#),
    });
    let host = format!("tcp://127.0.0.1:{}", server.port());
    is_refused(&[("DOCKER_HOST", &host)], "the engine does not remove what is ours: ", "`workbench sandbox clean`");
    let is_removal = |id: &str| server.requests().iter().any(|one| one.method == "DELETE" && one.target.contains(id));
    assert!(is_removal("/stuck") && is_removal("/free"));
}

#[test]
fn the_status_of_a_machine_without_engine_is_no_failure() {
    let variables = [("DOCKER_HOST", "unix:///nowhere/engine.sock")];
    let text = workbench(&variables, &["sandbox", "status"]);
    assert_eq!(text.code, 0, "{text:#?}");
    let expected = "auto:       embedded: no container engine answers at unix:///nowhere/engine.sock (of `DOCKER_HOST`): \
                    there is no such socket\n            start it, or correct the variable\n";
    assert_eq!(text.stdout, expected);
    let json = workbench(&variables, &["sandbox", "status", "--format", "json"]);
    let status: Value = serde_json::from_str(&json.stdout).unwrap();
    assert!(json.code == 0 && status["engine"].is_null() && status["image"].is_null(), "{status:#}");
    assert_eq!(status["auto"], "embedded");
    let doctor = workbench(&variables, &["doctor"]);
    assert!(doctor.code == 0 && doctor.stdout.contains("\nunset:   container engine: no container engine answers at"));
}

#[test]
fn the_image_is_built_and_found() {
    let Some((_, image)) = with_image() else { return };
    let program = Program::new();
    let built = program.run(&["sandbox", "build", "--base", image["base"].as_str().unwrap()]);
    assert_eq!((built.code, built.stdout.trim()), (0, tag().as_str()), "{built:#?}");
    let steps: Vec<&str> = built.stderr.lines().collect();
    assert!(steps.len() > 5 && steps.iter().all(|line| line.starts_with("Step ")), "{steps:#?}");
    let status = program.json(&["sandbox", "status", "--format", "json"]);
    assert_eq!(status["auto"], "docker", "{status:#}");
    assert_eq!((&status["image"]["tag"], &status["image"]["base"]), (&tag().into(), &image["base"]));
    assert!(status["image"]["id"].as_str().unwrap().starts_with("sha256:"), "{status:#}");
    assert!(status["engine"]["runtimes"].as_array().unwrap().contains(&"runc".into()), "{status:#}");
    let text = program.run(&["sandbox", "status"]).stdout;
    let lines: Vec<&str> = text.lines().filter_map(|line| line.split(':').next()).collect();
    assert_eq!(lines[..5], ["engine", "runtimes", "containers", "volumes", "image"], "{text}");
    assert!(text.ends_with("auto:       docker: engine and image are there\n"), "{text}");
}

/// What a base must have is checked while the image is built, not when the first script runs.
#[test]
fn a_base_that_lacks_something_is_told() {
    let Some((engine, image)) = with_image() else { return };
    let base = image["base"].as_str().unwrap();
    let pythons = "/usr/bin/python3 /usr/local/bin/python3";
    let old = r##"printf '#!/bin/sh\n[ "$1" = --version ] && echo Python 3.8.1\nexit 1\n' > /usr/local/bin/python3"##;
    let table = [
        ("shell", "FROM scratch\nLABEL empty=yes".to_owned(), "/bin/sh"),
        ("python", format!("FROM {base}\nUSER 0\nRUN rm -f {pythons}"), "the base has no python3"),
        (
            "new-python",
            format!("FROM {base}\nUSER 0\nRUN rm -f {pythons}; {old}; chmod 755 /usr/local/bin/python3"),
            "the base has Python 3.8.1; Python 3.9 or newer is needed",
        ),
        ("timeout", format!("FROM {base}\nUSER 0\nRUN rm \"$(command -v timeout)\""), "the base has no timeout"),
    ];
    let before = Program::new().json(&["sandbox", "status", "--format", "json"])["image"].clone();
    for (name, dockerfile, words) in table {
        let made = engine.image(&format!("workbench-test-without-{name}"), &dockerfile);
        let outcome = Program::new().run(&["sandbox", "build", "--base", &made.name]);
        let start = format!("error: the image cannot be built from `{}`: ", made.name);
        let (_, error) = outcome.stderr.split_once(&start).unwrap_or_else(|| panic!("{name}: {outcome:#?}"));
        assert!(outcome.code == 4 && error.contains(words), "{name}: {outcome:#?}");
        assert!(error.contains("\nhint: ") && outcome.stdout.is_empty(), "{name}: {outcome:#?}");
    }
    // Nothing listens there, and nothing else is asked.
    let outcome = Program::new().run(&["sandbox", "build", "--base", "127.0.0.1:1/python:3.12-slim"]);
    assert!(outcome.code == 4 && outcome.stderr.contains("connection refused"), "{outcome:#?}");
    let after = Program::new().json(&["sandbox", "status", "--format", "json"])["image"].clone();
    assert_eq!(before, after, "a build that failed changes nothing");
}

/// Labels as this process makes them, but for what is given.
fn labels_with(changes: &[(&str, &str)]) -> HashMap<String, String> {
    let mut changed = labels("test");
    changed.extend(changes.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    changed
}

/// The label of this process, as if another process with its number had been started before it.
fn dead_process() -> String {
    let label = labels("test")[LABEL_PROCESS].clone();
    let mut parts: Vec<&str> = label.splitn(3, ':').collect();
    parts[1] = "1";
    parts.join(":")
}

#[test]
fn only_what_the_dead_of_this_machine_left_is_swept() {
    let Some((engine, image)) = with_image() else { return };
    let image = image["id"].as_str().unwrap();
    let dead = dead_process();
    // Whose it is, and whether `sandbox clean` leaves it.
    let table = [
        ("of a dead process", labels_with(&[(LABEL_PROCESS, &dead)]), false),
        ("of a living one", labels("test"), true),
        ("of another machine", labels_with(&[(LABEL_PROCESS, &dead), (LABEL_HOST, "elsewhere")]), true),
        ("of another version", labels_with(&[(LABEL_PROCESS, "a new kind of name")]), true),
        ("of somebody", HashMap::new(), true),
        ("of somebody with a label", HashMap::from([(LABEL.to_owned(), "mine".to_owned())]), true),
    ];
    let made = table
        .map(|(whose, labels, stays)| (whose, engine.container(image, labels.clone()), engine.volume(labels), stays));
    let status = Program::new().json(&["sandbox", "status", "--format", "json"]);
    let outcome = Program::new().run(&["sandbox", "clean"]);
    let left = made.map(|(whose, container, volume, stays)| {
        (whose, engine.take_container(&container), engine.take_volume(&volume), stays)
    });
    assert!(outcome.code == 0 && outcome.stdout.starts_with("removed "), "{outcome:#?}");
    for (whose, container, volume, stays) in left {
        assert_eq!((container, volume), (stays, stays), "{whose}: {outcome:#?}");
    }
    for count in [&status["engine"]["containers"], &status["engine"]["volumes"]] {
        assert!(count["in_use"].as_u64() >= Some(1) && count["elsewhere"].as_u64() >= Some(2), "{status:#}");
    }
}

/// An engine that may be on another machine, with nothing in it.
#[test]
fn a_remote_engine_is_asked_in_the_same_way() {
    let Some(second) = SecondEngine::start() else { return };
    let variables = [("DOCKER_HOST", second.address.as_str())];
    let run = |arguments: &[&str]| workbench(&variables, &[&["sandbox"], arguments].concat());
    let status: Value = serde_json::from_str(&run(&["status", "--format", "json"]).stdout).unwrap();
    assert_eq!((&status["engine"]["remote"], &status["auto"]), (&true.into(), &"embedded".into()), "{status:#}");
    assert_eq!(status["reason"], format!("the engine has no image `{}`, which scripts run in", tag()));
    assert_eq!(status["hint"], "build it: `workbench sandbox build`");

    let image = second.engine.image("workbench-test-empty", "FROM scratch\nLABEL empty=yes");
    let ours = [labels("test"), labels_with(&[(LABEL_HOST, "elsewhere")])];
    let ours = ours.map(|labels| (second.engine.container(&image.name, labels.clone()), second.engine.volume(labels)));
    let theirs = second.engine.container(&image.name, HashMap::new());
    assert_eq!(run(&["clean"]).stdout, "removed 0 containers and 0 volumes\n");
    let status = run(&["status"]).stdout;
    for what in ["containers: ", "volumes:    "] {
        assert!(status.contains(&format!("{what}1 in use, 0 left behind, 1 of other machines or users\n")), "{status}");
    }
    assert_eq!(run(&["clean", "--all"]).stdout, "removed 2 containers and 2 volumes\n");
    for (container, volume) in &ours {
        assert!(!second.engine.take_container(container) && !second.engine.take_volume(volume));
    }
    assert!(second.engine.take_container(&theirs), "it was nobody's of ours");
}
