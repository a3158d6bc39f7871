//! What stands before the first request of a run: its folder, its record, its tools.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Instant;

use jiff::Timestamp;

use super::code_mode::{CodeTools, ScriptForm};
use super::fenced_scripts::FencedScripts;
use super::hosted_mode::HostedTools;
use super::ledger::Ledger;
use super::loop_mode::LoopTools;
use super::mode_tools::ModeTools;
use super::modes::Mode;
use super::opening::system_text;
use super::session::{MOST_NAMES, Rules, Session};
use super::toolbox::{ToolServer, Toolbox};
use super::{RunError, RunRequest};
use crate::events::{Event, RunKey};
use crate::model::prices::Price;
use crate::model::rehearsal;
use crate::results::format::{RUN_FORMAT, RunRecord, Stop};
use crate::results::store::RunFolder;

/// The run's folder and record, as they stand before the first request.
pub(super) struct RunSetup {
    pub(super) folder: Arc<RunFolder>,
    pub(super) record: RunRecord,
    pub(super) key: RunKey,
    clock: Instant,
}

impl RunSetup {
    /// Makes the folder, with a record that says `interrupted`: what a reader finds when the host is killed.
    pub(super) fn open(request: &RunRequest<'_>) -> Result<Self, RunError> {
        let started = Timestamp::now();
        let key =
            RunKey { domain: request.domain.name().to_owned(), mode: request.mode.to_string(), number: request.number };
        let folder = RunFolder::create(request.results, &key.domain, request.mode.name(), request.number, started)?;
        let record = RunRecord {
            format: RUN_FORMAT.to_owned(),
            run: folder.name().to_owned(),
            domain: key.domain.clone(),
            mode: key.mode.clone(),
            model: request.model_name.clone(),
            sandbox: match request.mode {
                Mode::Serial | Mode::Loop => None,
                Mode::Code => request.sandbox.as_ref().map(|it| it.name().to_owned()),
                Mode::Hosted => request.hosted_tool.map(str::to_owned),
            },
            sandbox_settings: request
                .sandbox
                .as_ref()
                .filter(|_| request.mode == Mode::Code)
                .map(|it| it.settings())
                .unwrap_or_default(),
            source: request.source.clone(),
            profile: request.profile.clone(),
            limits: request.limits.entries().map(|(key, value)| (key.to_owned(), value)).into(),
            budgets: request.budgets,
            settings: request.settings.clone(),
            fingerprint: request.fingerprint.clone(),
            command: request.command.to_owned(),
            number: request.number,
            comparison: request.comparison.cloned(),
            tag: request.tag.clone(),
            rehearsal_of: request
                .domain
                .manifest
                .task
                .as_ref()
                .filter(|_| request.model_name == rehearsal::NAME)
                .and_then(|task| task.rehearsal_of.clone()),
            started: started.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(),
            seconds: 0.0,
            stop: Stop::Interrupted,
            stop_detail: None,
            model_turns: 0,
            tool_calls: 0,
            nested_calls: 0,
            scripts_run: 0,
            retries: 0,
            retried: Vec::new(),
            deviations: Vec::new(),
            tokens_read: 0,
            input_tokens: 0,
            output_tokens: 0,
            cache_read_tokens: 0,
            cache_write_tokens: 0,
            estimated: false,
            per_turn: Vec::new(),
            cost_usd: None,
            prices: request.price.as_ref().map(Price::origin),
            network_calls: 0,
            cache_hits: 0,
            hosted: None,
            faults: Vec::new(),
            final_text: String::new(),
            verify: None,
        };
        folder.write_manifest(&request.domain.text)?;
        folder.write_record(&record)?;
        request.listener.emit(Event::RunStarted(key.clone()));
        Ok(Self { folder: Arc::new(folder), record, key, clock: Instant::now() })
    }

    /// The conversation that is about to begin over the server's tools.
    pub(super) fn session(
        &mut self,
        request: RunRequest<'_>,
        server: Arc<dyn ToolServer>,
    ) -> Result<Session<'_>, RunError> {
        let ledger = Ledger::new(self.key.clone(), request.listener.clone(), Some(Arc::clone(&self.folder)));
        let toolbox = Arc::new(Toolbox::new(server, request.limits.tool_calls, ledger));
        let form = (request.script_form, request.model.script_language());
        let system = system_text(request.domain, request.mode, form, toolbox.tools(), &request.limits);
        let rules = Rules {
            system,
            turns: request.mode.turns(&request.limits),
            max_tokens: request.mode.max_tokens(),
            parallel_calls: request.mode.parallel_calls(),
        };
        let mode_tools: Box<dyn ModeTools> = match (request.mode, request.script_form) {
            (Mode::Hosted, _) => Box::new(HostedTools::new(
                Arc::clone(&toolbox),
                Arc::clone(&self.folder),
                &request.domain.manifest.callers,
                self.key.clone(),
                request.listener.clone(),
                request.hosted_tool.is_some(),
            )?),
            (Mode::Serial | Mode::Loop, _) => Box::new(LoopTools { toolbox: Arc::clone(&toolbox) }),
            (Mode::Code, form) => {
                let tools = CodeTools {
                    toolbox: Arc::clone(&toolbox),
                    sandbox: request.sandbox.ok_or(RunError::NoSandbox)?,
                    folder: Arc::clone(&self.folder),
                    limits: request.limits,
                    key: self.key.clone(),
                    listener: request.listener.clone(),
                    scripts: AtomicU32::new(0),
                };
                match form {
                    ScriptForm::ToolCall => Box::new(tools),
                    ScriptForm::FencedBlock => Box::new(FencedScripts(tools)),
                }
            }
        };
        Ok(Session {
            model: request.model,
            price: request.price,
            mode_tools,
            toolbox,
            folder: &self.folder,
            record: &mut self.record,
            key: &self.key,
            listener: request.listener,
            interrupt: request.interrupt,
            clock: self.clock,
            rules,
            spoken: 0,
            names_left: MOST_NAMES,
        })
    }
}
