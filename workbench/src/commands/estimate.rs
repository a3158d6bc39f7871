//! What a comparison that costs money will probably cost, told before its first run.

use std::collections::BTreeMap;

use crate::model::prices::{CONTAINER_HOUR, Price, SHORTEST_CONTAINER};
use crate::model::rehearsal;
use crate::model::types::Usage;
use crate::printer;
use crate::report::console;
use crate::report::statistics::Spread;
use crate::report::table::dollars;
use crate::results::attempts::is_decided;
use crate::results::find::list_runs;
use crate::results::format::RunRecord;
use crate::runner::Mode;

use super::context::Context;
use super::models::Asked;
use super::runs::{Job, Plan};

/// Says on standard error what the runs that are left will cost, by what the domain's rehearsal read: in runs that are there,
/// or in one that is made now and not kept. Says so, too, when there is nothing to go by.
pub(super) async fn tell(context: &Context, plans: &[Plan], left: &[(usize, Vec<Job>)]) {
    for (plan, jobs) in left {
        let plan = &plans[*plan];
        if !plan.options.model.model.is_paid() {
            continue;
        }
        let domain = plan.domain.name();
        let Some(price) = &plan.price else {
            let model = plan.model.name();
            let cost = if plan.model.tells_costs() {
                "what it costs its provider tells afterwards"
            } else {
                "so its runs have no cost"
            };
            printer::note(&format!("no estimate: no price is known of {model}, {cost}; `--prices FILE` names one"));
            return;
        };
        match of_jobs(context, plan, price, jobs).await {
            Ok(text) => printer::note(&format!("estimate for {domain}: {text}")),
            Err(reason) => printer::note(&format!("no estimate for {domain}: {reason}")),
        }
    }
}

async fn of_jobs(context: &Context, plan: &Plan, price: &Price, jobs: &[Job]) -> Result<String, String> {
    let (mut parts, mut sum) = (Vec::new(), 0.0);
    for (mode, runs) in counted(jobs) {
        let Some(cost) = of_mode(context, plan, price, mode).await else {
            return Err(format!("there is no rehearsal of mode {mode} under these limits, and none could be made"));
        };
        sum += cost * runs as f64;
        parts.push(format!("{runs} × {mode} at {}", dollars(cost)));
    }
    let has_containers = plan.hosted_tool(&plan.model).is_some() && jobs.iter().any(|job| job.mode == Mode::Hosted);
    let containers = if has_containers {
        let hours = SHORTEST_CONTAINER.as_secs_f64() / 3600.0;
        let price = dollars(hours * CONTAINER_HOUR);
        format!(
            "; a run of hosted also uses a container of the provider's, {price} at least beyond an account's free hours"
        )
    } else {
        String::new()
    };
    Ok(format!(
        "about {} ({}) if the model worked as the rehearsal does; it may cost several times that{containers}",
        dollars(sum),
        parts.join(", ")
    ))
}

/// US dollars of one run.
async fn of_mode(context: &Context, plan: &Plan, price: &Price, mode: Mode) -> Option<f64> {
    let listing = list_runs(&context.results, Some(plan.domain.name())).ok();
    let known = listing.into_iter().flat_map(|listing| listing.runs).map(|stored| stored.record);
    let limits: BTreeMap<String, u64> = plan.limits().entries().map(|(key, value)| (key.to_owned(), value)).into();
    let fingerprint = plan.fingerprint(&Asked::Rehearsal);
    // Under other limits a rehearsal may end sooner, and read more or less of what tools say.
    let is_alike = |run: &RunRecord| {
        run.model == rehearsal::NAME
            && run.mode == mode.name()
            && run.limits == limits
            && run.fingerprint == fingerprint
            && is_decided(run)
    };
    let mut rehearsed: Vec<RunRecord> = known.filter(is_alike).collect();
    if rehearsed.is_empty() {
        let _step = console::step(&format!("rehearsing {} in mode {mode} for an estimate", plan.domain.name()));
        rehearsed.extend(plan.rehearse(context, mode).await.filter(is_decided));
    }
    let costs: Option<Vec<f64>> = rehearsed.iter().map(|run| of_run(run, price)).collect();
    Spread::of(costs?.into_iter()).map(|costs| costs.median)
}

/// What the turns of a rehearsal would have cost, nothing of them from a cache.
fn of_run(run: &RunRecord, price: &Price) -> Option<f64> {
    let turns = run.per_turn.iter().map(|turn| {
        price.cost(&Usage { input_tokens: turn.tokens_read, output_tokens: turn.output_tokens, ..Usage::default() })
    });
    turns.sum()
}

/// The modes in the order of their first jobs, with the number of those.
fn counted(jobs: &[Job]) -> Vec<(Mode, usize)> {
    let mut counts: Vec<(Mode, usize)> = Vec::new();
    for job in jobs {
        match counts.iter_mut().find(|(mode, _)| *mode == job.mode) {
            Some((_, count)) => *count += 1,
            None => counts.push((job.mode, 1)),
        }
    }
    counts
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::model::prices::Prices;

    /// A rehearsal whose turns read and wrote so many tokens.
    fn rehearsed(turns: &[(u64, u64)]) -> RunRecord {
        let per_turn: Vec<_> = (1..)
            .zip(turns)
            .map(|(turn, (read, written))| {
                serde_json::json!({
                    "turn": turn, "tokens_read": read, "input_tokens": read, "output_tokens": written, "tools": []
                })
            })
            .collect();
        serde_json::from_value(serde_json::json!({
            "format": "workbench/run/v1", "run": "r", "domain": "d", "mode": "loop", "model": "rehearsal",
            "sandbox": null, "source": "cassette", "profile": "debug", "tag": null, "started": "", "seconds": 1.0,
            "stop": "end_turn", "model_turns": 2, "tool_calls": 0, "nested_calls": 0, "scripts_run": 0, "retries": 0,
            "tokens_read": 0, "input_tokens": 0, "output_tokens": 0, "cache_read_tokens": 0, "cache_write_tokens": 0,
            "estimated": true, "per_turn": per_turn, "cost_usd": null, "final_text": "", "verify": null,
        }))
        .unwrap()
    }

    /// Each turn by its own card: the sum of the tokens would go by the wrong one.
    #[test]
    fn a_rehearsal_is_priced_turn_by_turn() {
        let prices = Prices::load(None).unwrap();
        for (model, turns, cost) in [
            ("anthropic:claude-haiku-5-5", &[(60_000, 1_000), (60_000, 1_000)][..], 0.013),
            ("anthropic:claude-haiku-5-5", &[(60_000, 1_000), (100_001, 0)], 0.056_500_5),
            ("anthropic:claude-opus-5", &[(1_000, 100)], 0.007_5),
        ] {
            let found = of_run(&rehearsed(turns), prices.of(model).unwrap()).unwrap();
            assert!((found - cost).abs() < 1e-12, "{model} {turns:?}: {found}");
        }
    }

    #[test]
    fn jobs_are_counted_by_mode() {
        let job = |mode| Job { mode, number: 1 };
        let jobs = [job(Mode::Code), job(Mode::Loop), job(Mode::Code)];
        assert_eq!(counted(&jobs), [(Mode::Code, 2), (Mode::Loop, 1)]);
        assert_eq!(counted(&[]), []);
    }
}
