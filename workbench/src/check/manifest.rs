//! The section `manifest`: what is there. A manifest that is wrong is told when it is loaded, and nothing is looked at.

use std::collections::BTreeSet;

use super::{Section, listed};
use crate::domain::Domain;
use crate::expression;
use crate::report::table::counted;
use crate::web::Cassette;

/// What the folder holds, and what of it nothing uses.
pub fn section(domain: &Domain) -> Section {
    let mut section = Section::new("manifest");
    let manifest = &domain.manifest;
    let count = |items: usize, word| counted(items as u64, word);
    section.fact(format!(
        "{}, {} of evidence, {}",
        count(manifest.verify.len(), "rule"),
        count(manifest.evidence.len(), "piece"),
        count(manifest.api.probe.len(), "probe")
    ));
    if domain.cassette.is_none() && !manifest.api.hosts.is_empty() {
        section.note(
            "there is no cassette: this command, and every run, asks the API itself",
            format!("`workbench record {}` makes one, once the rehearsal or `smoke.py` works", domain.reference),
        );
    }
    if is_sample(domain) {
        section.note(
            "its cassette is the made-up sample of `workbench new`",
            format!("`workbench record {}` puts answers of your API in its place", domain.reference),
        );
    }
    let used = used_evidence(domain);
    let unused: Vec<&str> = manifest.evidence.keys().map(String::as_str).filter(|name| !used.contains(*name)).collect();
    if !unused.is_empty() {
        section.warn(format!("no rule uses the evidence {}", listed(unused)), "write a rule over it, or take it out");
    }
    section
}

/// Whether the answers of a domain's cassette, or some of them, are those that `new` made up.
pub(super) fn is_sample(domain: &Domain) -> bool {
    // A cassette that cannot be read ends the command before.
    let cassette = domain.cassette.as_deref().and_then(|folder| Cassette::open(folder).ok());
    cassette.is_some_and(|cassette| cassette.samples() > 0)
}

/// The evidence that rules use, themselves or through `each` and `value`.
pub(super) fn used_evidence(domain: &Domain) -> BTreeSet<String> {
    let rules = &domain.manifest.verify;
    rules.iter().flat_map(|rule| with_sources(domain, evidence_of(domain, &rule.check))).collect()
}

/// The evidence that an expression names.
pub(super) fn evidence_of(domain: &Domain, check: &str) -> BTreeSet<String> {
    let known: Vec<&str> = domain.manifest.evidence.keys().map(String::as_str).collect();
    // Loading a domain refuses expressions that cannot be read.
    expression::check(check, &known).unwrap_or_default()
}

/// These, and what they are read for or made of.
fn with_sources(domain: &Domain, mut names: BTreeSet<String>) -> BTreeSet<String> {
    let mut waiting: Vec<String> = names.iter().cloned().collect();
    while let Some(name) = waiting.pop() {
        let needed = domain.manifest.evidence.get(&name).map(|entry| entry.needs()).unwrap_or_default();
        waiting.extend(needed.into_iter().filter(|needed| names.insert(needed.clone())));
    }
    names
}
