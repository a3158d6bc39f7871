//! What runs cost, and the budgets that end them.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use serde_json::json;

use super::Mode;
use super::budget::used_up;
use super::doubles::{calls, words};
use super::tests::{limits, trial_within};
use crate::model::prices::{Price, Prices};
use crate::model::types::ModelError;
use crate::results::format::{Budgets, Stop};
use crate::results::store::read_run;

/// Reads 70 tokens at 1 dollar a million, 20 from a cache at 0.1, 10 into one at 1.25; writes 10 at 5.
const DOLLARS_A_TURN: f64 = 0.000_134_5;

fn price() -> Option<Price> {
    Prices::load(None).unwrap().of("anthropic:claude-haiku-4-5").cloned()
}

#[tokio::test]
async fn a_run_costs_what_its_turns_cost() {
    let turns = vec![calls(&[("echo", json!({}))]), words("Done.")];
    let trial = trial_within(Mode::Loop, limits(), Budgets::default(), price(), turns).await;
    let record = read_run(&trial.run).unwrap();
    assert_eq!(record.cost_usd, Some(2.0 * DOLLARS_A_TURN));
    assert_eq!(record.prices.as_deref(), Some("2026-08-21, https://platform.claude.com/docs/en/about-claude/pricing"));
    let turns: Vec<_> =
        record.per_turn.iter().map(|turn| (turn.cost_usd, turn.cache_read_tokens, turn.cache_write_tokens)).collect();
    assert_eq!(turns, [(Some(DOLLARS_A_TURN), 20, 10); 2]);

    // Tokens counted locally have no price, and what one turn does not tell the sum cannot.
    let mut guessed = words("Done.").unwrap();
    guessed.usage.estimated = true;
    let turns = vec![calls(&[("echo", json!({}))]), Ok(guessed)];
    let trial = trial_within(Mode::Loop, limits(), Budgets::default(), price(), turns).await;
    assert_eq!(trial.record.cost_usd, None);
    assert_eq!(trial.record.per_turn[0].cost_usd, Some(DOLLARS_A_TURN));
}

/// Budgets, the turns that are made under them, and what is said in the end.
#[tokio::test]
async fn a_budget_ends_a_run_before_its_next_request() {
    let tokens = |max| Budgets { max_tokens_read: Some(max), ..Budgets::default() };
    let cost = |max| Budgets { max_cost_usd: Some(max), ..Budgets::default() };
    for (budgets, made, told) in [
        (tokens(1), 1, "this run may read 1 tokens (`--max-tokens-read`), and has read 100"),
        (tokens(100), 1, "and has read 100"),
        (tokens(101), 2, "and has read 200"),
        (cost(0.0001), 1, "this run may cost $0.0001 (`--max-cost`), and has cost $0.0001345"),
        (cost(0.0002), 2, "and has cost $0.000269"),
    ] {
        let turns = (0..9).map(|_| calls(&[("echo", json!({}))])).collect();
        let trial = trial_within(Mode::Loop, limits(), budgets, price(), turns).await;
        let record = &trial.record;
        assert_eq!((record.stop, record.model_turns), (Stop::Budget, made), "{budgets:?}");
        assert!(record.stop_detail.as_deref().unwrap().contains(told), "{:?}", record.stop_detail);
        assert_eq!(record.budgets, budgets);
        assert_eq!(trial.ledger().len(), made as usize, "the calls of the last turn are made");
    }
    let turns = vec![words("Done.")];
    let trial = trial_within(Mode::Loop, limits(), tokens(1), price(), turns).await;
    assert_eq!(trial.record.stop, Stop::EndTurn, "who ends by himself is not ended");
}

#[tokio::test]
async fn a_model_knows_when_the_time_is_up() {
    let budgets = Budgets { max_seconds: Some(3600), ..Budgets::default() };
    let trial = trial_within(Mode::Loop, limits(), budgets, None, vec![Err(ModelError::OutOfTime)]).await;
    assert!(trial.heard[0].is_timed);
    assert_eq!((trial.record.stop, trial.record.model_turns), (Stop::Budget, 0));
    let detail = trial.record.stop_detail.unwrap();
    assert!(detail.starts_with("this run may take 3600 seconds (`--max-seconds`), and has taken "), "{detail}");
    for budgets in [Budgets::default(), Budgets { max_seconds: Some(u64::MAX), ..Budgets::default() }] {
        let trial = trial_within(Mode::Loop, limits(), budgets, None, vec![words("Done.")]).await;
        assert!(!trial.heard[0].is_timed);
    }
}

#[tokio::test]
async fn a_budget_of_time_or_of_unknown_cost_is_used_up_when_it_is() {
    let budgets = Budgets { max_seconds: Some(60), ..Budgets::default() };
    let record = trial_within(Mode::Loop, limits(), budgets, None, vec![words("Done.")]).await.record;
    assert_eq!(used_up(&record, Duration::from_millis(59_999)), None);
    let told = "this run may take 60 seconds (`--max-seconds`), and has taken 60.0";
    assert_eq!(used_up(&record, Duration::from_secs(60)).as_deref(), Some(told));

    let budgets = Budgets { max_cost_usd: Some(9.0), ..Budgets::default() };
    let turns = vec![calls(&[("echo", json!({}))]), words("Done.")];
    let record = trial_within(Mode::Loop, limits(), budgets, None, turns).await.record;
    assert_eq!((record.stop, record.model_turns), (Stop::Budget, 1));
    let told = "this run may cost $9 (`--max-cost`), and what it has cost is not known any more";
    assert_eq!(record.stop_detail.as_deref(), Some(told));
}
