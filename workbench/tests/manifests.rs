//! Manifests: what a wrong one is told (a file a case in `manifests/`), what is tolerated, and that
//! the committed JSON schema says what the types say.

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/folder.rs"]
mod folder;
#[path = "support/schema.rs"]
mod schema;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use folder::DomainFolder;
use serde::de::DeserializeOwned;
use workbench::domain::declared::{self, Argument, ContactSheet, DeclaredTool, Download, SaveText};
use workbench::domain::manifest::{
    ApiSection, DomainSection, Evidence, Limits, Manifest, Pace, Probe, Rule, TaskSection,
};
use workbench::domain::{Domain, ManifestError, Workspace};

const MINIMAL: &str =
    "[domain]\nname = \"case\"\ntitle = \"Case\"\nplugin = \"case\"\n\n[task]\npersona = \"You help.\"\n";

fn folder_of_tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

#[test]
fn a_wrong_manifest_is_told_file_line_and_nearest_name() {
    let mut cases: Vec<PathBuf> =
        fs::read_dir(folder_of_tests().join("manifests")).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    cases.sort();
    assert!(cases.len() > 40, "the cases are not where they should be");
    let mut accepted = Vec::new();
    for case in cases {
        let folder = DomainFolder::of_bytes(&fs::read(&case).unwrap());
        let Err(error) = folder.load() else {
            accepted.push(case);
            continue;
        };
        let text = error.to_string().replace(&folder.path().display().to_string(), "");
        let name = case.file_stem().unwrap().to_string_lossy().into_owned();
        insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "manifests/told", omit_expression => true }, {
            insta::assert_snapshot!(name, text);
        });
    }
    assert!(accepted.is_empty(), "these were accepted: {accepted:#?}");
}

#[test]
fn byte_order_marks_and_carriage_returns_are_tolerated() {
    let plain = DomainFolder::new(MINIMAL);
    fs::write(plain.domain().join("prompt.md"), "Do it.\nWell.\n").unwrap();
    let windows = DomainFolder::new(&format!("\u{feff}{}", MINIMAL.replace('\n', "\r\n")));
    fs::write(windows.domain().join("prompt.md"), "\u{feff}Do it.\r\nWell.\r\n").unwrap();

    let (plain, windows) = (plain.load().unwrap(), windows.load().unwrap());

    assert_eq!(plain.manifest, windows.manifest);
    assert_eq!(plain.prompt.as_deref(), Some("Do it.\nWell.\n"));
    assert_eq!(plain.prompt, windows.prompt);
}

#[test]
fn hosts_may_have_ports() {
    for (base, hosts) in [
        ("https://api.example:8443/v1", "'api.example:8443', 'images.example'"),
        ("https://api.example/v1", "'API.example:443'"),
        ("http://127.0.0.1:8099", "'127.0.0.1:8099'"),
        ("https://[::1]:8443", "'[::1]:8443'"),
    ] {
        let manifest = format!("{MINIMAL}\n[api]\nbase = '{base}'\nhosts = [{hosts}]\n");
        let folder = DomainFolder::new(&manifest);
        fs::write(folder.domain().join("prompt.md"), "Do it.").unwrap();
        folder.load().unwrap();
        let document = serde_json::to_value(toml::from_str::<toml::Table>(&manifest).unwrap()).unwrap();
        assert_eq!(schema::problems(&schema::committed(), &document), Vec::<String>::new(), "{base}");
    }
}

#[test]
fn a_domain_shows_what_its_folder_holds() {
    let folder = DomainFolder::new(&format!("{MINIMAL}prompt = \"Do it.\"\n"));
    let bare = folder.load().unwrap();
    assert_eq!((&bare.cassette, &bare.rehearsal, &bare.smoke), (&None, &None, &None));

    fs::create_dir_all(folder.domain().join("rehearsal/code")).unwrap();
    fs::create_dir(folder.domain().join("cassette")).unwrap();
    for file in ["rehearsal/loop.py", "rehearsal/code/1.py", "rehearsal/code/2.py", "rehearsal/code/4.py"] {
        fs::write(folder.domain().join(file), "").unwrap();
    }
    for file in ["cassette/index.jsonl", "smoke.py"] {
        fs::write(folder.domain().join(file), "").unwrap();
    }
    let full = folder.load().unwrap();
    assert_eq!(full.cassette, Some(folder.domain().join("cassette")));
    assert_eq!(full.smoke, Some(folder.domain().join("smoke.py")));
    let rehearsal = full.rehearsal.unwrap();
    assert_eq!(rehearsal.loop_script, Some(folder.domain().join("rehearsal/loop.py")));
    assert_eq!(
        rehearsal.code_scripts,
        [1, 2].map(|number| folder.domain().join(format!("rehearsal/code/{number}.py")))
    );
    assert_eq!(full.prompt.as_deref(), Some("Do it."));
}

#[test]
fn a_domain_is_found_by_name_and_by_path() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("Cargo.toml"), "").unwrap();
    for name in ["cats", "dogs", "no-manifest"] {
        fs::create_dir_all(root.path().join("domains").join(name)).unwrap();
    }
    for name in ["cats", "dogs"] {
        let manifest = MINIMAL.replace("case", name) + "prompt = \"Do it.\"\n";
        fs::write(root.path().join("domains").join(name).join("domain.toml"), manifest).unwrap();
    }
    let inside = root.path().join("domains/cats");
    let workspace = Workspace::discover(&inside);
    assert_eq!(workspace.root(), root.path());
    assert_eq!(workspace.domains(), ["cats", "dogs"]);
    assert_eq!(Domain::find("cats", &workspace).unwrap().name(), "cats");
    let path = root.path().join("domains/dogs");
    for path in [path.clone(), path.join("domain.toml")] {
        assert_eq!(Domain::find(&path.display().to_string(), &workspace).unwrap().name(), "dogs");
    }

    let told = |name: &str| Domain::find(name, &workspace).unwrap_err().to_string();
    assert_eq!(told("cat"), "there is no domain `cat` (there are: cats, dogs); did you mean `cats`?");
    assert_eq!(told("zebra"), "there is no domain `zebra` (there are: cats, dogs)");
    assert!(matches!(Domain::find("./nosuch", &workspace), Err(ManifestError::Unreadable { .. })));

    let nowhere = tempfile::tempdir().unwrap();
    let workspace = Workspace::discover(nowhere.path());
    assert_eq!(workspace.results(), nowhere.path().join("results"));
    assert!(
        Domain::find("cats", &workspace)
            .unwrap_err()
            .to_string()
            .starts_with("there is no domain `cats`: start the workbench inside")
    );
}

#[test]
fn every_domain_loads_and_fits_the_schema() {
    let schema = schema::committed();
    let root = folder_of_tests();
    let mut count = 0;
    for folder in [root.join("../../domains"), root.join("domains")] {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let folder = entry.unwrap().path();
            let domain = Domain::load(&folder).unwrap_or_else(|error| panic!("{error}"));
            let text = fs::read_to_string(folder.join("domain.toml")).unwrap();
            let document = serde_json::to_value(toml::from_str::<toml::Table>(&text).unwrap()).unwrap();
            assert_eq!(schema::problems(&schema, &document), Vec::<String>::new(), "{}", domain.name());
            count += 1;
        }
    }
    assert!(count > 0);
}

/// An editor that follows the schema and the workbench must not disagree about a key.
#[test]
fn the_schema_names_the_keys_of_the_types() {
    let schema = schema::committed();
    let cases = [
        ("", keys::<Manifest>()),
        ("domain", keys::<DomainSection>()),
        ("api", keys::<ApiSection>()),
        ("pace", keys::<Pace>()),
        ("probe", keys::<Probe>()),
        ("tool", keys::<DeclaredTool>()),
        ("argument", keys::<Argument>()),
        ("pages", keys::<declared::Pages>()),
        ("download", keys::<Download>()),
        ("contact_sheet", keys::<ContactSheet>()),
        ("page", keys::<declared::Page>()),
        ("save_text", keys::<SaveText>()),
        ("task", keys::<TaskSection>()),
        ("limits", keys::<Limits>()),
        ("evidence", keys::<Evidence>()),
        ("rule", keys::<Rule>()),
    ];
    let docs = fs::read_to_string(folder_of_tests().join("../../docs/manifest.md")).unwrap();
    let definitions = schema["$defs"].as_object().unwrap();
    assert_eq!(definitions.len(), cases.len() - 1);
    for (name, keys) in cases {
        let section = if name.is_empty() { &schema } else { &definitions[name] };
        let named: BTreeSet<String> = section["properties"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(named, keys, "{name}");
        assert_eq!(section["additionalProperties"], false, "{name}");
        for key in keys {
            let told = [format!("`{key}`"), format!("`[{key}]`"), format!("`[[{key}]]`")];
            assert!(told.iter().any(|told| docs.contains(told)), "docs/manifest.md does not tell `{key}` of {name}");
        }
    }
}

#[test]
fn the_schema_gives_the_defaults_of_the_types() {
    let schema = schema::committed();
    let limits = toml::Value::try_from(std::collections::BTreeMap::from(limits_of(&Limits::default()))).unwrap();
    for (key, value) in limits.as_table().unwrap() {
        assert_eq!(schema["$defs"]["limits"]["properties"][key]["default"].as_i64(), value.as_integer(), "{key}");
    }
    let api = ApiSection::default();
    let defaults = &schema["$defs"]["api"]["properties"];
    assert_eq!(defaults["request_seconds"]["default"], api.request_seconds);
    assert_eq!(defaults["body_mb"]["default"], api.body_mb);
    assert_eq!(schema["$defs"]["pace"]["properties"]["gap_ms"]["default"], api.pace.gap_ms);
    assert_eq!(schema["$defs"]["pages"]["properties"]["at_most"]["default"], declared::Pages::default_at_most());
    assert_eq!(schema["$defs"]["pace"]["properties"]["concurrency"]["default"], api.pace.concurrency);
}

#[test]
fn the_schema_refuses_what_the_types_refuse() {
    let schema = schema::committed();
    for case in [
        "unknown-key",
        "unknown-section",
        "unknown-key-of-evidence",
        "unknown-conversion",
        "wrong-type",
        "wrong-type-negative",
        "wrong-type-of-hosts",
        "missing-key",
        "missing-section",
        "no-plugin",
        "host-with-more-than-a-port",
        "plugin-and-library",
        "limit-of-nothing",
        "evidence-of-two-sources",
        "evidence-without-a-source",
        "tool-that-does-nothing",
        "tool-that-does-two-things",
        "tool-with-an-unknown-key",
        "tool-argument-of-an-unknown-type",
        "tool-pages-in-no-way",
        "tool-is-one-table",
    ] {
        let text = fs::read_to_string(folder_of_tests().join(format!("manifests/{case}.toml"))).unwrap();
        let document = serde_json::to_value(toml::from_str::<toml::Table>(&text).unwrap()).unwrap();
        assert_ne!(schema::problems(&schema, &document), Vec::<String>::new(), "{case}");
    }
}

/// The fuzzer makes manifests of these words.
#[test]
fn every_key_of_the_schema_is_a_word_of_the_fuzzer() {
    fn keys_of(schema: &serde_json::Value, keys: &mut BTreeSet<String>) {
        for (word, inner) in schema.as_object().into_iter().flatten() {
            if word == "properties" {
                keys.extend(inner.as_object().into_iter().flatten().map(|(key, _)| key.clone()));
            }
            keys_of(inner, keys);
        }
        schema.as_array().into_iter().flatten().for_each(|inner| keys_of(inner, keys));
    }
    let mut keys = BTreeSet::new();
    keys_of(&schema::committed(), &mut keys);
    assert!(keys.contains("contact_sheet") && keys.contains("gap_ms"), "{keys:?}");
    let words = fs::read_to_string(folder_of_tests().join("../fuzz/seeds/manifest.dict")).unwrap();
    let is_known = |key: &String| {
        [format!("\"{key}\""), format!("\"[{key}]\""), format!("\"[[{key}]]\"")]
            .iter()
            .any(|word| words.lines().any(|line| line == word))
    };
    keys.retain(|key| !is_known(key));
    assert!(keys.is_empty(), "not in manifest.dict: {keys:?}");
}

/// The keys a type accepts, as its refusal of another names them.
fn keys<T: DeserializeOwned + std::fmt::Debug>() -> BTreeSet<String> {
    let error = toml::from_str::<T>("\"?\" = 1").unwrap_err();
    error.message().split('`').skip(3).step_by(2).map(str::to_owned).collect()
}

fn limits_of(limits: &Limits) -> [(&'static str, u64); 9] {
    [
        ("serial_turns", limits.serial_turns.into()),
        ("loop_turns", limits.loop_turns.into()),
        ("code_turns", limits.code_turns.into()),
        ("hosted_turns", limits.hosted_turns.into()),
        ("script_seconds", limits.script_seconds),
        ("script_memory_mb", limits.script_memory_mb),
        ("tool_seconds", limits.tool_seconds),
        ("tool_calls", limits.tool_calls.into()),
        ("output_chars", limits.output_chars as u64),
    ]
}
