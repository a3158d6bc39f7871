//! The names in `run.json`, `ledger.jsonl` and `verify.json`. `docs/results-format.md` tells them
//! with examples; additions keep the version, anything else makes a new one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Value of `format` in `run.json`.
pub const RUN_FORMAT: &str = "workbench/run/v1";
/// Value of `format` in `report --format json`.
pub const REPORT_FORMAT: &str = "workbench/report/v1";

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The model said it was done.
    EndTurn,
    /// The mode's turn limit.
    MaxTurns,
    /// The model's answer was cut at its token limit.
    MaxTokens,
    /// A budget of calls, tokens, money or time.
    Budget,
    /// The model refused.
    Refusal,
    /// The model could not be reached or answered garbage.
    ModelError,
    /// Ctrl-C or a killed host.
    Interrupted,
}

/// One run: the content of `run.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// [`RUN_FORMAT`].
    pub format: String,
    /// Name of the run's folder.
    pub run: String,
    /// Name of the domain.
    pub domain: String,
    /// `serial`, `loop`, `code` or `hosted`.
    pub mode: String,
    /// `rehearsal`, or provider and id.
    pub model: String,
    /// Sandbox of code mode; null in the others.
    pub sandbox: Option<String>,
    /// What was chosen of it, such as `network`, and the image's id; empty for one that has no such settings.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sandbox_settings: BTreeMap<String, String>,
    /// `cassette`, `live`, or the routes.
    pub source: String,
    /// `debug` or `release`.
    pub profile: String,
    /// The limits it ran under, by their keys in the manifest.
    #[serde(default)]
    pub limits: BTreeMap<String, u64>,
    /// What it might use up beside that; absent when nothing was set.
    #[serde(default, skip_serializing_if = "Budgets::is_empty")]
    pub budgets: Budgets,
    /// How the model was asked, by names such as `thinking` and `caching`; empty for one that has no such settings.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// Digests of what was measured, by the names of its parts, such as `task` and `rules`; empty in old records.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fingerprint: BTreeMap<String, String>,
    /// Which command made it: the UTC time of its start and its process id.
    #[serde(default)]
    pub command: String,
    /// Counts the runs of this domain and mode in that command, from 1.
    #[serde(default)]
    pub number: u32,
    /// What `compare` was to make in all; absent in runs of other commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
    /// What the user called this run.
    pub tag: Option<String>,
    /// What the rehearsal of the domain repeats; null for other models, and where the manifest does not say.
    #[serde(default)]
    pub rehearsal_of: Option<String>,
    /// UTC, RFC 3339.
    pub started: String,
    /// Wall time of the run without builds and without the verifier.
    pub seconds: f64,
    /// Why it ended; a run still going, or killed, says `interrupted`.
    pub stop: Stop,
    /// What failed or was cut off, where there is more to say than `stop` does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_detail: Option<String>,
    /// Answers of the model.
    pub model_turns: u32,
    /// Calls asked for by the model; in code mode each `run_python` is one.
    pub tool_calls: u32,
    /// Calls made by scripts.
    pub nested_calls: u32,
    /// Scripts run.
    pub scripts_run: u32,
    /// Requests to the model that were tried again.
    pub retries: u32,
    /// What was wrong with the first of them, and how long each was waited for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retried: Vec<RetryRecord>,
    /// What the model or its server did otherwise than they were asked, such as `serial not honoured`; each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deviations: Vec<String>,
    /// Uncached input + cache read + cache written.
    pub tokens_read: u64,
    /// Uncached input tokens.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// Tokens read from a prompt cache.
    pub cache_read_tokens: u64,
    /// Tokens written to a prompt cache.
    pub cache_write_tokens: u64,
    /// Whether the tokens were counted locally.
    pub estimated: bool,
    /// Figures of each turn.
    pub per_turn: Vec<Turn>,
    /// What the requests cost in US dollars, the sum over the turns; null when one of them has no known cost.
    pub cost_usd: Option<f64>,
    /// By which prices that is: their day and their source. Absent when none are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<String>,
    /// Requests that went to the network during this run.
    #[serde(default)]
    pub network_calls: u64,
    /// Requests answered by cache or cassette during this run.
    #[serde(default)]
    pub cache_hits: u64,
    /// What was used of the provider's sandbox; only in mode `hosted`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosted: Option<Hosted>,
    /// What its tools met that is not the model's fault; injected faults are not among it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
    /// The model's last words; never judged.
    pub final_text: String,
    /// The verdict; null until the run was judged.
    pub verify: Option<Verdict>,
}

/// What a run of mode `hosted` used of the provider's sandbox.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hosted {
    /// Containers the scripts ran in.
    pub containers: u32,
    /// Seconds from the first use of a container to its last, the least that is billed for each counted: an upper bound of
    /// what the provider counts, which it does not tell.
    pub container_seconds: f64,
    /// What that time costs in US dollars beyond the free hours of an account; null where the provider is not known to
    /// bill it.
    pub container_cost_usd: Option<f64>,
    /// Requests that only brought results to code that waited for them; the model read nothing for them where the provider
    /// says so.
    pub resumes: u32,
    /// Calls the model made itself of tools that were offered to its scripts alone; they were served.
    #[serde(default)]
    pub direct_calls: u32,
    /// Ids of files the scripts left with the provider: the first ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// How many more there are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_files: u64,
    /// Errors of the provider's tool by their codes, and how often each came; of very many the rest is `others`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<String, u32>,
}

/// More than any run takes in seconds, dollars or points.
const MOST: f64 = 1e12;

/// Keys of `sandbox_settings`.
pub mod setting {
    /// What containers reach.
    pub const NETWORK: &str = "network";
    /// The value of [`NETWORK`] that goes without saying.
    pub const NO_NETWORK: &str = "none";
    /// The id of the image.
    pub const IMAGE: &str = "image";
    /// The image's name in a registry, by digest; left out for one that was built here.
    pub const DIGEST: &str = "digest";
    /// That the scripts of a run shared one container.
    pub const CONTAINER: &str = "container";
    /// The engine's runtime, where one was chosen.
    pub const RUNTIME: &str = "runtime";
}

/// How a sandbox is called where runs are told apart: its name, and what was chosen of it otherwise than by default. The
/// image is not part of it: its id changes with every build.
pub fn sandbox_label(name: &str, settings: &BTreeMap<String, String>) -> String {
    let told = |(name, value): &(&String, &String)| match name.as_str() {
        setting::IMAGE | setting::DIGEST => false,
        setting::NETWORK => *value != setting::NO_NETWORK,
        _ => true,
    };
    let chosen = settings.iter().filter(told);
    let words = chosen.map(|(name, value)| format!(", {name} {value}"));
    std::iter::once(name.to_owned()).chain(words).collect()
}

impl RunRecord {
    /// Where its scripts ran, see [`sandbox_label`].
    pub fn sandbox_label(&self) -> Option<String> {
        self.sandbox.as_deref().map(|name| sandbox_label(name, &self.sandbox_settings))
    }

    /// Which figure is none that a run can have, and why; records come from others, too.
    pub(super) fn absurdity(&self) -> Option<String> {
        let figure = |name: &str, value: f64| (name.to_owned(), value);
        let mut figures = vec![figure("seconds", self.seconds)];
        figures.extend(self.cost_usd.map(|cost| figure("cost_usd", cost)));
        if let Some(hosted) = &self.hosted {
            figures.push(figure("hosted.container_seconds", hosted.container_seconds));
            figures.extend(hosted.container_cost_usd.map(|cost| figure("hosted.container_cost_usd", cost)));
        }
        if let Some(verdict) = &self.verify {
            figures.push(figure("verify.points", verdict.points));
            figures.push(figure("verify.max_points", verdict.max_points));
            for (index, rule) in verdict.rules.iter().enumerate() {
                figures.push((format!("verify.rules[{index}].points"), rule.points));
                figures.push((format!("verify.rules[{index}].max_points"), rule.max_points));
            }
        }
        let (name, value) = figures.into_iter().find(|(_, value)| !(0.0..=MOST).contains(value))?;
        Some(format!("`{name}` is {value:e}; it must lie between 0 and {MOST:e}"))
    }
}

/// What a comparison is to make: `runs` runs of each mode on each domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    /// Names of the domains, in the order they were given.
    pub domains: Vec<String>,
    /// Names of the modes, likewise.
    pub modes: Vec<String>,
    /// Runs of each mode.
    pub runs: u32,
    /// Whether all runs of a mode are made before the first of the next; otherwise one of each mode in turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mode_after_mode: bool,
}

/// What ends a run before its next request. Nothing set is no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
pub struct Budgets {
    /// Tokens read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens_read: Option<u64>,
    /// US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<f64>,
    /// Wall seconds since the run began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_seconds: Option<u64>,
}

impl Budgets {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Those that are set, as people read them.
    pub fn entries(&self) -> Vec<(&'static str, String)> {
        let entries = [
            ("max_tokens_read", self.max_tokens_read.map(|tokens| tokens.to_string())),
            ("max_cost_usd", self.max_cost_usd.map(|dollars| dollars.to_string())),
            ("max_seconds", self.max_seconds.map(|seconds| seconds.to_string())),
        ];
        entries.into_iter().filter_map(|(name, value)| value.map(|value| (name, value))).collect()
    }
}

/// A fault that is not the model's: of the API, the network, the cassette, the disk or the plugin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// What failed, with which value.
    pub text: String,
    /// How often.
    pub count: u64,
}

/// A request to the model that was made again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RetryRecord {
    /// The turn it was for, from 1.
    pub turn: u32,
    /// What was wrong with the try before.
    pub cause: String,
    /// Seconds waited before the next.
    pub wait_seconds: f64,
}

/// Figures of one turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// From 1.
    pub turn: u32,
    /// What the model read on this turn.
    pub tokens_read: u64,
    /// Of it, uncached.
    pub input_tokens: u64,
    /// Of it, from a prompt cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_read_tokens: u64,
    /// Of it, written to a prompt cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// What it wrote.
    pub output_tokens: u64,
    /// What the request cost in US dollars, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Names of the tools it called, in order.
    pub tools: Vec<String>,
}

/// One line of `ledger.jsonl`: a tool call, whoever made it, written when it ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallRecord {
    /// Turn of the model in which it was made, from 1; 0 outside a run.
    pub turn: u32,
    /// Script that made it, from 1; null for a call of the model itself.
    pub script: Option<u32>,
    /// Name of the tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
    /// Milliseconds it took.
    pub ms: f64,
    /// Bytes of the answer or of the error text.
    pub bytes: u64,
    /// How it ended.
    pub outcome: CallEnd,
    /// The error text, when it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// How a tool call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallEnd {
    /// With an answer.
    Answered,
    /// The tool refused or failed with a text of its own.
    ToolError,
    /// The plugin died.
    Crashed,
    /// The call took longer than `tool_seconds`.
    TimedOut,
    /// The tool does not exist, its arguments are no JSON object, or the call budget was used up.
    Refused,
    /// Its caller ended before it did.
    Abandoned,
}

/// What verify found: the content of `verify.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Whether every rule passed.
    pub ok: bool,
    /// Points earned.
    pub points: f64,
    /// Points there were to earn.
    pub max_points: f64,
    /// The rules, in the manifest's order.
    pub rules: Vec<RuleOutcome>,
}

/// One rule, judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuleOutcome {
    /// Its name in the manifest.
    pub name: String,
    /// How it ended.
    pub status: RuleStatus,
    /// What was there, from the rule's `got` expression or the error text.
    pub got: Value,
    /// Points earned.
    pub points: f64,
    /// Points there were to earn.
    pub max_points: f64,
}

/// How a rule ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleStatus {
    /// The check was true.
    Pass,
    /// The check was false, or what it reads is missing through the model's fault.
    Fail,
    /// A fault that is not the model's; counts neither way.
    Error,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
