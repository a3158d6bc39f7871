//! What a new domain is made of: the files of `templates/scaffold`, with its names in them.

use url::Url;

use crate::domain::authority;

use super::place::Place;

/// Path below `templates/scaffold`, and content.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/scaffold.rs"));

/// The plugin of tools that are declared in the manifest.
const DECLARED: &str = "http";

/// How the tools are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tools {
    /// In the manifest.
    Declared,
    /// As a plugin crate.
    Rust,
}

/// A new domain's texts.
pub(super) struct Scaffold<'a> {
    name: &'a str,
    /// Without a slash at its end.
    base: String,
    host: String,
    tools: Tools,
}

impl<'a> Scaffold<'a> {
    pub(super) fn new(name: &'a str, api: &Url, tools: Tools) -> Self {
        let base = api.as_str().trim_end_matches('/').to_owned();
        Self { name, base, host: authority::of(api).to_string(), tools }
    }

    pub(super) fn base(&self) -> &str {
        &self.base
    }

    /// The files of the domain's folder but its cassette; `reference` is how commands name it.
    pub(super) fn domain(&self, reference: &str) -> Vec<(&'static str, String)> {
        let text = |text: &str| self.filled(text).replace("@REFERENCE@", reference);
        self.below("domain/").map(|(path, content)| (path, text(content))).collect()
    }

    /// The files of the plugin crate.
    pub(super) fn plugin(&self) -> Vec<(&'static str, String)> {
        self.below("rust/").map(|(path, content)| (path, self.filled(content))).collect()
    }

    fn below(&self, folder: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
        FILES.iter().filter_map(move |(path, content)| Some((path.strip_prefix(folder)?, *content)))
    }

    fn filled(&self, text: &str) -> String {
        let declared = self.below("http/").map(|(_, content)| content).collect::<String>();
        let (plugin, comment, tools) = match self.tools {
            Tools::Declared => (DECLARED, "     # the tools are declared below", declared.as_str()),
            Tools::Rust => (self.name, "     # the tools are the crate plugins/@NAME@", ""),
        };
        let mut text = text.replace("@PLUGIN@", plugin).replace("@PLUGIN_COMMENT@", comment).replace("@TOOLS@", tools);
        for (mark, value) in
            [("@NAME@", self.name), ("@TITLE@", &self.title()), ("@BASE@", &self.base), ("@HOST@", &self.host)]
        {
            text = text.replace(mark, value);
        }
        text
    }

    /// The name as people read it.
    fn title(&self) -> String {
        let words = self.name.replace('-', " ");
        let mut letters = words.trim().chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
    }

    /// What to do with it now; `is_chosen` when its API is a real one.
    pub(super) fn next_steps(&self, place: &Place, is_chosen: bool) -> String {
        let Place { domain, reference, crate_folder, .. } = place;
        let (domain, base) = (domain.display(), &self.base);
        let api = match is_chosen {
            true => format!("Does the API answer? Try its addresses below {base} with `curl -i`."),
            false => "Choose an API, and try it with `curl -i`. `workbench ideas` prints a prompt for any chat model."
                .to_owned(),
        };
        let once = match crate_folder {
            Some(_) => "The first command builds the crate of its tools",
            None => "The first command builds the plugin of declared tools, once for all domains",
        };
        let tools = match crate_folder {
            Some(folder) => format!(
                "task and rules.\n     Edit {}: the tools; `cargo test` beside it tries them.",
                folder.join("src/lib.rs").display()
            ),
            None => "tools, task and rules, from top to bottom.".to_owned(),
        };
        format!(
            "{domain} is made, and runs as it is, on a made-up sample:\n\n  \
               workbench compare {reference}\n  \
               workbench smoke {reference}\n\n\
             {once}: that needs Rust's `cargo`.\n\n\
             Then make it yours:\n\n  \
               1. {api}\n  \
               2. Edit {domain}/domain.toml: {tools}\n  \
               3. Adapt smoke.py and rehearsal/ to your task; `workbench check {reference}` says what is still wrong or weak.\n  \
               4. `workbench record {reference}` keeps what the API answers to those scripts, in the place of the sample.\n  \
               5. workbench compare {reference} --model anthropic:claude-haiku-5-5 asks a model; `workbench doctor` says\n     \
                  whether you have a key.\n"
        )
    }
}
