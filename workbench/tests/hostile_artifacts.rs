//! Artifacts that are made to break whoever reads them: judged by the real program, which has little memory, each by one
//! rule. A case is a line.
#![allow(clippy::unwrap_used, clippy::print_stderr)]
#![cfg(target_os = "linux")]

#[path = "support/limited.rs"]
mod limited;
#[path = "support/pictures.rs"]
mod pictures;
#[path = "support/pipe.rs"]
mod pipe;
#[path = "support/program.rs"]
mod program;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use image::ImageFormat::{Jpeg, Png};
use limited::{Results, is_root, sparse};
use pipe::pipe;
use serde_json::Value;

/// The evidence `e`, how the artifacts are made, the rule, and what stands beside it: whether it passed, and the beginning
/// of what it got; two with `|` where it depends on the machine which limit speaks first.
struct Case(&'static str, fn(&Path), &'static str, bool, &'static str);

const HTML: &str = "e = { html = 'f' }";
const JSON: &str = "e = { json = 'f' }";
const TEXT: &str = "e = { text = 'f' }";
const IMAGE: &str = "e = { image = 'f' }";
const FILE: &str = "e = { file = 'f' }";
const THERE: &str = "e is defined";
const MUCH: &str = "f has 500 MB; at most";

fn write(out: &Path, content: impl AsRef<[u8]>) {
    fs::write(out.join("f"), content).unwrap();
}

fn cut(bytes: &[u8], percent: usize) -> &[u8] {
    &bytes[..bytes.len() * percent / 100]
}

#[rustfmt::skip]
const CASES: &[Case] = &[
    // Length.
    Case(HTML, |out| sparse(&out.join("f"), 500), THERE, false, MUCH),
    Case(JSON, |out| sparse(&out.join("f"), 500), THERE, false, MUCH),
    Case(TEXT, |out| sparse(&out.join("f"), 500), THERE, false, MUCH),
    Case(IMAGE, |out| sparse(&out.join("f"), 500), THERE, false, MUCH),
    Case(FILE, |out| sparse(&out.join("f"), 500), "e.bytes == 524288000", true, "true"),
    Case(HTML, |out| write(out, vec![b'a'; 9 << 20]), THERE, false, "f has 9 MB; at most 8 MB are read"),
    Case(HTML, |out| write(out, ""), "e.title == '' and e.text == ''", true, "true"),
    Case(JSON, |out| write(out, ""), THERE, false, "f is not JSON: EOF while parsing a value"),
    Case(TEXT, |out| write(out, ""), "e == ''", true, "true"),
    Case(IMAGE, |out| write(out, ""), THERE, false, "f is no picture"),
    Case(FILE, |out| write(out, ""), "e.bytes == 0", true, "true"),
    // Pictures.
    Case(IMAGE, |out| write(out, pictures::png_claiming(60_000, 60_000, 8)), THERE, false,
        "f has 60000 x 60000 pixels, 10300 MB when decoded; at most 256 MB are read"),
    Case(IMAGE, |out| write(out, pictures::jpeg_claiming(60_000, 60_000)), THERE, false,
        "f has 60000 x 60000 pixels, 10300 MB when decoded; at most 256 MB are read"),
    Case(IMAGE, |out| write(out, pictures::png_claiming(8_000, 8_000, 16)), THERE, false,
        "f has 8000 x 8000 pixels, 367 MB when decoded; at most 256 MB are read"),
    Case(IMAGE, |out| write(out, pictures::png_claiming(9_000, 9_000, 8)), THERE, false,
        "f cannot be read as a picture: "),
    // As every viewer shows it: what lacks is grey.
    Case(IMAGE, |out| write(out, pictures::jpeg_claiming(9_000, 9_000)), "e.width == 9000", true, "true"),
    Case(IMAGE, |out| write(out, pictures::black(9_000, 9_000)), "e.width == 9000", true, "true"),
    Case(IMAGE, |out| write(out, pictures::png_with_pixels_for(2_000)), "e.width == 8", true, "true"),
    Case(IMAGE, |out| write(out, pictures::png_with_words_of(b"zTXt", 2_000)), "e.width == 8", true, "true"),
    Case(IMAGE, |out| write(out, pictures::png_with_words_of(b"iCCP", 2_000)), "e.width == 8", true, "true"),
    Case(IMAGE, |out| write(out, cut(&pictures::noise(Jpeg), 1)), THERE, false, "f cannot be read as a picture: "),
    Case(IMAGE, |out| write(out, cut(&pictures::noise(Jpeg), 50)), THERE, false, "f cannot be read as a picture: it is cut off"),
    Case(IMAGE, |out| write(out, cut(&pictures::noise(Jpeg), 99)), THERE, false, "f cannot be read as a picture: it is cut off"),
    Case(IMAGE, |out| write(out, cut(&pictures::noise(Png), 1)), THERE, false, "f cannot be read as a picture: "),
    Case(IMAGE, |out| write(out, cut(&pictures::noise(Png), 50)), THERE, false, "f cannot be read as a picture: "),
    Case(IMAGE, |out| write(out, cut(&pictures::noise(Png), 99)), THERE, false, "f cannot be read as a picture: "),
    Case("e = { image = 'f.jpg' }", |out| fs::write(out.join("f.jpg"), pictures::noise(Png)).unwrap(),
        "e.format == 'png'", true, "true"),
    Case("e = { image = 'f.jpg' }", |out| fs::write(out.join("f.jpg"), "<html>not found</html>").unwrap(), THERE, false,
        "f.jpg is no picture"),
    Case(IMAGE, |out| write(out, b"GIF89a\x01\0\x01\0\0\0\0;"), THERE, false, "f cannot be read as a picture: "),
    // Pages.
    Case(HTML, |out| write(out, "<div>".repeat(100_000)), THERE, false, "f has elements more than 256 deep"),
    Case(HTML, |out| write(out, (0..30_000).map(|n| format!("<p><b id={n}><i id={n}>")).collect::<String>()), THERE, false,
        "f has elements more than 256 deep"),
    Case(HTML, |out| write(out, "<br>".repeat(1_000_000)), THERE, false,
        "f has more than 400000 elements and texts|f is so made that it takes too long to parse"),
    Case(HTML, |out| write(out, format!("<p{}>", (0..1_000_000).map(|n| format!(" {n:x}")).collect::<String>())), THERE, false,
        "f is so made that it takes too long to parse"),
    Case(HTML, |out| write(out, format!("<!--{}", "-".repeat(1 << 20))), "e.text == ''", true, "true"),
    Case(HTML, |out| write(out, format!("{}{}", "<h1><div>".repeat(100), "x".repeat(1 << 20))), THERE, false,
        "f has elements within each other with more than 8 MB of text"),
    Case("e = { html = 'f', select = 'h1 ~ p' }", |out| write(out, "<p>".repeat(100_000)), THERE, false,
        "f is so made that it takes too long to "),
    Case("e = { html = 'f', select = 'div:has(a)' }", |out| write(out, "<p>".repeat(30_000)), THERE, false,
        "f has more than 20000 elements and texts, too many for `div:has(a)`"),
    Case("e = { html = 'f', select = 'p' }", |out| write(out, "<p>".repeat(10_001)), THERE, false,
        "f has more than 10000 elements that match `p`"),
    Case("e = { html = 'f', select = 'p', pattern = '(a|a)*(a*)*b' }",
        |out| write(out, format!("<p>{}", "a".repeat(1 << 20))), "e == []", true, "true"),
    Case("i = { html = 'f', select = 'img', attribute = 'src' }\ne = { image = '{{ item }}', each = 'i' }",
        |out| write(out, (0..1_001).map(|n| format!("<img src={n}.jpg>")).collect::<String>()), THERE, false,
        "`i` has 1001 items; at most 1000 are followed"),
    // JSON and text.
    Case(JSON, |out| write(out, "[".repeat(100_000)), THERE, false, "f is not JSON: recursion limit exceeded"),
    Case(JSON, |out| write(out, format!("[{}0]", "0,".repeat(4_000_000))), THERE, false,
        "f is not read: it would take some 496 MB of memory; at most 64 MB are spent on it"),
    Case(JSON, |out| write(out, br#"{"a": 1, "a": 2}"#), "e.a == 2", true, "true"),
    Case(JSON, |out| write(out, b"\"caf\xe9\""), THERE, false, "f is not JSON: invalid unicode code point"),
    Case(TEXT, |out| write(out, b"caf\xe9"), "e == 'caf\u{fffd}'", true, "true"),
    Case("i = { json = 'i' }\ne = { text = '{{ item }}', each = 'i' }", |out| {
        fs::write(out.join("i"), format!("[{}\"f\"]", "\"f\",".repeat(999))).unwrap();
        write(out, vec![b'a'; 4 << 20]);
    }, THERE, false, "937 of 1000 missing: f is not read: all evidence may take 256 MB of memory"),
    // What is made of it.
    Case("t = { text = 'f' }\ne = { value = '[t] * 1000' }", |out| write(out, "x".repeat(1 << 20)), THERE, false,
        "e is not kept: it is longer than 64 MB"),
    Case("n = { json = 'f' }\ne = { value = '[item] * 90000', each = 'n' }",
        |out| write(out, format!("[{}0]", "0,".repeat(999))), THERE, false,
        "978 of 1000 missing: e is not read: all evidence may take 256 MB of memory"),
    Case(TEXT, |out| write(out, "x".repeat(8 << 20)), "([e] * 1000)|join == ''", false,
        "`([e] * 1000)|join == ''`: it takes too many steps, or too much memory"),
    Case(TEXT, |out| write(out, "x".repeat(8 << 20)), "[e] * 1000", false,
        "`[e] * 1000`: must be true or false, but is "),
    // What is no file of the run.
    Case(TEXT, |out| symlink("/etc/hostname", out.join("f")).unwrap(), THERE, false,
        "f is a link that leaves the run's out/ and is not followed"),
    Case("e = { text = 'f/hostname' }", |out| symlink("/etc", out.join("f")).unwrap(), THERE, false,
        "f/hostname is a link that leaves the run's out/ and is not followed"),
    Case("e = { text = 'hostname' }", |out| { fs::remove_dir(out).unwrap(); symlink("/etc", out).unwrap() }, THERE, false,
        "hostname is not read: the run's out/ is a link, which may lead anywhere"),
    Case(TEXT, |out| symlink("f", out.join("f")).unwrap(), THERE, false, "f cannot be opened: Too many levels"),
    Case(TEXT, |out| symlink("nowhere", out.join("f")).unwrap(), THERE, false, "f is missing"),
    Case(TEXT, |out| { fs::write(out.join("g"), "g").unwrap(); symlink("g", out.join("f")).unwrap() }, "e == 'g'", true, "true"),
    Case(TEXT, |out| { fs::write(out.join("g"), "g").unwrap(); fs::hard_link(out.join("g"), out.join("f")).unwrap() },
        "e == 'g'", true, "true"),
    Case(TEXT, |out| pipe(&out.join("f")), THERE, false, "f is not a regular file"),
    Case(FILE, |out| pipe(&out.join("f")), THERE, false, "f is not a regular file"),
    Case(TEXT, |out| drop(UnixListener::bind(out.join("f")).unwrap()), THERE, false, "f is not a regular file"),
    Case(TEXT, |out| fs::create_dir(out.join("f")).unwrap(), THERE, false, "f is not a regular file"),
    Case(TEXT, |out| { fs::remove_dir(out).unwrap(); fs::write(out, "").unwrap() }, THERE, false, "f is missing"),
    Case(TEXT, |_| (), THERE, false, "f is missing"),
    Case("i = { json = 'i' }\ne = { text = '{{ item }}', each = 'i' }", |out| {
        fs::write(out.join("i"), format!("[\"{}\", \"a\\u0000b\", \"\", \"..\"]", "x".repeat(5_000))).unwrap();
    }, THERE, false, "4 of 4 missing: "),
    Case(TEXT, |out| {
        write(out, "here");
        (0..100_000).for_each(|n| drop(fs::File::create(out.join(n.to_string())).unwrap()));
    }, "e == 'here'", true, "true"),
];

#[test]
fn each_is_judged_in_bounded_memory_and_says_what_was_refused() {
    let results = Results::new();
    let mut wrong = Vec::new();
    for (number, Case(evidence, make, check, passes, got)) in CASES.iter().enumerate() {
        let folder = results.run(&number.to_string(), evidence, check);
        make(&folder.join("out"));
        if let Some(problem) = judged(&results, &[], &folder, *passes, got) {
            wrong.push(format!("{evidence}, {got}: {problem}"));
        }
        fs::remove_dir_all(folder).unwrap();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// What is wrong with the verdict over a run's one rule.
fn judged(results: &Results, around: &[&str], folder: &Path, passes: bool, got: &str) -> Option<String> {
    let outcome = results.workbench(around, &["verify", folder.to_str().unwrap(), "--format", "json"]);
    let verdict: Value = serde_json::from_str(&outcome.stdout).unwrap_or_default();
    let rule = &verdict["rules"][0];
    let status = if passes { "pass" } else { "fail" };
    let shown = rule["got"].as_str().map_or_else(|| rule["got"].to_string(), str::to_owned);
    let as_expected = outcome.code == i32::from(!passes)
        && rule["status"] == status
        && got.split('|').any(|got| shown.starts_with(got));
    (!as_expected).then(|| format!("{outcome:?}"))
}

#[test]
fn a_device_is_not_read() {
    let results = Results::new();
    let folder = results.run("device", TEXT, THERE);
    let made = Command::new("mknod").arg(folder.join("out/f")).args(["c", "1", "5"]).output().unwrap();
    if !made.status.success() {
        eprintln!("skipped: making a device node needs root: {}", String::from_utf8_lossy(&made.stderr));
        return;
    }
    assert_eq!(judged(&results, &[], &folder, false, "f is not a regular file"), None);
}

#[test]
fn what_may_not_be_read_fails_its_rule() {
    let results = Results::new();
    let folder = results.run("secret", TEXT, THERE);
    fs::write(folder.join("out/f"), "secret").unwrap();
    fs::set_permissions(folder.join("out/f"), fs::Permissions::from_mode(0o000)).unwrap();
    // Root reads everything, unless it gives that up.
    let without = "-dac_override,-dac_read_search";
    let setpriv = ["setpriv", "--bounding-set", without, "--inh-caps", without];
    let around: &[&str] = if is_root() { &setpriv } else { &[] };
    if is_root()
        && !Command::new(setpriv[0]).args(&setpriv[1..]).arg("true").status().is_ok_and(|status| status.success())
    {
        eprintln!("skipped: as root this needs `setpriv`");
        return;
    }
    assert_eq!(judged(&results, around, &folder, false, "f cannot be opened: Permission denied"), None);
}

/// Whatever length it had when it was looked at, no more than the limit is read.
#[test]
fn a_file_that_grows_is_read_up_to_the_limit() {
    let results = Results::new();
    let folder = results.run("growing", TEXT, THERE);
    let path = folder.join("out/f");
    fs::write(&path, "").unwrap();
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::SeqCst) {
                let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
                // Grows to more than is read, and begins again.
                (0..16).for_each(|_| file.write_all(&[b'a'; 1 << 20]).unwrap());
                file.set_len(0).unwrap();
            }
        });
        let fits = |outcome: program::Outcome| match outcome.code {
            0 => outcome.stdout.contains("pass"),
            code => code == 1 && outcome.stdout.contains("at most 8 MB are read"),
        };
        let all = (0..10).all(|_| fits(results.workbench(&[], &["verify", folder.to_str().unwrap()])));
        ended.store(true, Ordering::SeqCst);
        assert!(all);
    });
}
