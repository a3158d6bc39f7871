//! The loop of all modes, with a model whose turns are data.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::watch;

use super::doubles::{FakeSandbox, Request, blocks, calls, fake_tools, script, scripted, turn, words};
use super::setup::RunSetup;
use super::{Mode, RunError, RunRequest, ScriptForm};
use crate::domain::Domain;
use crate::domain::manifest::{ApiSection, Limits};
use crate::events::Listener;
use crate::model::prices::Price;
use crate::model::types::{Block, Message, ModelError, ModelReply, Role, StopReason};
use crate::results::format::{Budgets, CallEnd, RunRecord, Stop};
use crate::results::store::{read_ledger, read_run, read_transcript};
use crate::web::{Source, WebClient, WebSettings};

/// A run over the fake tools, up to its verdict.
pub(super) struct Trial {
    _home: tempfile::TempDir,
    pub(super) run: PathBuf,
    pub(super) record: RunRecord,
    pub(super) heard: Vec<Request>,
    outcome: Result<(), RunError>,
}

const MANIFEST: &str = r#"
[domain]
name = "trial"
title = "Trial"
plugin = "trial"

[task]
persona = "You try things."
prompt = "Try it."
"#;

pub(super) fn limits() -> Limits {
    Limits { output_chars: 40, ..Limits::default() }
}

pub(super) type Turns = Vec<Result<ModelReply, ModelError>>;

pub(super) async fn trial(mode: Mode, limits: Limits, turns: Turns) -> Trial {
    trial_within(mode, limits, Budgets::default(), None, turns).await
}

/// A run of mode code whose scripts come as fenced blocks.
pub(super) async fn in_words(limits: Limits, turns: Turns) -> Trial {
    let (_raise, interrupt) = watch::channel(false);
    hold(Mode::Code, limits, Budgets::default(), None, turns, ScriptForm::FencedBlock, interrupt).await
}

pub(super) async fn trial_within(
    mode: Mode,
    limits: Limits,
    budgets: Budgets,
    price: Option<Price>,
    turns: Turns,
) -> Trial {
    let (_raise, interrupt) = watch::channel(false);
    hold(mode, limits, budgets, price, turns, ScriptForm::ToolCall, interrupt).await
}

async fn trial_until(mode: Mode, limits: Limits, turns: Turns, interrupt: watch::Receiver<bool>) -> Trial {
    hold(mode, limits, Budgets::default(), None, turns, ScriptForm::ToolCall, interrupt).await
}

async fn hold(
    mode: Mode,
    limits: Limits,
    budgets: Budgets,
    price: Option<Price>,
    turns: Turns,
    script_form: ScriptForm,
    interrupt: watch::Receiver<bool>,
) -> Trial {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("trial");
    fs::create_dir(&home).unwrap();
    fs::write(home.join("domain.toml"), MANIFEST).unwrap();
    let domain = Domain::load(&home).unwrap();
    let (model, heard) = scripted(turns);
    let web = WebClient::open(WebSettings {
        api: ApiSection::default(),
        cassette: None,
        source: Source::Live,
        offline: true,
        cache: folder.path().join("cache"),
        injections: Vec::new(),
    });
    let request = RunRequest {
        domain: &domain,
        mode,
        command: "2026-11-29T12-00-00Z-1",
        number: 1,
        comparison: None,
        model,
        model_name: "scripted".to_owned(),
        settings: BTreeMap::new(),
        fingerprint: BTreeMap::new(),
        script_form,
        price,
        hosted_tool: None,
        sandbox: Some(Arc::new(FakeSandbox)),
        results: folder.path(),
        limits,
        budgets,
        tag: None,
        profile: "debug".to_owned(),
        library: Path::new("unused"),
        web: web.unwrap(),
        source: "live".to_owned(),
        listener: Listener::none(),
        interrupt,
    };
    let mut setup = RunSetup::open(&request).unwrap();
    let mut session = setup.session(request, fake_tools()).unwrap();
    let outcome = tokio::time::timeout(Duration::from_secs(60), session.talk("Try it.")).await.expect("the run hangs");
    drop(session);
    let heard = heard.lock().unwrap().clone();
    Trial { _home: folder, run: setup.folder.path().to_owned(), record: setup.record, heard, outcome }
}

impl Trial {
    /// The record as it is kept until somebody has judged the run.
    fn unjudged(&self) -> RunRecord {
        RunRecord { stop: Stop::Interrupted, stop_detail: None, ..self.record.clone() }
    }

    /// The texts of the last message the model was sent, errors marked.
    pub(super) fn last_answers(&self) -> Vec<(String, bool)> {
        let sent = read_transcript(&self.run).unwrap();
        let message: Message = serde_json::from_value(sent.last().unwrap().unwrap()).unwrap();
        assert_eq!(message.role, Role::User);
        let results = message.content.into_iter().map(|block| match block {
            Block::ToolResult { content, is_error, .. } => (content, is_error),
            other => panic!("not a result: {other:?}"),
        });
        results.collect()
    }

    pub(super) fn ledger(&self) -> Vec<(Option<u32>, String, CallEnd)> {
        let calls = read_ledger(&self.run).unwrap();
        calls.into_iter().map(|call| (call.script, call.tool, call.outcome)).collect()
    }
}

fn good(text: &str) -> (String, bool) {
    (text.to_owned(), false)
}

pub(super) fn bad(text: &str) -> (String, bool) {
    (text.to_owned(), true)
}

#[tokio::test]
async fn a_record_keeps_the_beginning_of_what_is_endless() {
    let endless = "é".repeat(10 << 20);
    let trial = trial(Mode::Loop, limits(), vec![calls(&[(endless.as_str(), json!({}))]), words(&endless)]).await;
    let record = read_run(&trial.run).unwrap();
    let lengths = [&record.per_turn[0].tools[0], &record.final_text].map(|text| text.chars().count());
    assert_eq!(lengths, [201, 64 * 1024 + 1]);
}

#[tokio::test]
async fn calls_of_one_turn_run_at_once_and_are_answered_in_order_in_one_message() {
    let turns = vec![calls(&[("first", json!({"place": 1})), ("second", json!({"place": 2}))]), words("Done.")];
    let trial = trial(Mode::Loop, limits(), turns).await;
    trial.outcome.as_ref().unwrap();

    let Request { messages, .. } = &trial.heard[1];
    assert_eq!(messages.len(), 3);
    let ids: Vec<&str> = messages[2]
        .content
        .iter()
        .map(|block| match block {
            Block::ToolResult { tool_use_id, .. } => tool_use_id.as_str(),
            other => panic!("not a result: {other:?}"),
        })
        .collect();
    assert_eq!(ids, ["id0", "id1"]);
    let ended: Vec<String> = trial.ledger().into_iter().map(|(_, tool, _)| tool).collect();
    assert_eq!(ended, ["second", "first"], "the first call waits for the second one");
    assert_eq!(trial.record.stop, Stop::EndTurn);
    assert_eq!(trial.record.final_text, "Done.");
}

#[tokio::test]
async fn each_mode_asks_with_its_own_settings() {
    for (mode, max_tokens, parallel_calls, tools) in
        [(Mode::Serial, 4096, false, 7), (Mode::Loop, 4096, true, 7), (Mode::Code, 8000, true, 1)]
    {
        let trial = trial(mode, limits(), vec![words("Done.")]).await;
        let asked = &trial.heard[0];
        assert_eq!((asked.max_tokens, asked.parallel_calls), (max_tokens, parallel_calls), "{mode}");
        assert_eq!(asked.tools.len(), tools, "{mode}");
        assert!(asked.system.starts_with("You try things."), "{mode}");
        assert_eq!(asked.messages[0].content, [Block::Text { text: "Try it.".to_owned() }], "{mode}");
    }
}

#[tokio::test]
async fn what_was_read_is_summed_over_all_kinds_of_input() {
    let trial = trial(Mode::Loop, limits(), vec![calls(&[("echo", json!({}))]), words("Done.")]).await;
    let record = read_run(&trial.run).unwrap();
    assert_eq!(record, trial.unjudged());
    assert_eq!((record.model_turns, record.tool_calls, record.nested_calls, record.retries), (2, 1, 0, 2));
    assert_eq!((record.tokens_read, record.input_tokens, record.output_tokens), (200, 140, 20));
    assert_eq!((record.cache_read_tokens, record.cache_write_tokens), (40, 20));
    assert!(!record.estimated);
    assert_eq!((record.command.as_str(), record.number), ("2026-11-29T12-00-00Z-1", 1));
    assert_eq!((record.limits["output_chars"], record.limits["tool_calls"], record.limits.len()), (40, 2000, 9));
    let turns: Vec<_> =
        record.per_turn.iter().map(|turn| (turn.turn, turn.tokens_read, turn.tools.join(" "))).collect();
    assert_eq!(turns, [(1, 100, "echo".to_owned()), (2, 100, String::new())]);
}

#[tokio::test]
async fn every_failure_is_a_text_the_model_can_act_on() {
    for (tool, text, end) in [
        ("refuse", "ERROR: no object 7 (ask for another)", CallEnd::ToolError),
        ("crash", "ERROR: crash crashed: exit status 3", CallEnd::Crashed),
        ("time_out", "ERROR: time_out took longer than 60 s and was stopped", CallEnd::TimedOut),
        (
            "ecko",
            "ERROR: unknown tool `ecko`; the tools are echo, refuse, crash, time_out, hang, first, second",
            CallEnd::Refused,
        ),
        (
            "",
            "ERROR: unknown tool ``; the tools are echo, refuse, crash, time_out, hang, first, second",
            CallEnd::Refused,
        ),
    ] {
        let trial = trial(Mode::Loop, Limits { loop_turns: 1, ..limits() }, vec![calls(&[(tool, json!({}))])]).await;
        assert_eq!(trial.last_answers(), [bad(text)]);
        assert_eq!(trial.ledger(), [(None, tool.to_owned(), end)]);
    }
}

#[tokio::test]
async fn a_model_that_never_ends_is_ended_by_its_turns() {
    let turns = (0..9).map(|_| calls(&[("echo", json!({}))])).collect();
    let trial = trial(Mode::Serial, Limits { serial_turns: 3, ..limits() }, turns).await;
    assert_eq!((trial.record.stop, trial.record.model_turns), (Stop::MaxTurns, 3));
    assert_eq!(trial.ledger().len(), 3);
}

#[tokio::test]
async fn a_call_over_the_budget_ends_the_run_after_its_turn() {
    let four = [("echo", json!({})), ("echo", json!({})), ("echo", json!({})), ("echo", json!({}))];
    let trial = trial(Mode::Loop, Limits { tool_calls: 2, ..limits() }, vec![calls(&four)]).await;
    let spent = bad("ERROR: this run may make 2 tool calls, and has made them");
    assert_eq!(trial.last_answers(), [good("{}"), good("{}"), spent.clone(), spent]);
    assert_eq!((trial.record.stop, trial.record.tool_calls), (Stop::Budget, 4));
    let ends: Vec<CallEnd> = trial.ledger().into_iter().map(|(.., end)| end).collect();
    assert_eq!(ends, [CallEnd::Answered, CallEnd::Answered, CallEnd::Refused]);
}

#[tokio::test]
async fn a_call_cut_off_by_the_token_limit_is_never_made() {
    let cut = turn(blocks(&[("echo", json!({"whole": 1})), ("echo", json!({"who": ""}))]), StopReason::MaxTokens);
    let trial = trial(Mode::Loop, limits(), vec![cut, words("Shorter.")]).await;
    let told =
        bad("ERROR: not run: your answer was cut off at 4096 tokens, in the middle of this call. Say it shorter.");
    let heard = &trial.heard[1].messages[2].content;
    assert_eq!(heard.len(), 2);
    assert!(matches!(&heard[0], Block::ToolResult { is_error: false, .. }));
    assert!(matches!(&heard[1], Block::ToolResult { content, is_error: true, .. } if *content == told.0));
    assert_eq!(trial.ledger().len(), 1);
    assert_eq!(trial.record.stop, Stop::EndTurn);
}

#[tokio::test]
async fn ends_that_are_the_models_own() {
    let text = |reason| turn(vec![Block::Text { text: "I will not.".to_owned() }], reason);
    for (last, stop, detail) in [
        (text(StopReason::MaxTokens), Stop::MaxTokens, None),
        (text(StopReason::Refusal), Stop::Refusal, Some("I will not.")),
        (turn(blocks(&[("echo", json!({}))]), StopReason::Refusal), Stop::Refusal, Some("")),
        (turn(Vec::new(), StopReason::ToolUse), Stop::EndTurn, None),
        (Err(ModelError::Unreachable("no route".to_owned())), Stop::ModelError, Some("no route")),
    ] {
        let trial = trial(Mode::Loop, limits(), vec![last]).await;
        assert_eq!((trial.record.stop, trial.record.stop_detail.as_deref()), (stop, detail));
        assert_eq!(read_run(&trial.run).unwrap(), trial.unjudged());
        assert!(trial.ledger().is_empty(), "{stop:?} runs no call");
    }
}

#[tokio::test]
async fn an_interrupt_ends_a_run_that_waits_for_model_or_tool() {
    for turns in [vec![], vec![calls(&[("echo", json!({})), ("hang", json!({}))])]] {
        let (raise, interrupt) = watch::channel(false);
        let waits = turns.len();
        tokio::spawn(async move {
            tokio::task::yield_now().await;
            raise.send(true).unwrap();
        });
        let trial = trial_until(Mode::Loop, limits(), turns, interrupt).await;
        assert_eq!((trial.record.stop, trial.record.model_turns as usize), (Stop::Interrupted, waits));
    }
}

#[tokio::test]
async fn only_what_a_script_prints_is_read_and_the_rest_is_kept() {
    let first = "call echo {\"a\":1}\ncall refuse {}\nprint 0123456789\nexit 1";
    let trial = trial(Mode::Code, limits(), vec![script(first), script("print ok"), words("Done.")]).await;
    let results: Vec<&Block> = trial.heard[2].messages.iter().flat_map(|message| &message.content).collect();
    assert!(
        matches!(results[2], Block::ToolResult { content, is_error: false, .. }
            if content.starts_with("EXIT CODE 1\n[") && content.ends_with("(ask for another)\n0123456789\n")),
        "{:?}",
        results[2]
    );
    assert!(matches!(results[4], Block::ToolResult { content, .. } if content == "ok\n"));
    let kept = |file: &str| fs::read_to_string(trial.run.join("scripts").join(file)).unwrap();
    assert_eq!(kept("01.py"), first);
    assert_eq!(kept("01.out"), "EXIT CODE 1\nToolError: no object 7 (ask for another)\n0123456789\n");
    assert_eq!(kept("02.out"), "ok\n");
    let record = &trial.record;
    assert_eq!((record.tool_calls, record.nested_calls, record.scripts_run), (2, 2, 2));
    assert_eq!(record.sandbox.as_deref(), Some("fake"));
    let nested = [(Some(1), "echo".to_owned(), CallEnd::Answered), (Some(1), "refuse".to_owned(), CallEnd::ToolError)];
    assert_eq!(trial.ledger(), nested);
}

#[tokio::test]
async fn the_ledger_holds_the_calls_of_a_script_that_was_killed() {
    let turns = vec![script("call echo {}\nkilled hang"), words("Done.")];
    let trial = trial(Mode::Code, limits(), turns).await;
    let calls = [(Some(1), "echo".to_owned(), CallEnd::Answered), (Some(1), "hang".to_owned(), CallEnd::Abandoned)];
    assert_eq!(trial.ledger(), calls);
    assert_eq!(trial.record.nested_calls, 2);
    assert_eq!(trial.record.stop, Stop::EndTurn);
}

#[tokio::test]
async fn a_script_that_spends_the_budget_ends_the_run() {
    let turns = vec![script("call echo {}\ncall echo {}\nprint never")];
    let trial = trial(Mode::Code, Limits { tool_calls: 1, ..limits() }, turns).await;
    assert_eq!((trial.record.stop, trial.record.nested_calls), (Stop::Budget, 1));
    let (text, is_error) = trial.last_answers().remove(0);
    assert!(!is_error, "an output is no error");
    assert!(text.contains("this run may make 1 tool calls") && !text.contains("never"), "{text}");
}

#[tokio::test]
async fn code_mode_says_what_its_one_tool_wants() {
    let asked = [("run_python", json!({"source": "print"})), ("run_python", json!([])), ("echo", json!({}))];
    let trial = trial(Mode::Code, Limits { code_turns: 1, ..limits() }, vec![calls(&asked)]).await;
    let no_code = bad("ERROR: run_python takes one argument, `code`: the script as a string");
    let unknown = bad("ERROR: unknown tool `echo`; the tools are run_python");
    assert_eq!(trial.last_answers(), [no_code.clone(), no_code, unknown]);
    assert_eq!(trial.record.scripts_run, 0);
}

#[tokio::test]
async fn a_sandbox_that_cannot_start_is_no_end_of_a_run() {
    let trial = trial(Mode::Code, limits(), vec![script("unknown")]).await;
    assert!(matches!(trial.outcome, Err(RunError::Sandbox(_))), "{:?}", trial.outcome);
    assert_eq!(read_run(&trial.run).unwrap().stop, Stop::Interrupted);
}

#[tokio::test]
async fn deaths_of_the_plugin_are_faults_and_refusals_are_not() {
    let asked = [("crash", json!({})), ("time_out", json!({})), ("refuse", json!({})), ("no_such_tool", json!({}))];
    let in_loop = trial(Mode::Loop, limits(), vec![calls(&asked), words("done")]).await;
    let code = "call crash {}\ncall time_out {}\ncall refuse {}\ncall no_such_tool {}";
    let in_code = trial(Mode::Code, limits(), vec![script(code), words("done")]).await;
    for trial in [in_loop, in_code] {
        let faults: Vec<&str> = trial.record.faults.iter().map(|fault| fault.text.as_str()).collect();
        assert_eq!(faults, ["crash crashed: exit status 3", "time_out took longer than 60 s and was stopped"]);
        assert_eq!(read_run(&trial.run).unwrap().faults, trial.record.faults, "they are kept as the run goes");
    }
}
