//! Rehearsal scripts made from what the model of a recorded run said.

use std::fmt::Write as _;

use serde_json::Value;

use super::replay::Recording;
use super::types::Block;
use crate::sandbox::stubs::python_value;

/// What plays the calls, whatever they are: they go out as the model wrote them, mistakes included, and so past the
/// functions of `tools`, whose signatures would add defaults and refuse mistakes.
const PLAYER: &str = "

async def main():
    for calls in TURNS:
        await asyncio.gather(*(call(*each) for each in calls), return_exceptions=True)
    if LAST_WORDS:
        print(LAST_WORDS)


asyncio.run(main())
";

/// Scripts, and how many calls of the run are not in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scripts {
    /// File below `rehearsal/` and its content.
    pub files: Vec<(String, String)>,
    /// Calls in them.
    pub calls: usize,
    /// Calls that were not made, or cannot be written down.
    pub left_out: usize,
}

/// `loop.py`: a policy that makes the calls of a run of mode `serial` or `loop` turn by turn, those of one turn together,
/// and ends with its last words. A call that the model's token limit cut off was not made, and is left out.
pub fn policy(recording: &Recording) -> Scripts {
    let (mut turns, mut made, mut left_out) = (String::new(), 0, 0);
    for turn in &recording.transcript.turns {
        let whole = turn.calls().count().saturating_sub(usize::from(recording.is_cut(turn)));
        let mut lines = String::new();
        for (place, call) in turn.calls().enumerate() {
            if place >= whole || !call.arguments.is_object() {
                left_out += 1;
                continue;
            }
            made += 1;
            let _ = writeln!(lines, "        ({}, {}),", literal(call.tool), python_value(call.arguments));
        }
        if !lines.is_empty() {
            let _ = write!(turns, "    [\n{lines}    ],\n");
        }
    }
    let head = format!(
        "What {} asked for in {}, turn by turn: made by `record --from`.",
        recording.record.model,
        recording.run()
    );
    let text = format!(
        "{}\n\nimport asyncio\n\nfrom tools.aio import _call as call\n\nTURNS = [\n{turns}]\n\nLAST_WORDS = {}\n{PLAYER}",
        literal(&head),
        literal(recording.record.final_text.trim_end())
    );
    Scripts { files: vec![("loop.py".to_owned(), text)], calls: made, left_out }
}

/// `code/1.py`, `code/2.py`, …: the scripts that were run when a run of mode `code` was replayed, in their order and as
/// they are, however the model handed them over; likewise of mode `hosted`. `mode` names their folder.
pub fn scripts(recording: &Recording, mode: &str, sources: Vec<String>) -> Scripts {
    let turns = &recording.transcript.turns;
    // Calls of scripts are made by these again.
    let own = |block: &&Block| matches!(block, Block::ToolUse { caller: None, .. });
    let asked: usize =
        turns.iter().map(|turn| turn.said.iter().filter(own).count() + usize::from(turn.words_result.is_some())).sum();
    let calls = sources.len();
    let files = (1..).zip(sources).map(|(number, source)| (format!("{mode}/{number}.py"), source)).collect();
    Scripts { files, calls, left_out: asked.saturating_sub(calls) }
}

fn literal(text: &str) -> String {
    python_value(&Value::from(text))
}
