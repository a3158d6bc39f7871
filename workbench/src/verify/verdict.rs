//! The verdict over a run.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::get::Fetch;
use super::{evidence, rules};
use crate::domain::Domain;
use crate::domain::manifest::Rule;
use crate::results::format::{Fault, RuleOutcome, RuleStatus, Verdict};

/// A verdict, and what the API answered on the way to it.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// What `verify.json` holds.
    pub verdict: Verdict,
    /// What `evidence.json` holds; with [`Fetch::Recorded`] it repeats the verdict without the API.
    pub evidence: Value,
    /// The answers of the API that are not there for another reason than that it does not know what was asked for:
    /// the path and the reason of each. Rules that need them ended in an error.
    pub faults: Vec<String>,
}

/// Judges the artifacts in `out` by the rules of `domain`. Never fails: what goes wrong is the
/// outcome of the rules it concerns.
///
/// The verdict is `ok` when there are rules and all of them passed. Rules that ended in an error are
/// in neither sum of points: they say nothing about the model.
pub async fn judge(domain: &Domain, out: &Path, fetch: Fetch<'_>) -> Judgement {
    let entries = Arc::new(domain.manifest.evidence.clone());
    let (found, answers) = evidence::gather(&entries, out, fetch).await;
    let rules = domain.manifest.verify.clone();
    // Rules look through all that a model made: not on the thread that hears Ctrl-C.
    let judging = tokio::task::spawn_blocking(move || {
        let context = rules::context(&found);
        rules.iter().map(|rule| rules::judge(rule, &entries, &found, &context)).collect()
    });
    let rules = judging.await.unwrap_or_else(|error| {
        let broken = |rule: &Rule| rules::broken(rule, &error.to_string());
        domain.manifest.verify.iter().map(broken).collect()
    });
    Judgement { verdict: summed_up(rules), evidence: answers.to_json(), faults: answers.faults() }
}

impl Judgement {
    /// The judgement over a run whose tools met `faults`. Nobody knows what the model would have made without them: a
    /// rule that failed ends in an error, which names the first of them. What passed in spite of them has passed.
    #[must_use]
    pub fn excused(mut self, faults: &[Fault]) -> Self {
        let Some(first) = faults.first() else { return self };
        for rule in self.verdict.rules.iter_mut().filter(|rule| rule.status == RuleStatus::Fail) {
            let got = rule.got.as_str().map_or_else(|| rule.got.to_string(), str::to_owned);
            rule.status = RuleStatus::Error;
            rule.got = Value::from(format!("{got} – the run met a fault that is not the model's: {}", first.text));
        }
        self.verdict = summed_up(self.verdict.rules);
        self
    }
}

fn summed_up(rules: Vec<RuleOutcome>) -> Verdict {
    let judged = || rules.iter().filter(|rule| rule.status != RuleStatus::Error);
    Verdict {
        ok: !rules.is_empty() && rules.iter().all(|rule| rule.status == RuleStatus::Pass),
        // The sum of no floats is -0.0.
        points: judged().map(|rule| rule.points).sum::<f64>() + 0.0,
        max_points: judged().map(|rule| rule.max_points).sum::<f64>() + 0.0,
        rules,
    }
}
