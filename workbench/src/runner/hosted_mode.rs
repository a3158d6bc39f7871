//! Mode `hosted`: the model writes scripts, the provider runs them, and their calls come to us one pause after the other.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use futures::future::join_all;
use serde_json::Value;

use super::RunError;
use super::hosted_offer::hosted_offer;
use super::ledger::Caller;
use super::mode_tools::{Answer, Asked, ModeTools};
use super::prompts;
use super::toolbox::Toolbox;
use crate::events::{Event, Listener, RunKey};
use crate::model::prices::{CONTAINER_HOUR, SHORTEST_CONTAINER, whole_nanodollars};
use crate::model::types::{Block, Callers, ModelReply, ToolDefinition};
use crate::results::faults::OTHERS;
use crate::results::format::Hosted;
use crate::results::store::RunFolder;

/// How long a call may take that code of the provider's waits for. It waits for about four minutes; what comes later is a
/// `TimeoutError` in the code, and the answer is lost.
const LONGEST_CALL: Duration = Duration::from_secs(200);

/// Characters of the id of a file that a script left, and of an error's code.
const LONGEST_WORD: usize = 200;

/// Scripts of a run that are kept and told apart, each the size of an answer at most; the rest share the last number. And ids of
/// files, and codes of errors, that are kept: a record has to be readable.
const MOST_SCRIPTS: usize = 1000;
const MOST_FILES: usize = 100;
const MOST_CODES: usize = 100;

/// Offers the tools to scripts of the provider's, and follows what becomes of these.
pub(super) struct HostedTools {
    toolbox: Arc<Toolbox>,
    folder: Arc<RunFolder>,
    tools: Vec<ToolDefinition>,
    key: RunKey,
    listener: Listener,
    /// Whether the provider is known to bill containers.
    bills: bool,
    /// See [`LONGEST_CALL`].
    longest_call: Duration,
    seen: Mutex<Seen>,
}

/// What was seen of scripts and containers.
struct Seen {
    /// Numbers of the scripts, from 1, by the ids of their blocks.
    scripts: HashMap<String, u32>,
    /// How many more there were.
    more_scripts: u32,
    /// First and last use of each container.
    containers: BTreeMap<String, (Instant, Instant)>,
    /// When the request began whose answer comes next.
    asked: Instant,
    used: Hosted,
}

impl Seen {
    /// The number of a script. One that calls without having been shown gets a number of its own.
    fn number_of(&mut self, id: &str) -> u32 {
        if let Some(number) = self.scripts.get(id) {
            return *number;
        }
        let next = u32::try_from(self.scripts.len()).unwrap_or(u32::MAX);
        if self.scripts.len() == MOST_SCRIPTS {
            return next;
        }
        self.scripts.insert(id.to_owned(), next + 1);
        next + 1
    }

    /// Takes in what a result tells beside what was printed.
    fn hear_result(&mut self, content: &Value) {
        let word = |text: &str| text.chars().take(LONGEST_WORD).collect::<String>();
        if let Some(code) = content["error_code"].as_str() {
            let errors = &mut self.used.errors;
            let mut code = word(code);
            if errors.len() >= MOST_CODES && !errors.contains_key(&code) {
                OTHERS.clone_into(&mut code);
            }
            *errors.entry(code).or_default() += 1;
        }
        for id in content["content"].as_array().into_iter().flatten().filter_map(|file| file["file_id"].as_str()) {
            if self.used.files.len() < MOST_FILES {
                self.used.files.push(word(id));
            } else {
                self.used.more_files = self.used.more_files.saturating_add(1);
            }
        }
    }
}

impl HostedTools {
    /// Refuses what the provider would refuse, before anything is sent.
    pub(super) fn new(
        toolbox: Arc<Toolbox>,
        folder: Arc<RunFolder>,
        callers: &BTreeMap<String, Callers>,
        key: RunKey,
        listener: Listener,
        bills: bool,
    ) -> Result<Self, RunError> {
        let tools = hosted_offer(toolbox.tools(), callers)?;
        let (scripts, containers, used) = (HashMap::new(), BTreeMap::new(), Hosted::default());
        let seen = Mutex::new(Seen { scripts, more_scripts: 0, containers, asked: Instant::now(), used });
        Ok(Self { toolbox, folder, tools, key, listener, bills, longest_call: LONGEST_CALL, seen })
    }

    /// What was seen. A thread that panicked over it left nothing half done.
    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_for_scripts_alone(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name == name && tool.callers == Callers::Code)
    }

    /// A block of the provider's own: a script that begins, or what one came to.
    fn hear_block(&self, seen: &mut Seen, block: &Value) -> Result<(), RunError> {
        let text = |key: &str| block[key].as_str().unwrap_or_default();
        match text("type") {
            "server_tool_use" | "program" => {
                let id = if text("type") == "program" { text("call_id") } else { text("id") };
                // The same block again keeps its number.
                if seen.scripts.contains_key(id) {
                    return Ok(());
                }
                if seen.scripts.len() == MOST_SCRIPTS {
                    seen.more_scripts = seen.more_scripts.saturating_add(1);
                    return Ok(());
                }
                let number = seen.number_of(id);
                match text("type") {
                    "program" => self.folder.save_program(number, text("code"))?,
                    _ => self.folder.save_script(number, &source(block))?,
                }
                self.listener.emit(Event::ScriptStarted(self.key.clone(), number));
            }
            "program_output" => {
                let Some(number) = seen.scripts.get(text("call_id")).copied() else { return Ok(()) };
                let incomplete = if text("status") == "incomplete" { "(incomplete)\n" } else { "" };
                self.folder.save_output(number, &format!("{incomplete}{}", text("result")))?;
                self.listener.emit(Event::ScriptEnded(self.key.clone(), number));
            }
            kind if kind.ends_with("_tool_result") => {
                let content = &block["content"];
                seen.hear_result(content);
                let Some(number) = seen.scripts.get(text("tool_use_id")).copied() else { return Ok(()) };
                self.folder.save_output(number, &output(content))?;
                self.listener.emit(Event::ScriptEnded(self.key.clone(), number));
            }
            _ => {}
        }
        Ok(())
    }
}

#[async_trait]
impl ModeTools for HostedTools {
    fn tools(&self) -> Vec<ToolDefinition> {
        self.tools.clone()
    }

    fn hear(&self, reply: &ModelReply) -> Result<(), RunError> {
        let mut seen = self.seen();
        if let Some(id) = &reply.container {
            let asked = seen.asked;
            seen.containers.entry(id.clone()).or_insert((asked, asked)).1 = Instant::now();
        }
        let blocks = reply.content.iter().filter_map(|block| match block {
            Block::Other(block) => Some(block),
            _ => None,
        });
        for block in blocks {
            self.hear_block(&mut seen, block)?;
        }
        seen.asked = Instant::now();
        Ok(())
    }

    /// The calls of one pause run at once, whoever made them: that a tool is for scripts steers a model and binds nobody.
    async fn answer(&self, turn: u32, calls: &[Asked]) -> Result<Vec<Answer>, RunError> {
        let answers = calls.iter().map(|call| async move {
            let script = call.script.as_ref().map(|id| self.seen().number_of(id));
            let made = self.toolbox.call(Caller { turn, script }, &call.name, Bytes::from(call.input.to_string()));
            match tokio::time::timeout(self.longest_call, made).await {
                Ok(Ok(body)) => Answer::good(String::from_utf8_lossy(&body)),
                Ok(Err(failure)) => Answer::failure(failure.message()),
                Err(_) => Answer::failure(&prompts::too_late(&call.name, self.longest_call.as_secs())),
            }
        });
        let answers = join_all(answers).await;
        let mut seen = self.seen();
        let direct = calls.iter().filter(|call| call.script.is_none() && self.is_for_scripts_alone(&call.name)).count();
        seen.used.direct_calls += u32::try_from(direct).unwrap_or(u32::MAX);
        seen.used.resumes += u32::from(calls.iter().any(|call| call.script.is_some()));
        seen.asked = Instant::now();
        Ok(answers)
    }

    fn scripts_run(&self) -> u32 {
        let seen = self.seen();
        u32::try_from(seen.scripts.len()).unwrap_or(u32::MAX).saturating_add(seen.more_scripts)
    }

    fn hosted(&self) -> Option<Hosted> {
        let seen = self.seen();
        let seconds = |(first, last): &(Instant, Instant)| (*last - *first).max(SHORTEST_CONTAINER).as_secs_f64();
        // The sum of nothing is the negative zero.
        let container_seconds = ((seen.containers.values().map(seconds).sum::<f64>() + 0.0) * 1e3).round() / 1e3;
        Some(Hosted {
            containers: u32::try_from(seen.containers.len()).unwrap_or(u32::MAX),
            container_seconds,
            container_cost_usd: self.bills.then(|| whole_nanodollars(container_seconds / 3600.0 * CONTAINER_HOUR)),
            ..seen.used.clone()
        })
    }
}

/// What a script is kept as: its source, or the command of a shell or an editor in a comment.
fn source(block: &Value) -> String {
    match block["input"]["code"].as_str() {
        Some(code) => code.to_owned(),
        None => format!("# {}: {}\n", block["name"].as_str().unwrap_or_default(), block["input"]),
    }
}

/// What a script printed, in the form of mode code.
fn output(content: &Value) -> String {
    if let Some(code) = content["error_code"].as_str() {
        return format!("error of the provider's tool: {code}");
    }
    let text = |key: &str| content[key].as_str();
    let mut output = match &content["return_code"] {
        Value::Null => String::new(),
        code if *code == 0 => String::new(),
        code => format!("EXIT CODE {code}\n"),
    };
    let encrypted = text("encrypted_stdout").map(|_| "(its output is encrypted)\n");
    output.push_str(text("stdout").or(encrypted).unwrap_or_default());
    if !output.is_empty() && !output.ends_with('\n') {
        output.push('\n');
    }
    output.push_str(text("stderr").unwrap_or_default());
    match (output.is_empty(), content["stdout"].is_string()) {
        (true, true) => "(no output)".to_owned(),
        // Of an editor and of what is not known here: as it came.
        (true, false) => content.to_string(),
        (false, _) => output,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use jiff::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::results::format::CallEnd;
    use crate::results::store::read_ledger;
    use crate::runner::Ledger;
    use crate::runner::doubles::fake_tools;

    #[tokio::test]
    async fn a_call_that_takes_too_long_is_answered_with_an_error_beside_those_that_do_not() {
        let results = tempfile::tempdir().unwrap();
        let folder = Arc::new(RunFolder::create(results.path(), "trial", "hosted", 1, Timestamp::now()).unwrap());
        let key = RunKey { domain: "trial".to_owned(), mode: "hosted".to_owned(), number: 1 };
        let ledger = Ledger::new(key.clone(), Listener::none(), Some(Arc::clone(&folder)));
        let toolbox = Arc::new(Toolbox::new(fake_tools(), 10, ledger));
        let tools =
            HostedTools::new(toolbox, Arc::clone(&folder), &BTreeMap::new(), key, Listener::none(), false).unwrap();
        assert_eq!(tools.longest_call, LONGEST_CALL);
        let tools = HostedTools { longest_call: Duration::from_millis(50), ..tools };
        let call = |name: &str| Asked {
            id: name.to_owned(),
            name: name.to_owned(),
            input: json!({ "x": 1 }),
            script: Some("s1".to_owned()),
        };
        let answers = tools.answer(1, &[call("hang"), call("echo")]).await.unwrap();
        let [hang, echo] = answers.as_slice() else { panic!("{answers:?}") };
        assert!(hang.is_error && hang.text.starts_with("ERROR: hang was given up after"), "{hang:?}");
        assert_eq!((echo.is_error, echo.text.as_str()), (false, r#"{"x":1}"#));
        let ends: Vec<CallEnd> = read_ledger(folder.path()).unwrap().into_iter().map(|call| call.outcome).collect();
        assert_eq!(ends, [CallEnd::Answered, CallEnd::Abandoned]);
    }
}
