//! File names from a model: whatever it writes, the file lies in `out/` under a plain name, and no file is lost.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use workbench::artifacts::{OutFolder, safe_file_name};

/// Bytes of a name in `out/`: 100, a number behind them, a dot and an extension.
const LONGEST: usize = 112;

/// Words that models and attackers write.
const WORDS: &[&str] = &[
    "cat",
    "Cat",
    "CAT",
    "e\u{301}",
    "\u{e9}",
    "ß",
    "ss",
    "猫",
    "\u{1f408}",
    "con",
    "NUL",
    "LPT1",
    "com\u{b9}",
    ".",
    "..",
    "/",
    "\\",
    "-",
    "_",
    " ",
    "~",
    "%2f",
    "%2e%2e",
    "\0",
    "\n",
    "\r",
    "\u{1b}[2J",
    "\u{202e}",
    "\u{200f}",
    "\u{feff}",
    ".jpg",
    ".html",
    ".1",
    "1",
    "out/",
    "run.json",
    ".saving-",
    "C:",
    ":",
    "*",
    "?",
    "\"",
    "<",
    "|",
    "unnamed",
    "_file",
    "-2",
];

/// What names are made of: these words, and any text.
fn name() -> impl Strategy<Value = String> {
    let word = select(WORDS).prop_map(str::to_owned);
    vec(prop_oneof![4 => word, 1 => any::<String>()], 0..6).prop_map(|words| words.concat())
}

const EXTENSIONS: &[&str] = &["jpg", "html", "", ".png", "../x", "J\0P"];

fn extension() -> impl Strategy<Value = String> {
    prop_oneof![select(EXTENSIONS).prop_map(str::to_owned), any::<String>()]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_name_is_plain(name in name(), extension in extension()) {
        let safe = safe_file_name(&name, &extension);
        let (stem, end) = safe.rsplit_once('.').unwrap();
        prop_assert!(safe.len() <= LONGEST, "{safe:?} is long");
        prop_assert!(stem.chars().all(|letter| letter.is_alphanumeric() || "-_".contains(letter)), "{safe:?}");
        prop_assert!(!stem.is_empty() && !stem.starts_with(['-', '_']), "{safe:?}");
        prop_assert!((1..=5).contains(&end.len()) && end.chars().all(|letter| letter.is_ascii_alphanumeric()), "{safe:?}");
        prop_assert_eq!(&safe_file_name(&safe, &extension), &safe, "made again");
        prop_assert_eq!(&safe_file_name(&format!("../{name}"), &extension), &safe, "from elsewhere");
    }

    /// Each name finds what was saved by it last, whatever was saved by others.
    #[test]
    fn no_file_is_lost(names in vec(name(), 1..12)) {
        let folder = tempfile::tempdir().unwrap();
        let out = OutFolder::new(folder.path().join("out"));
        let mut contents = BTreeMap::new();
        for (number, name) in names.iter().enumerate() {
            let content = number.to_string().into_bytes();
            let file = out.save(name, "jpg", &content).unwrap().file;
            contents.insert(file.clone(), content);
            prop_assert_eq!(out.saved(name, "jpg").map(|saved| saved.file), Some(file), "{:?} is found", name);
        }
        for (file, content) in &contents {
            prop_assert_eq!(&out.read(file, 100).unwrap(), content, "{} by the name that was told", file);
            let path = folder.path().join(file);
            prop_assert_eq!(&fs::read(&path).unwrap(), content);
            prop_assert!(path.file_name().unwrap().len() <= LONGEST);
        }
        let there = fs::read_dir(out.path()).unwrap().count();
        prop_assert_eq!(there, contents.len(), "all of them lie in out/, and nothing else");
        let folded: Vec<String> = contents.keys().map(|file| file.to_uppercase().to_lowercase()).collect();
        for (number, one) in folded.iter().enumerate() {
            prop_assert!(!folded[..number].contains(one), "{one} twice on a system that does not look at case");
        }
    }
}

/// Names that collide, and the files they get, in this order.
#[test]
fn names_that_collide_get_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let out = OutFolder::new(folder.path());
    let long = |end: &str| format!("{}{end}", "x".repeat(5000));
    let cases = [
        ("Cats vs. Dogs", "out/Cats_vs_Dogs.jpg"),
        ("Cats vs Dogs", "out/Cats_vs_Dogs-2.jpg"),
        ("cats vs dogs", "out/cats_vs_dogs-3.jpg"),
        ("Cats vs. Dogs", "out/Cats_vs_Dogs.jpg"),
        ("Cats vs Dogs.jpg", "out/Cats_vs_Dogs-2.jpg"),
        ("out/Cats_vs_Dogs-2.jpg", "out/Cats_vs_Dogs-2.jpg"),
        ("../Cats vs Dogs", "out/Cats_vs_Dogs-2.jpg"),
        ("Cats vs Dogs.png", "out/Cats_vs_Dogs-4.jpg"),
        ("strasse", "out/strasse.jpg"),
        ("stra\u{df}e", "out/stra\u{df}e-2.jpg"),
        ("caf\u{e9}", "out/caf\u{e9}.jpg"),
        ("cafe\u{301}", "out/caf\u{e9}.jpg"),
        ("CON", "out/CON_file.jpg"),
        ("con", "out/con_file-2.jpg"),
        ("", "out/unnamed.jpg"),
        ("\u{1f408}", "out/unnamed-2.jpg"),
    ];
    for (number, (name, file)) in cases.iter().enumerate() {
        assert_eq!(out.save(name, "jpg", number.to_string().as_bytes()).unwrap().file, *file, "{name:?}");
    }
    let [one, other] = ["a", "b"].map(|end| out.save(&long(end), "jpg", b"").unwrap().file);
    assert_eq!((one.len(), other), ("out/".len() + 104, one.replace(".jpg", "-2.jpg")));
    assert_eq!(out.saved("Cats vs; Dogs", "jpg"), None, "this one was never saved");
    assert_eq!(out.save("Cats vs. Dogs", "html", b"").unwrap().file, "out/Cats_vs_Dogs.html", "a page is no picture");
}
