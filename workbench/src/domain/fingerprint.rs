//! What of a domain decides what its runs measure, as a short digest of each part: runs of another task, or of other
//! tools or rules, are no repetitions of each other. `docs/statistics.md` tells what enters and what does not.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use plugin_api::wire::ToolSpec;
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{Domain, Rehearsal};
use crate::files;

/// Digests by the name of the part; a part that is not known has none.
pub type Fingerprint = BTreeMap<String, String>;

/// Name of the part that a model calls.
pub const TOOLS: &str = "tools";

/// Name of the part that a stand-in for a model has: its scripts.
pub const REHEARSAL: &str = "rehearsal";

/// Bytes of a digest: enough that no two versions of a domain ever share one.
const BYTES: usize = 8;

impl Domain {
    /// The domain's parts. The tools are described by their plugin; without that (`None`) they have no digest.
    pub fn fingerprint(&self, tools: Option<&[ToolSpec]>) -> Fingerprint {
        let persona = self.manifest.task.as_ref().map(|task| &task.persona);
        let mut parts = vec![("task", digest(&json!([persona, self.prompt])))];
        parts.extend(self.fingerprint_of_judgement());
        parts.extend(tools.map(|tools| (TOOLS, self.digest_of_tools(tools))));
        parts.into_iter().map(|(part, digest)| (part.to_owned(), digest)).collect()
    }

    /// The parts that a verdict comes from.
    pub fn fingerprint_of_judgement(&self) -> [(&'static str, String); 2] {
        [("evidence", digest(&self.manifest.evidence)), ("rules", digest(&self.manifest.verify))]
    }

    /// What a model reads of the tools, and what is known of their work: where they ask, what the manifest declares of
    /// them, and the pages they fill.
    fn digest_of_tools(&self, tools: &[ToolSpec]) -> String {
        let (base, callers) = (&self.manifest.api.base, &self.manifest.callers);
        digest(&json!([tools, self.manifest.declared(), base, templates(&self.folder.join("templates")), callers]))
    }
}

impl Rehearsal {
    /// Digest of all its scripts, those of every mode together: modes are compared with each other. Nothing when one
    /// cannot be read.
    pub fn digest(&self) -> Option<String> {
        let scripts = self.loop_script.iter().chain(&self.code_scripts).chain(&self.hosted_scripts);
        let texts: Option<Vec<(PathBuf, String)>> = scripts
            .map(|path| {
                let text = files::read_text(path, files::LONGEST_TEXT).ok()?;
                Some((path.file_name().map(PathBuf::from)?, text))
            })
            .collect();
        texts.map(|texts| digest(&texts))
    }
}

/// The templates of a domain by their names. What cannot be read is told where pages are made.
fn templates(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let pages = entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|it| it == "html"));
    pages
        .filter_map(|path| {
            let name = path.file_name()?.to_str()?.to_owned();
            Some((name, files::read_text(&path, files::LONGEST_TEXT).ok()?))
        })
        .collect()
}

/// The digest of a value that was read from a manifest: of what it says, and not of how it was written there.
fn digest(value: &impl Serialize) -> String {
    // Texts, numbers, lists and maps with words for keys always are JSON.
    let text = serde_json::to_value(value).unwrap_or(Value::Null).to_string();
    Sha256::digest(text).iter().take(BYTES).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const MANIFEST: &str = r#"
        [domain]
        name = "cats"
        title = "Cats"
        plugin = "http"

        [api]
        base = "https://api.example"
        hosts = ["api.example"]

        [task]
        persona = "You are a curator."
        prompt = "Show three cats."

        [[tool]]
        name = "get_cat"
        description = "One cat."
        arguments.id = { type = "integer", description = "Its id." }
        get = "/cats/{id}"

        [evidence]
        page = { html = "cats.html" }
        cats = { html = "cats.html", select = "figure" }

        [[verify]]
        name = "three"
        check = "cats|length == 3"
    "#;

    /// The fingerprint of this manifest, in a folder with these files.
    fn of(manifest: &str, files: &[(&str, &str)], tools: &[ToolSpec]) -> Fingerprint {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("cats");
        fs::create_dir_all(folder.join("templates")).unwrap();
        for (name, text) in [("domain.toml", manifest)].iter().chain(files) {
            fs::write(folder.join(name), text).unwrap();
        }
        Domain::load(&folder).unwrap().fingerprint(Some(tools))
    }

    fn tool(description: &str) -> ToolSpec {
        let (name, description) = ("get_cat".to_owned(), description.to_owned());
        ToolSpec { name, description, input_schema: json!({"type": "object"}) }
    }

    /// What is changed in the manifest, and which part that is.
    const CHANGES: &[(&str, &str, &str)] = &[
        ("You are a curator.", "You are a keeper.", "task"),
        ("Show three cats.", "Show three cats!", "task"),
        ("One cat.", "A cat.", "tools"),
        ("[evidence]", "[callers]\n        get_cat = \"both\"\n\n        [evidence]", "tools"),
        ("Its id.", "Its number.", "tools"),
        ("type = \"integer\"", "type = \"string\"", "tools"),
        ("/cats/{id}", "/pets/{id}", "tools"),
        ("base = \"https://api.example\"", "base = \"https://api.example/v2\"", "tools"),
        ("select = \"figure\"", "select = \"img\"", "evidence"),
        ("cats|length == 3", "cats|length >= 3", "rules"),
        ("name = \"three\"", "name = \"3\"", "rules"),
        ("name = \"three\"", "name = \"three\"\npoints = 2", "rules"),
        // What shapes nothing that is measured, or is compared by itself.
        ("title = \"Cats\"", "title = \"Some cats\" # more to come", ""),
        ("name = \"three\"", "# three of them\nname    =    'three'", ""),
        ("name = \"three\"", "name = \"three\"\npoints = 1.0", ""),
        ("page = { html = \"cats.html\" }", "", "evidence"),
        ("hosts = [\"api.example\"]", "hosts = [\"api.example\"]\npace = { gap_ms = 0 }", ""),
        ("[evidence]", "[limits]\ntool_calls = 5\n[evidence]", ""),
    ];

    #[test]
    fn a_part_changes_with_what_it_says_and_not_with_how_it_is_written() {
        let tools = [tool("One cat.")];
        let before = of(MANIFEST, &[], &tools);
        assert_eq!(before.keys().collect::<Vec<_>>(), ["evidence", "rules", "task", "tools"]);
        for (old, new, part) in CHANGES {
            assert!(MANIFEST.contains(old), "{old}");
            let after = of(&MANIFEST.replacen(old, new, 1), &[], &tools);
            let changed: Vec<&String> = before.keys().filter(|key| before[*key] != after[*key]).collect();
            assert_eq!(changed, Vec::from_iter((!part.is_empty()).then_some(part)), "{old} -> {new}");
        }
        let swapped =
            MANIFEST.replace("page = { html = \"cats.html\" }\n", "") + "\n[evidence.page]\nhtml = 'cats.html'";
        assert_eq!(of(&swapped, &[], &tools), before, "evidence has no order");
    }

    #[test]
    fn files_beside_the_manifest_and_words_of_a_plugin_count() {
        let before = of(MANIFEST, &[], &[tool("One cat.")]);
        let without = MANIFEST.replace("prompt = \"Show three cats.\"", "");
        assert_eq!(of(&without, &[("prompt.md", "Show three cats.")], &[tool("One cat.")]), before);
        let page = of(MANIFEST, &[("templates/cats.html", "<p>")], &[tool("One cat.")]);
        let other = of(MANIFEST, &[("templates/cats.html", "<b>")], &[tool("One cat.")]);
        let described = of(MANIFEST, &[], &[tool("One cat of many.")]);
        let all = [&before, &page, &other, &described].map(|it| &it["tools"]);
        assert!(all.iter().enumerate().all(|(at, it)| !all[..at].contains(it)), "{all:?}");
    }
}
