//! The loop of all modes, where a model's words are not what its mode asks for, or are all there is.
#![allow(clippy::unwrap_used)]

use serde_json::json;

use super::Mode;
use super::doubles::{calls, script, turn, words};
use super::tests::{bad, in_words, limits, trial};
use crate::domain::manifest::Limits;
use crate::model::types::{Block, ModelError, StopReason};
use crate::results::format::{CallEnd, Stop};

fn text(text: &str) -> Block {
    Block::Text { text: text.to_owned() }
}

#[tokio::test]
async fn scripts_can_be_blocks_in_the_models_words() {
    let said = "First:\n```python\ncall echo {}\n```\nand then:\n```python\nprint hi\nexit 3\n```";
    let trial = in_words(limits(), vec![words(said), words("Done.")]).await;
    assert!(trial.heard.iter().all(|request| request.tools.is_empty()), "no tool is offered");
    assert!(trial.heard[0].system.contains("```python"), "{}", trial.heard[0].system);
    let [_, said_back, heard] = trial.heard[1].messages.as_slice() else { panic!("{:?}", trial.heard[1].messages) };
    assert_eq!(said_back.content, [text(said)]);
    assert_eq!(heard.content, [text("EXIT CODE 3\nhi\n")]);
    let record = &trial.record;
    assert_eq!((record.stop, record.final_text.as_str()), (Stop::EndTurn, "Done."));
    assert_eq!((record.tool_calls, record.scripts_run, record.nested_calls), (1, 1, 1));
    assert_eq!(record.per_turn[0].tools, ["run_python"]);
    assert_eq!(trial.ledger(), [(Some(1), "echo".to_owned(), CallEnd::Answered)]);
}

#[tokio::test]
async fn a_block_that_was_cut_off_is_never_run() {
    let cut = turn(vec![text("```python\nprint ha")], StopReason::MaxTokens);
    let trial = in_words(limits(), vec![cut, words("Shorter.")]).await;
    let told = "ERROR: not run: your answer was cut off at 8000 tokens, in the middle of this call. Say it shorter.";
    assert_eq!(trial.heard[1].messages[2].content, [text(told)]);
    assert_eq!(trial.record.scripts_run, 0);
}

#[tokio::test]
async fn a_call_that_nobody_offered_is_answered_as_a_call() {
    let trial = in_words(limits(), vec![script("print hi"), words("Done.")]).await;
    let result = Block::ToolResult { tool_use_id: "id0".to_owned(), content: "hi\n".to_owned(), is_error: false };
    assert_eq!(trial.heard[1].messages[2].content, [result]);
}

#[tokio::test]
async fn arguments_that_are_no_object_are_told_and_not_handed_on() {
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(110), "]".repeat(110));
    let table = [
        (json!("{\"a\": "), "the arguments are not valid JSON: EOF while parsing a value at line 1 column 6", true),
        (json!("seven"), "the arguments are not valid JSON: expected value at line 1 column 1", true),
        (json!(deep), "the arguments stand in more than a hundred brackets", true),
        (json!("\"seven\""), "the arguments must be a JSON object, such as {\"name\": \"value\"}", true),
        (json!([1]), "the arguments must be a JSON object, such as {\"name\": \"value\"}", false),
        (json!(7), "the arguments must be a JSON object, such as {\"name\": \"value\"}", false),
    ];
    for (input, told, also_of_scripts) in table {
        let told = format!("ERROR: not run: {told}");
        let one_turn = Limits { loop_turns: 1, code_turns: 1, ..limits() };
        let in_loop = trial(Mode::Loop, one_turn.clone(), vec![calls(&[("echo", input.clone())])]).await;
        assert_eq!(in_loop.last_answers(), [bad(&told)], "{input}");
        assert_eq!(in_loop.ledger(), [(None, "echo".to_owned(), CallEnd::Refused)], "{input}");
        let in_code = trial(Mode::Code, one_turn, vec![calls(&[("run_python", input.clone())])]).await;
        let no_code = "ERROR: run_python takes one argument, `code`: the script as a string";
        assert_eq!(in_code.last_answers(), [bad(if also_of_scripts { &told } else { no_code })], "{input}");
    }
}

#[tokio::test]
async fn several_calls_of_mode_serial_are_all_made_and_told() {
    let two = [("echo", json!({})), ("echo", json!({}))];
    let in_serial = trial(Mode::Serial, limits(), vec![calls(&two), calls(&two), words("Done.")]).await;
    assert_eq!(in_serial.record.deviations, ["serial not honoured"]);
    assert_eq!(in_serial.ledger().len(), 4);
    let in_loop = trial(Mode::Loop, limits(), vec![calls(&two), words("Done.")]).await;
    assert!(in_loop.record.deviations.is_empty());
}

#[tokio::test]
async fn a_conversation_that_is_too_long_ends_a_run_that_had_begun() {
    let too_long = || Err(ModelError::TooLong("8192 tokens are all it reads".to_owned()));
    let begun = trial(Mode::Loop, limits(), vec![calls(&[("echo", json!({}))]), too_long()]).await;
    assert_eq!((begun.record.stop, begun.record.model_turns), (Stop::MaxTokens, 1));
    assert_eq!(begun.record.stop_detail.as_deref(), Some("8192 tokens are all it reads"));
    let at_once = trial(Mode::Loop, limits(), vec![too_long()]).await;
    assert_eq!(at_once.record.stop, Stop::ModelError);
}
