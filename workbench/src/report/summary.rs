//! Figures of many runs: the content of `report --format json`.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::results::attempts::is_decided;
use crate::results::format::{REPORT_FORMAT, RuleStatus, RunRecord};

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
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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
    /// How the model was asked, by names such as `thinking`.
    pub settings: BTreeMap<String, String>,
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
    /// Price in US dollars; null also when a run's price is not known.
    pub cost_usd: Option<Spread>,
}

/// Median and range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The middle value; of an even number of values, the mean of the two in the middle.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

/// Tokens read in mode `of` for each token read in mode `to`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// What both modes share.
    #[serde(flatten)]
    pub setting: Setting,
    /// The mode above the line.
    pub of: String,
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
    let mut modes: Vec<ModeSummary> = groups.iter().map(|group| summary_of(group)).collect();
    let place = |mode: &ModeSummary| (mode.setting.clone(), mode_rank(&mode.mode), mode.sandbox.clone());
    modes.sort_by_cached_key(place);
    let ratios = ratios_of(&modes);
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
    Setting::of(a) == Setting::of(b) && a.mode == b.mode && a.sandbox == b.sandbox
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

/// The place of a mode in tables.
pub fn mode_rank(mode: &str) -> usize {
    MODE_ORDER.iter().position(|known| *known == mode).unwrap_or(MODE_ORDER.len())
}

fn summary_of(group: &[&RunRecord]) -> ModeSummary {
    let first = group[0];
    let decided: Vec<&RunRecord> = group.iter().copied().filter(|run| !undecided(run)).collect();
    let spread = |value: fn(&RunRecord) -> f64| Spread::of(decided.iter().map(|run| value(run)));
    let costs: Option<Vec<f64>> = decided.iter().map(|run| run.cost_usd).collect();
    ModeSummary {
        setting: Setting::of(first),
        mode: first.mode.clone(),
        sandbox: first.sandbox.clone(),
        n: decided.len(),
        passed: decided.iter().filter(|run| passed(run)).count(),
        errors: group.len() - decided.len(),
        estimated: group.iter().any(|run| run.estimated),
        identical: decided.len() > 1 && decided.iter().all(|run| went_alike(decided[0], run)),
        tokens_read: spread(|run| run.tokens_read as f64),
        model_turns: spread(|run| f64::from(run.model_turns)),
        calls: spread(|run| f64::from(calls_of(run))),
        scripts: spread(|run| f64::from(run.scripts_run)),
        seconds: spread(|run| run.seconds),
        cost_usd: costs.and_then(|costs| Spread::of(costs.into_iter())),
    }
}

/// Every mode that calls tools step by step, against every mode that writes scripts.
fn ratios_of(modes: &[ModeSummary]) -> Vec<Ratio> {
    let mut ratios = Vec::new();
    for of in modes.iter().filter(|summary| matches!(summary.mode.as_str(), "serial" | "loop")) {
        for to in modes.iter().filter(|summary| matches!(summary.mode.as_str(), "code" | "hosted")) {
            let (Some(above), Some(below)) = (of.tokens_read, to.tokens_read) else { continue };
            if of.setting == to.setting && above.min > 0.0 && below.min > 0.0 {
                ratios.push(Ratio {
                    setting: of.setting.clone(),
                    of: of.mode.clone(),
                    to: to.mode.clone(),
                    sandbox: to.sandbox.clone(),
                    tokens_read: above.median / below.median,
                    low: above.min / below.max,
                    high: above.max / below.min,
                });
            }
        }
    }
    ratios
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
            settings: run.settings.clone(),
        }
    }
}

impl Spread {
    /// Median and range of `values`, if there are any.
    pub fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        let middle = values.len() / 2;
        let median =
            if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) };
        Some(Self { median, min, max })
    }
}
