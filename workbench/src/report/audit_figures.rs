//! The figures in a run's record, held against its replay, against each other, and against the prices they name.

use serde::Serialize;
use serde_json::{Value, json};

use crate::model::prices::{Price, whole_nanodollars};
use crate::model::rehearsal;
use crate::model::types::{THINKING_NOT_SET, Usage};
use crate::results::format::{RunRecord, Stop, Turn};

/// US dollars by which two costs may differ: less than any list tells, more than reading a number back loses.
const PENNY: f64 = 1e-8;

/// A figure that is not what it must be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FigureDifference {
    /// Its name in `run.json`.
    pub name: String,
    /// What stands there.
    pub recorded: Value,
    /// What its replay came to, or what follows from the rest of the record.
    pub expected: Value,
}

/// The prices of a run.
#[derive(Clone, Copy, Debug)]
pub enum PricesOfRun<'a> {
    /// It names none.
    None,
    /// Those it names are known here.
    Known(&'a Price),
    /// Those it names are not known here, so that its costs can only be added up.
    Unknown,
}

/// What is wrong in a record. Where its replay is not `whole`, it says nothing about sums over all turns.
pub(super) fn compare(
    recorded: &RunRecord,
    replayed: &RunRecord,
    whole: bool,
    prices: PricesOfRun<'_>,
) -> Vec<FigureDifference> {
    let mut found = Vec::new();
    let mut hold = |name: String, recorded: Value, expected: Value| {
        if recorded != expected {
            found.push(FigureDifference { name, recorded, expected });
        }
    };
    // A run that was killed has what its last turn did by then.
    if whole && recorded.stop != Stop::Interrupted {
        for (old, new) in recorded.per_turn.iter().zip(&replayed.per_turn) {
            hold(of_turn(new, "tools"), json!(old.tools), json!(new.tools));
        }
        hold("nested_calls".to_owned(), json!(recorded.nested_calls), json!(replayed.nested_calls));
        hold("scripts_run".to_owned(), json!(recorded.scripts_run), json!(replayed.scripts_run));
        hold("deviations".to_owned(), json!(of_the_model(recorded)), json!(of_the_model(replayed)));
        hold("final_text".to_owned(), json!(recorded.final_text), json!(replayed.final_text));
    }
    hold("retries".to_owned(), json!(recorded.retries), json!(recorded.retried.len()));
    if recorded.model == rehearsal::NAME {
        hold("estimated".to_owned(), json!(recorded.estimated), json!(true));
    }
    found.extend(costs(recorded, prices));
    found
}

/// Names of what nothing here tells: it is what the model's server and the clock said when the run was made.
pub(super) fn unchecked(record: &RunRecord, prices: PricesOfRun<'_>) -> Vec<&'static str> {
    let mut names = vec!["seconds", "network_calls", "cache_hits", "tokens"];
    if record.model != rehearsal::NAME {
        names.extend(["estimated", "retries"]);
    }
    names.extend(matches!(prices, PricesOfRun::Unknown).then_some("cost_usd"));
    names
}

/// The first turn whose cost is not that of its tokens, and the sum. Of a run with turns that were counted locally nobody
/// knows which they were; they have no cost, and so the run has none.
fn costs(record: &RunRecord, prices: PricesOfRun<'_>) -> Vec<FigureDifference> {
    let by_list = |turn: &Turn| match prices {
        PricesOfRun::None => None,
        PricesOfRun::Known(price) => price.cost(&usage(turn)),
        PricesOfRun::Unknown => turn.cost_usd,
    };
    let is_wrong = |turn: &&Turn| {
        let may_lack = record.estimated && turn.cost_usd.is_none();
        !may_lack && !is_same(turn.cost_usd, by_list(turn))
    };
    let wrong = record.per_turn.iter().find(is_wrong).map(|turn| FigureDifference {
        name: of_turn(turn, "cost_usd"),
        recorded: json!(turn.cost_usd),
        expected: json!(by_list(turn)),
    });
    let known = record.per_turn.iter().map(by_list).collect::<Option<Vec<f64>>>();
    let is_known = !(record.estimated && matches!(prices, PricesOfRun::Known(_)));
    let sum = known.filter(|costs| is_known && !costs.is_empty()).map(|costs| costs.iter().fold(0.0, add));
    let whole = (!is_same(record.cost_usd, sum)).then(|| FigureDifference {
        name: "cost_usd".to_owned(),
        recorded: json!(record.cost_usd),
        expected: json!(sum),
    });
    wrong.into_iter().chain(whole).collect()
}

/// The deviations that stand in what was said. What the server did not take, only it knew.
fn of_the_model(record: &RunRecord) -> Vec<&str> {
    record.deviations.iter().map(String::as_str).filter(|known| *known != THINKING_NOT_SET).collect()
}

fn of_turn(turn: &Turn, figure: &str) -> String {
    format!("per_turn[{}].{figure}", turn.turn.saturating_sub(1))
}

fn add(sum: f64, cost: &f64) -> f64 {
    whole_nanodollars(sum + cost)
}

fn is_same(one: Option<f64>, other: Option<f64>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => (one - other).abs() < PENNY,
        (one, other) => one == other,
    }
}

fn usage(turn: &Turn) -> Usage {
    Usage {
        input_tokens: turn.input_tokens,
        output_tokens: turn.output_tokens,
        cache_read_tokens: turn.cache_read_tokens,
        cache_write_tokens: turn.cache_write_tokens,
        estimated: false,
    }
}
