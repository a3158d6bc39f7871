//! What the host itself does in a turn of a long conversation.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde_json::json;
use tokio::sync::watch;
use workbench::events::{Event, Listener};
use workbench::model::tokens;
use workbench::model::types::{Block, Model, ModelError, ModelReply, ModelRequest, StopReason, Usage};
use workbench::results::format::Budgets;
use workbench::runner::{self, Mode, RunRequest};

use crate::rounds::median;
use crate::stage::{self, MIDDLE, Stage, TOOL};
use crate::table::{Figure, Table};

/// Tokens of the conversation at which a turn is measured.
const LONG: u64 = 300_000;
/// Turns around that length whose median is taken.
const AROUND: usize = 15;
/// Tokens of the whole conversation: memory shows above its own noise only in a longer one.
const LONGEST: u64 = 3_000_000;

/// What is seen from both sides of the host: when it asks the model, and how long its tools took.
#[derive(Default)]
struct Seen {
    turns: Vec<Seeing>,
    tools: Vec<Duration>,
}

struct Seeing {
    asked: Instant,
    answered: Instant,
    resident: u64,
}

/// Asks for the same record, turn by turn.
struct Asking {
    turns: u64,
    seen: Arc<Mutex<Seen>>,
}

#[async_trait]
impl Model for Asking {
    async fn reply(&mut self, request: ModelRequest<'_>) -> Result<ModelReply, ModelError> {
        let asked = Instant::now();
        let turn = request.messages.len() as u64 / 2;
        let input = json!({ "object_id": MIDDLE.0 });
        let (block, stop_reason) = if turn < self.turns {
            (
                Block::ToolUse { id: format!("call_{turn}"), name: TOOL.to_owned(), input, caller: None },
                StopReason::ToolUse,
            )
        } else {
            (Block::Text { text: "Done.".to_owned() }, StopReason::EndTurn)
        };
        let reply = ModelReply {
            content: vec![block],
            stop_reason,
            stop_detail: None,
            usage: Usage::default(),
            cost: None,
            container: None,
        };
        let resident = resident_bytes();
        self.seen.lock().unwrap().turns.push(Seeing { asked, answered: Instant::now(), resident });
        Ok(reply)
    }
}

pub(crate) fn measure(stage: &Stage, table: &mut Table) {
    let a_turn = tokens::count(&stage::record(MIDDLE.0, MIDDLE.1));
    let seen = Arc::new(Mutex::new(Seen::default()));
    stage.runtime.block_on(converse(stage, LONGEST / a_turn, &seen));
    let seen = seen.lock().unwrap();

    let long = usize::try_from(LONG / a_turn).unwrap();
    let around = long - AROUND / 2..=long + AROUND / 2;
    let host =
        around.map(|turn| (seen.turns[turn + 1].asked - seen.turns[turn].answered).saturating_sub(seen.tools[turn]));
    let what = "the host's part of a turn, all but model and tools, at 300,000 tokens";
    table.alone(what, median(host.collect()), Some(Duration::from_millis(2)));

    let resident = |turn: usize| seen.turns[turn].resident as f64;
    // The first turns fill what every later one uses again.
    let (start, end) = (20, seen.turns.len() - 1);
    let middle = usize::midpoint(start, end);
    let (first, second) = (resident(middle) - resident(start), resident(end) - resident(middle));
    let megabytes = |bytes: f64| format!("{:.1} MB", bytes / 1e6);
    let what = "memory that a conversation of 3,000,000 tokens takes: second half ÷ first half";
    table.row(what, megabytes(second), megabytes(first), Figure::Ratio(second / first), Some(Figure::Ratio(1.2)));
}

/// A run of so many turns, of one call each.
async fn converse(stage: &Stage, turns: u64, seen: &Arc<Mutex<Seen>>) {
    let mut domain = stage.domain.clone();
    domain.manifest.verify.clear();
    domain.manifest.evidence.clear();
    let mut limits = domain.manifest.limits.clone();
    (limits.loop_turns, limits.tool_calls) = (u32::MAX, u32::MAX);
    let heard = Arc::clone(seen);
    let listener = Listener::new(move |event| {
        if let Event::CallEnded(_, call) = event {
            heard.lock().unwrap().tools.push(Duration::from_secs_f64(call.ms / 1e3));
        }
    });
    let (_raise, interrupt) = watch::channel(false);
    let request = RunRequest {
        domain: &domain,
        mode: Mode::Loop,
        command: "bench",
        number: 1,
        comparison: None,
        model: Box::new(Asking { turns, seen: Arc::clone(seen) }),
        model_name: "bench".to_owned(),
        settings: BTreeMap::new(),
        fingerprint: BTreeMap::new(),
        script_form: workbench::runner::ScriptForm::default(),
        price: None,
        hosted_tool: None,
        sandbox: None,
        results: stage.results.path(),
        limits,
        budgets: Budgets::default(),
        tag: None,
        profile: workbench::plugin::profile().to_owned(),
        library: &stage.library,
        web: stage.web.clone(),
        source: "cassette".to_owned(),
        listener,
        interrupt,
    };
    runner::run(request).await.unwrap();
}

/// Bytes of memory this process holds; 0 where the system does not tell.
fn resident_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    let kilobytes = line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or_default();
    kilobytes * 1024
}
