//! Figures of many runs: the content of `report --format json`.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::statistics::{NoInterval, Spread, interval, pass_hat};
use crate::results::attempts::is_decided;
use crate::results::format::{Budgets, REPORT_FORMAT, RuleStatus, RunRecord};

/// The whole report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// [`REPORT_FORMAT`].
    pub format: String,
    /// The runs, in the order given.
    pub runs: Vec<RunRecord>,
    /// One row for runs that were made alike.
    pub modes: Vec<ModeSummary>,
    /// What one mode reads against another.
    pub ratios: Vec<Ratio>,
}

/// What runs must share to be compared at all.
#[derive(Clone, Debug, PartialEq, PartialOrd, Serialize)]
pub struct Setting {
    /// Name of the domain.
    pub domain: String,
    /// Who was asked.
    pub model: String,
    /// Where the data came from.
    pub source: String,
    /// `debug` or `release`.
    pub profile: String,
    /// The limits the runs had, by their keys in the manifest.
    pub limits: BTreeMap<String, u64>,
    /// What they might use up beside that: a budget that is smaller may end what another lets go on.
    #[serde(skip_serializing_if = "Budgets::is_empty")]
    pub budgets: Budgets,
    /// How the model was asked, by names such as `thinking`.
    pub settings: BTreeMap<String, String>,
    /// What was measured, by the names of its parts; empty when the runs do not tell.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub fingerprint: BTreeMap<String, String>,
}

/// Runs of one setting, mode and sandbox, pooled. Runs made differently are never pooled.
///
/// Figures are those of the decided runs, and null when there are none.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModeSummary {
    /// What it shares with the modes it is compared with.
    #[serde(flatten)]
    pub setting: Setting,
    /// Name of the mode.
    pub mode: String,
    /// Sandbox of code mode.
    pub sandbox: Option<String>,
    /// Number of decided runs.
    pub n: usize,
    /// Of them, runs whose every rule passed.
    pub passed: usize,
    /// For k = 1 to `n`, the chance that k of these runs all passed (pass^k).
    pub pass_hat_k: Vec<f64>,
    /// Runs that are not decided, and not among `n`.
    pub errors: usize,
    /// Whether tokens were counted locally.
    pub estimated: bool,
    /// Whether there are several runs, and each read, called and achieved the same on every turn.
    pub identical: bool,
    /// What the model read in a run.
    pub tokens_read: Option<Spread>,
    /// Its turns.
    pub model_turns: Option<Spread>,
    /// Its calls, those of scripts included.
    pub calls: Option<Spread>,
    /// Scripts run.
    pub scripts: Option<Spread>,
    /// Wall time.
    pub seconds: Option<Spread>,
    /// Price in US dollars; null also when a run's price is not known, and when the runs go by different prices.
    pub cost_usd: Option<Spread>,
    /// By which prices that is. Several are those of runs that were made at different times.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub prices: BTreeSet<String>,
    /// Seconds of the provider's containers, in mode `hosted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container_seconds: Option<Spread>,
    /// What they cost in US dollars beyond an account's free hours, where they are known to be billed. Not part of
    /// `cost_usd`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container_cost_usd: Option<Spread>,
    /// Requests to the model that were made again, in all runs, decided or not.
    pub retries: u64,
    /// What the model did otherwise than the mode asks, with the number of decided runs in which it did.
    pub deviations: BTreeMap<String, usize>,
}

/// Tokens read in mode `of` for each token read in mode `to`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// What both modes share.
    #[serde(flatten)]
    pub setting: Setting,
    /// The mode above the line.
    pub of: String,
    /// The sandbox of the mode above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_sandbox: Option<String>,
    /// The mode below it.
    pub to: String,
    /// The sandbox of the mode below.
    pub sandbox: Option<String>,
    /// Ratio of the medians.
    pub tokens_read: f64,
    /// Smallest run of `of` to largest run of `to`.
    pub low: f64,
    /// Largest run of `of` to smallest run of `to`.
    pub high: f64,
    /// Where the ratio lies, 95 times in 100, as far as these runs can tell.
    pub interval: Option<[f64; 2]>,
    /// Why that is not told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_interval: Option<NoInterval>,
}

/// The modes in the order they are shown.
const MODE_ORDER: [&str; 4] = ["serial", "loop", "code", "hosted"];

/// Sums up `runs`.
pub fn summarise(runs: Vec<RunRecord>) -> Report {
    let mut groups: Vec<Vec<&RunRecord>> = Vec::new();
    for run in &runs {
        match groups.iter_mut().find(|group| made_alike(group[0], run)) {
            Some(group) => group.push(run),
            None => groups.push(vec![run]),
        }
    }
    let mut groups: Vec<Group<'_>> = groups.into_iter().map(Group::of).collect();
    groups.sort_by(|one, other| one.place().partial_cmp(&other.place()).unwrap_or(Ordering::Equal));
    let ratios = ratios_of(&groups);
    let modes = groups.into_iter().map(|group| group.summary).collect();
    Report { format: REPORT_FORMAT.to_owned(), runs, modes, ratios }
}

/// Whether a run's every rule passed.
pub fn passed(run: &RunRecord) -> bool {
    !undecided(run) && run.verify.as_ref().is_some_and(|verdict| verdict.ok)
}

/// Whether a run says nothing about the model: it was cut off by a fault or by hand, it was not judged, or a rule met
/// a fault that is not the model's.
pub fn undecided(run: &RunRecord) -> bool {
    !is_decided(run)
}

/// Calls of a run, as people count them: what the model asked for, and what scripts did.
pub fn calls_of(run: &RunRecord) -> u32 {
    if run.scripts_run > 0 { run.nested_calls } else { run.tool_calls }
}

fn made_alike(a: &RunRecord, b: &RunRecord) -> bool {
    Setting::of(a) == Setting::of(b) && a.mode == b.mode && a.sandbox_label() == b.sandbox_label()
}

/// Whether two runs did the same on every turn and were judged alike.
fn went_alike(a: &RunRecord, b: &RunRecord) -> bool {
    let statuses = |run: &RunRecord| -> Vec<RuleStatus> {
        run.verify.iter().flat_map(|verdict| &verdict.rules).map(|rule| rule.status).collect()
    };
    a.per_turn == b.per_turn
        && calls_of(a) == calls_of(b)
        && a.scripts_run == b.scripts_run
        && statuses(a) == statuses(b)
}

/// How many places [`mode_rank`] has: one for each mode, and one for those that are not known here.
pub(super) const MODES: usize = MODE_ORDER.len() + 1;

/// The place of a mode in tables.
pub fn mode_rank(mode: &str) -> usize {
    MODE_ORDER.iter().position(|known| *known == mode).unwrap_or(MODE_ORDER.len())
}

/// Runs that are pooled.
struct Group<'a> {
    summary: ModeSummary,
    decided: Vec<&'a RunRecord>,
}

impl<'a> Group<'a> {
    fn of(runs: Vec<&'a RunRecord>) -> Self {
        let decided: Vec<&RunRecord> = runs.iter().copied().filter(|run| !undecided(run)).collect();
        Self { summary: summary_of(&runs, &decided), decided }
    }

    /// Its place in tables.
    fn place(&self) -> (&Setting, usize, Option<&String>) {
        (&self.summary.setting, mode_rank(&self.summary.mode), self.summary.sandbox.as_ref())
    }

    fn tokens_read(&self) -> Vec<f64> {
        self.decided.iter().map(|run| run.tokens_read as f64).collect()
    }
}

fn summary_of(group: &[&RunRecord], decided: &[&RunRecord]) -> ModeSummary {
    let (first, n) = (group[0], decided.len());
    let spread = |value: fn(&RunRecord) -> f64| Spread::of(decided.iter().map(|run| value(run)));
    let prices: BTreeSet<String> = decided.iter().filter_map(|run| run.prices.clone()).collect();
    let costs: Option<Vec<f64>> = decided.iter().map(|run| run.cost_usd.filter(|_| prices.len() < 2)).collect();
    let passed = decided.iter().filter(|run| passed(run)).count();
    let hosted = || decided.iter().filter_map(|run| run.hosted.as_ref());
    let mut deviations: BTreeMap<String, usize> = BTreeMap::new();
    for deviation in decided.iter().flat_map(|run| &run.deviations) {
        *deviations.entry(deviation.clone()).or_default() += 1;
    }
    ModeSummary {
        setting: Setting::of(first),
        mode: first.mode.clone(),
        sandbox: first.sandbox_label(),
        n,
        passed,
        pass_hat_k: (1..=n).map(|k| pass_hat(passed, n, k)).collect(),
        errors: group.len() - n,
        estimated: group.iter().any(|run| run.estimated),
        identical: n > 1 && decided.iter().all(|run| went_alike(decided[0], run)),
        tokens_read: spread(|run| run.tokens_read as f64),
        model_turns: spread(|run| f64::from(run.model_turns)),
        calls: spread(|run| f64::from(calls_of(run))),
        scripts: spread(|run| f64::from(run.scripts_run)),
        seconds: spread(|run| run.seconds),
        cost_usd: costs.and_then(|costs| Spread::of(costs.into_iter())),
        prices,
        container_seconds: Spread::of(hosted().map(|hosted| hosted.container_seconds)),
        container_cost_usd: Spread::of(hosted().filter_map(|hosted| hosted.container_cost_usd)),
        retries: group.iter().map(|run| u64::from(run.retries)).sum(),
        deviations,
    }
}

/// Every mode that calls tools step by step, against every mode that writes scripts; then the scripts that run here, against
/// those that the provider runs.
fn ratios_of(groups: &[Group<'_>]) -> Vec<Ratio> {
    let is_compared = |above: &str, below: &str| {
        matches!((above, below), ("serial" | "loop", "code" | "hosted") | ("code", "hosted"))
    };
    let mut ratios = Vec::new();
    for above in groups {
        for below in groups {
            let (of, to) = (&above.summary, &below.summary);
            if of.setting == to.setting && is_compared(&of.mode, &to.mode) {
                ratios.extend(ratio_of(above, below));
            }
        }
    }
    ratios
}

fn ratio_of(above: &Group<'_>, below: &Group<'_>) -> Option<Ratio> {
    let (of, to) = (above.summary.tokens_read?, below.summary.tokens_read?);
    if of.min <= 0.0 || to.min <= 0.0 {
        return None;
    }
    let interval = interval(&above.tokens_read(), &below.tokens_read());
    Some(Ratio {
        setting: above.summary.setting.clone(),
        of: above.summary.mode.clone(),
        of_sandbox: above.summary.sandbox.clone(),
        to: below.summary.mode.clone(),
        sandbox: below.summary.sandbox.clone(),
        tokens_read: of.median / to.median,
        low: of.min / to.max,
        high: of.max / to.min,
        interval: interval.ok(),
        no_interval: interval.err(),
    })
}

impl Setting {
    /// That of a run.
    pub fn of(run: &RunRecord) -> Self {
        Self {
            domain: run.domain.clone(),
            model: run.model.clone(),
            source: run.source.clone(),
            profile: run.profile.clone(),
            limits: run.limits.clone(),
            budgets: run.budgets,
            settings: run.settings.clone(),
            fingerprint: run.fingerprint.clone(),
        }
    }
}
