//! Figures of many runs: the content of `report --format json`.

use serde::Serialize;

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

/// Runs of one domain, mode, model and source, pooled. Runs made differently are never pooled.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModeSummary {
    /// Name of the domain.
    pub domain: String,
    /// Name of the mode.
    pub mode: String,
    /// Who was asked.
    pub model: String,
    /// Sandbox of code mode.
    pub sandbox: Option<String>,
    /// Where the data came from.
    pub source: String,
    /// `debug` or `release`.
    pub profile: String,
    /// Number of runs.
    pub n: usize,
    /// Runs whose every rule passed.
    pub passed: usize,
    /// Runs without a verdict of the model's making: a rule ended in `error`, or nothing was judged.
    pub errors: usize,
    /// Whether tokens were counted locally.
    pub estimated: bool,
    /// Whether every run read the same number of tokens in as many turns and calls.
    pub identical: bool,
    /// What the model read in a run.
    pub tokens_read: Spread,
    /// Its turns.
    pub model_turns: Spread,
    /// Its calls, those of scripts included.
    pub calls: Spread,
    /// Scripts run.
    pub scripts: Spread,
    /// Wall time.
    pub seconds: Spread,
    /// Price in US dollars; null when a run's price is not known.
    pub cost_usd: Option<Spread>,
}

/// Median and range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
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
    /// Name of the domain.
    pub domain: String,
    /// Who was asked.
    pub model: String,
    /// Where the data came from.
    pub source: String,
    /// The mode above the line.
    pub of: String,
    /// The mode below it.
    pub to: String,
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
    modes.sort_by(|a, b| {
        (&a.domain, &a.model, &a.source, &a.profile, mode_rank(&a.mode)).cmp(&(
            &b.domain,
            &b.model,
            &b.source,
            &b.profile,
            mode_rank(&b.mode),
        ))
    });
    let ratios = ratios_of(&modes);
    Report { format: REPORT_FORMAT.to_owned(), runs, modes, ratios }
}

/// Whether a run's every rule passed.
pub fn passed(run: &RunRecord) -> bool {
    run.verify.as_ref().is_some_and(|verdict| verdict.ok)
}

/// Whether a run says nothing about the model: it was not judged, or a rule met a fault that is not the model's.
pub fn undecided(run: &RunRecord) -> bool {
    match &run.verify {
        Some(verdict) => verdict.rules.iter().any(|rule| rule.status == RuleStatus::Error),
        None => true,
    }
}

/// Calls of a run, as people count them: what the model asked for, and what scripts did.
pub fn calls_of(run: &RunRecord) -> u32 {
    if run.scripts_run > 0 { run.nested_calls } else { run.tool_calls }
}

fn made_alike(a: &RunRecord, b: &RunRecord) -> bool {
    a.domain == b.domain
        && a.mode == b.mode
        && a.model == b.model
        && a.sandbox == b.sandbox
        && a.source == b.source
        && a.profile == b.profile
}

/// The place of a mode in tables.
pub fn mode_rank(mode: &str) -> usize {
    MODE_ORDER.iter().position(|known| *known == mode).unwrap_or(MODE_ORDER.len())
}

fn summary_of(group: &[&RunRecord]) -> ModeSummary {
    let first = group[0];
    let spread = |value: fn(&RunRecord) -> f64| Spread::of(group.iter().map(|run| value(run)));
    let costs: Option<Vec<f64>> = group.iter().map(|run| run.cost_usd).collect();
    let (tokens_read, model_turns, calls) = (
        spread(|run| run.tokens_read as f64),
        spread(|run| f64::from(run.model_turns)),
        spread(|run| f64::from(calls_of(run))),
    );
    ModeSummary {
        domain: first.domain.clone(),
        mode: first.mode.clone(),
        model: first.model.clone(),
        sandbox: first.sandbox.clone(),
        source: first.source.clone(),
        profile: first.profile.clone(),
        n: group.len(),
        passed: group.iter().filter(|run| passed(run)).count(),
        errors: group.iter().filter(|run| undecided(run)).count(),
        estimated: group.iter().any(|run| run.estimated),
        identical: group.len() > 1 && tokens_read.is_flat() && model_turns.is_flat() && calls.is_flat(),
        tokens_read,
        model_turns,
        calls,
        scripts: spread(|run| f64::from(run.scripts_run)),
        seconds: spread(|run| run.seconds),
        cost_usd: costs.map(|costs| Spread::of(costs.into_iter())),
    }
}

/// Every mode that calls tools step by step, against every mode that writes scripts.
fn ratios_of(modes: &[ModeSummary]) -> Vec<Ratio> {
    let mut ratios = Vec::new();
    for of in modes.iter().filter(|summary| matches!(summary.mode.as_str(), "serial" | "loop")) {
        for to in modes.iter().filter(|summary| matches!(summary.mode.as_str(), "code" | "hosted")) {
            let comparable = of.domain == to.domain
                && of.model == to.model
                && of.source == to.source
                && of.profile == to.profile
                && of.tokens_read.min > 0.0
                && to.tokens_read.min > 0.0;
            if comparable {
                ratios.push(Ratio {
                    domain: of.domain.clone(),
                    model: of.model.clone(),
                    source: of.source.clone(),
                    of: of.mode.clone(),
                    to: to.mode.clone(),
                    tokens_read: of.tokens_read.median / to.tokens_read.median,
                    low: of.tokens_read.min / to.tokens_read.max,
                    high: of.tokens_read.max / to.tokens_read.min,
                });
            }
        }
    }
    ratios
}

impl Spread {
    /// Median and range of `values`; zeros when there are none.
    pub fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let (Some(min), Some(max)) = (values.first().copied(), values.last().copied()) else { return Self::default() };
        let middle = values.len() / 2;
        let median =
            if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) };
        Self { median, min, max }
    }

    /// Whether all values were the same.
    pub fn is_flat(&self) -> bool {
        self.min == self.max
    }
}
