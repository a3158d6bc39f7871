//! The settings of a report's runs, and the words for what sets one apart from the others.

use std::collections::{BTreeMap, BTreeSet};

use super::summary::{Report, Setting};
use crate::domain::fingerprint;
use crate::model::rehearsal;

/// The settings of the runs of a report.
pub(super) struct Settings {
    /// In the order in which they come.
    pub(super) all: Vec<Setting>,
    /// For each domain, each part of its fingerprint and each digest of it, when the first run that has it began.
    since: BTreeMap<(String, String, String), String>,
}

/// What stands in the place of a part that the runs of a setting do not tell.
const UNKNOWN: &str = "not recorded";

impl Settings {
    /// Those of the runs.
    pub(super) fn of(report: &Report) -> Self {
        let (mut all, mut since) = (Vec::new(), BTreeMap::<_, String>::new());
        for run in &report.runs {
            let setting = Setting::of(run);
            for (part, digest) in &run.fingerprint {
                let key = (run.domain.clone(), part.clone(), digest.clone());
                let first = since.entry(key).or_insert_with(|| run.started.clone());
                if run.started < *first {
                    first.clone_from(&run.started);
                }
            }
            if !all.contains(&setting) {
                all.push(setting);
            }
        }
        Self { all, since }
    }

    /// The domain of a setting, and what sets it apart from the others that are shown.
    pub(super) fn name(&self, setting: &Setting) -> String {
        const PARTS: [fn(&Setting) -> &String; 3] = [|it| &it.model, |it| &it.source, |it| &it.profile];
        let mut text = setting.domain.clone();
        for of in PARTS {
            if self.all.iter().any(|other| of(other) != of(setting)) {
                text.push_str(&format!(" · {}", of(setting)));
            }
        }
        text + &self.apart(setting)
    }

    /// The limits, budgets, settings and versions of the domain by which a setting differs from others of its domain.
    pub(super) fn apart(&self, setting: &Setting) -> String {
        let parts = |setting: &Setting| -> Vec<(String, String)> {
            let limits = setting.limits.iter().map(|(name, value)| (name.clone(), value.to_string()));
            let budgets = setting.budgets.entries().into_iter().map(|(name, value)| (name.to_owned(), value));
            let asked = setting.settings.iter().map(|(name, value)| (name.clone(), value.clone()));
            limits.chain(budgets).chain(asked).collect()
        };
        let others: Vec<_> = self.of_domain(&setting.domain).map(parts).collect();
        let apart = parts(setting).into_iter().filter(|part| others.iter().any(|other| !other.contains(part)));
        let apart: String = apart.map(|(name, value)| format!(" · {name} {value}")).collect();
        apart + &self.versions(setting)
    }

    /// Why runs of one domain stand in several tables, where the domain itself was changed between them; else nothing.
    pub(super) fn changes(&self) -> String {
        let domains: BTreeSet<&String> = self.all.iter().map(|setting| &setting.domain).collect();
        let told = domains.into_iter().filter_map(|domain| {
            let parts = self.changed(domain);
            (!parts.is_empty()).then(|| {
                format!(
                    "{domain} was changed between these runs ({}): runs made before and after are never put together; \
                     `workbench report {domain} --last` shows the last command's alone\n",
                    parts.join(", ")
                )
            })
        });
        told.collect()
    }

    fn of_domain(&self, domain: &str) -> impl Iterator<Item = &Setting> {
        self.all.iter().filter(move |setting| setting.domain == domain)
    }

    /// The parts of a domain of which there are several versions.
    fn changed(&self, domain: &str) -> Vec<&str> {
        let known: BTreeSet<&String> = self.of_domain(domain).flat_map(|setting| setting.fingerprint.keys()).collect();
        let versions = |part: &str| -> BTreeSet<Option<&String>> {
            // Only a rehearsal has scripts.
            let all = self.of_domain(domain).filter(|it| it.model == rehearsal::NAME || part != fingerprint::REHEARSAL);
            all.map(|setting| setting.fingerprint.get(part)).collect()
        };
        known.into_iter().map(String::as_str).filter(|part| versions(part).len() > 1).collect()
    }

    /// Since when the changed parts of a setting's domain are as its runs had them; those of one time together.
    fn versions(&self, setting: &Setting) -> String {
        let mut by_time: Vec<(String, Vec<&str>)> = Vec::new();
        for part in self.changed(&setting.domain) {
            if part == fingerprint::REHEARSAL && setting.model != rehearsal::NAME {
                continue;
            }
            let key =
                setting.fingerprint.get(part).map(|digest| (setting.domain.clone(), part.to_owned(), digest.clone()));
            let since = key.and_then(|key| self.since.get(&key)).map_or_else(|| UNKNOWN.to_owned(), |at| as_of(at));
            match by_time.iter_mut().find(|(time, _)| *time == since) {
                Some((_, parts)) => parts.push(part),
                None => by_time.push((since, vec![part])),
            }
        }
        by_time.iter().map(|(since, parts)| format!(" · {} {since}", parts.join(", "))).collect()
    }
}

/// To the second, as the names of runs have it.
fn as_of(started: &str) -> String {
    let seconds = started.split_once('.').map_or(started, |(seconds, _)| seconds);
    format!("as of {}Z", seconds.trim_end_matches('Z'))
}
