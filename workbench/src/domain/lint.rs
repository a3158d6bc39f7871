//! Checks of a manifest that types cannot make: names that must exist, expressions, patterns.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::manifest::{ApiSection, DomainSection, Evidence, Limits, Manifest, Rule, Source};
use super::text::{Step, Text};
use super::{Problem, authority, base, header};
use crate::expression::{self, Purpose, RuleError};
use crate::nearest::question;
use url::Url;

use Step::{Index, Key};

/// What a rule may be worth.
const MOST_POINTS: f64 = 1e6;

/// Everything that is wrong with a manifest that parses.
pub(super) fn problems(manifest: &Manifest, text: &Text<'_>) -> Vec<Problem> {
    let mut report = Report { text, problems: Vec::new() };
    report.domain(&manifest.domain);
    report.api(&manifest.api);
    if let Some(task) = &manifest.task
        && task.persona.trim().is_empty()
    {
        report
            .add(&[Key("task"), Key("persona")], "is empty")
            .help("write one sentence that says who the assistant is");
    }
    report.limits(&manifest.limits);
    report.tools(manifest);
    for (name, evidence) in &manifest.evidence {
        report.evidence(name, evidence, manifest);
    }
    report.cycles(&manifest.evidence);
    report.rules(&manifest.verify, &manifest.evidence);
    report.problems
}

/// What is found, with the text it is found in.
pub(super) struct Report<'a> {
    text: &'a Text<'a>,
    problems: Vec<Problem>,
}

impl Report<'_> {
    pub(super) fn add(&mut self, path: &[Step<'_>], message: impl AsRef<str>) -> &mut Problem {
        self.problems.push_mut(self.text.problem(path, message.as_ref()))
    }

    /// A problem with an expression or a template, marked inside it where that can be said.
    pub(super) fn add_rule(&mut self, path: &[Step<'_>], error: &RuleError) {
        let part = error.range.clone().filter(|range| !range.is_empty()).and_then(|range| self.text.part(path, range));
        let message = if part.is_some() { error.reason.clone() } else { format!("{}{}", error.reason, error.place()) };
        let problem = self.add(path, message);
        if let Some(part) = part {
            problem.span = part;
        }
        problem.help.clone_from(&error.help);
    }

    /// A problem with a part of the text at `path`, marked where that can be said.
    pub(super) fn add_part(&mut self, path: &[Step<'_>], part: Range<usize>, message: impl AsRef<str>) -> &mut Problem {
        let part = self.text.part(path, part);
        let problem = self.add(path, message);
        if let Some(part) = part {
            problem.span = part;
        }
        problem
    }

    fn domain(&mut self, domain: &DomainSection) {
        if !is_short_name(&domain.name) {
            self.add(&[Key("domain"), Key("name")], format!("`{}` is no name of a domain", domain.name))
                .help("use lower-case letters, digits and `-`");
        }
        match (&domain.plugin, &domain.library) {
            (Some(plugin), None) if !is_crate_name(plugin) => {
                self.add(&[Key("domain"), Key("plugin")], format!("`{plugin}` is no name of a crate under plugins/"))
                    .help("use letters, digits, `-` and `_`");
            }
            (Some(_), None) | (None, Some(_)) => {}
            (Some(_), Some(_)) => {
                self.add(&[Key("domain"), Key("library")], "`plugin` and `library` exclude each other")
                    .help("keep `plugin` for a crate under plugins/, `library` for a prebuilt file");
            }
            (None, None) => {
                self.add(&[Key("domain")], "it does not say who serves the tools")
                    .help("write `plugin = \"NAME\"` for the crate plugins/NAME, or `library = \"PATH\"`");
            }
        }
    }

    fn api(&mut self, api: &ApiSection) {
        for (index, host) in api.hosts.iter().enumerate() {
            if authority::parse(host).is_none() {
                self.add(&[Key("api"), Key("hosts"), Index(index)], format!("`{host}` is no host"))
                    .help("write `name` or `name:port`, without scheme and path");
            }
        }
        if let Some(text) = &api.base {
            match base::parse(text) {
                Ok(address) => {
                    let host = authority::of(&address);
                    if !api.hosts.iter().any(|allowed| authority::parse(allowed).as_ref() == Some(&host)) {
                        self.add(&[Key("api"), Key("base")], "its host is not among `hosts`")
                            .help(format!("add `\"{host}\"` there"));
                    }
                    self.transport(&[Key("api"), Key("base")], &address);
                }
                Err(fault) => {
                    self.add(&[Key("api"), Key("base")], format!("`{text}` {fault}"));
                }
            }
        }
        for (index, probe) in api.probe.iter().enumerate() {
            if let Err(error) = expression::check(&probe.expect, &["status", "json", "text"]) {
                self.add_rule(&[Key("api"), Key("probe"), Index(index), Key("expect")], &error);
            }
        }
        for (name, value) in &api.headers {
            if let Err(fault) = header::parse(name, value) {
                self.add(&[Key("api"), Key("headers"), Key(name)], fault.to_string()).help(fault.help());
            }
        }
        for (key, value) in [("request_seconds", api.request_seconds), ("body_mb", api.body_mb)] {
            self.positive(&[Key("api"), Key(key)], value);
        }
        self.positive(&[Key("api"), Key("pace"), Key("concurrency")], api.pace.concurrency as u64);
    }

    /// What an address says of who asks, and what is sent unencrypted: that can be read and changed on its way; on this
    /// machine it has none.
    pub(super) fn transport(&mut self, path: &[Step<'_>], address: &Url) {
        if base::names_user(address) {
            self.add(path, "an address must not carry a user name or password").help(
                "take it out; what the API wants to know goes into `headers` of [api], such as \
                 `authorization = \"env:NAME\"`",
            );
        }
        if !base::is_safe(address) {
            self.add(path, "its answers can be read and changed on their way, as it is `http`")
                .help("write `https://…`; `http` is for addresses of this machine, such as `http://127.0.0.1:8080`");
        }
    }

    fn limits(&mut self, limits: &Limits) {
        for (key, value) in limits.entries() {
            self.positive(&[Key("limits"), Key(key)], value);
        }
    }

    fn positive(&mut self, path: &[Step<'_>], value: u64) {
        if value == 0 {
            self.add(path, "must be at least 1");
        }
    }

    fn evidence(&mut self, name: &str, evidence: &Evidence, manifest: &Manifest) {
        let at = [Key("evidence"), Key(name)];
        if !is_identifier(name) || expression::is_reserved(name) {
            self.add(&at, "evidence cannot be named so")
                .help("use letters, digits and `_`, begin with no digit, and take no word of expressions");
        }
        let Some(source) = evidence.source() else {
            self.add(&at, "it must name one source")
                .help("write exactly one of: html, image, get, json, text, file, value");
            return;
        };
        match source {
            Source::Value(value) => self.value(name, evidence, value, manifest),
            _ => self.template(name, evidence, source),
        }
        if let Some(each) = &evidence.each {
            if matches!(source, Source::Html(_)) {
                self.add(&[at[0], at[1], Key("each")], "does not go with `html`: a page is read once");
            } else if !manifest.evidence.contains_key(each) {
                let known = manifest.evidence.keys().map(String::as_str);
                let help = question(each, known);
                self.add(&[at[0], at[1], Key("each")], format!("unknown evidence `{each}`")).help = help;
            }
        }
        if matches!(source, Source::Get(_)) && manifest.api.base.is_none() {
            self.add(&[at[0], at[1], Key("get")], "wants an `[api]` with a `base`");
        }
        self.selection(name, evidence, source);
    }

    /// What is made of other evidence.
    fn value(&mut self, name: &str, evidence: &Evidence, value: &str, manifest: &Manifest) {
        let at = [Key("evidence"), Key(name), Key("value")];
        let item = evidence.each.as_ref().map(|_| "item");
        let known: Vec<&str> = manifest.evidence.keys().map(String::as_str).chain(item).collect();
        match expression::check(value, &known) {
            Ok(names) if item.is_some() && !names.contains("item") => {
                self.add(&at, "it is the same for each item").help("use `item` where it differs");
            }
            Ok(_) => {}
            Err(error) => self.add_rule(&at, &error),
        }
    }

    fn template(&mut self, name: &str, evidence: &Evidence, source: Source<'_>) {
        let at = [Key("evidence"), Key(name), Key(source.key())];
        let names = match expression::placeholders(source.template()) {
            Ok(names) => names,
            Err(error) => return self.add_rule(&at, &error),
        };
        match (names.contains("item"), &evidence.each) {
            (true, None) => {
                self.add(&at, "`{{ item }}` of what?").help("add `each = \"NAME\"`, the list of the items");
            }
            (false, Some(_)) => {
                self.add(&at, "it is the same for each item").help("write `{{ item }}` where it differs");
            }
            // Without an item it is the same at every run: what is wrong with it shows now.
            (false, None) => {
                if let Err(error) = expression::fill(source.template(), &minijinja::Value::UNDEFINED, Purpose::FileName)
                {
                    self.add_rule(&at, &error);
                }
            }
            (true, Some(_)) => {}
        }
    }

    /// `select` and what depends on it.
    fn selection(&mut self, name: &str, evidence: &Evidence, source: Source<'_>) {
        let dependent = [
            ("attribute", evidence.attribute.is_some()),
            ("pattern", evidence.pattern.is_some()),
            ("as", evidence.r#as.is_some()),
        ];
        let is_page = matches!(source, Source::Html(_));
        for (key, _) in dependent.iter().filter(|(_, given)| *given && evidence.select.is_none()) {
            self.add(&[Key("evidence"), Key(name), Key(key)], "goes with `html` and `select` only");
        }
        if let Some(select) = &evidence.select {
            let at = [Key("evidence"), Key(name), Key("select")];
            if !is_page {
                self.add(&at, "goes with `html` only");
            } else if let Err(error) = scraper::Selector::parse(select) {
                self.add(&at, format!("`{select}` is no CSS selector: {error}"));
            }
        }
        if let Some(pattern) = &evidence.pattern
            && let Err(reason) = expression::pattern(pattern)
        {
            self.add(&[Key("evidence"), Key(name), Key("pattern")], reason);
        }
    }

    /// Evidence that would need itself.
    fn cycles(&mut self, evidence: &BTreeMap<String, Evidence>) {
        let needs: BTreeMap<&String, BTreeSet<String>> =
            evidence.iter().map(|(name, entry)| (name, entry.needs())).collect();
        for (start, entry) in evidence {
            let mut seen = BTreeSet::new();
            let mut next: Vec<&String> = needs[start].iter().collect();
            while let Some(name) = next.pop() {
                if seen.insert(name) {
                    next.extend(needs.get(name).into_iter().flatten());
                }
            }
            if seen.contains(start) {
                let (key, message) = match entry.value {
                    Some(_) => ("value", "it needs itself"),
                    None => ("each", "it needs itself through `each`"),
                };
                self.add(&[Key("evidence"), Key(start), Key(key)], message);
            }
        }
    }

    fn rules(&mut self, rules: &[Rule], evidence: &BTreeMap<String, Evidence>) {
        let known: Vec<&str> = evidence.keys().map(String::as_str).collect();
        let mut names = BTreeSet::new();
        for (index, rule) in rules.iter().enumerate() {
            let at = |key| [Key("verify"), Index(index), Key(key)];
            if rule.name.trim().is_empty() {
                self.add(&at("name"), "is empty: what people read");
            } else if !names.insert(rule.name.trim()) {
                self.add(&at("name"), format!("a rule `{}` stands above already", rule.name));
            }
            if !(0.0..=MOST_POINTS).contains(&rule.points) {
                self.add(&at("points"), format!("must be a number from 0 to {MOST_POINTS}"));
            }
            for (key, text) in [("check", Some(&rule.check)), ("got", rule.got.as_ref())] {
                if let Some(text) = text
                    && let Err(error) = expression::check(text, &known)
                {
                    self.add_rule(&at(key), &error);
                }
            }
        }
    }
}

/// Whether a domain may be named so.
pub fn is_short_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('-')
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

fn is_crate_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

fn is_identifier(name: &str) -> bool {
    name.starts_with(|first: char| first == '_' || first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
