//! What a model reads in a mode before it reads the task: the system text and the tools.

use plugin_api::wire::ToolSpec;

use super::code_mode::ScriptForm;
use super::hosted_offer::hosted_definitions;
use super::loop_mode::definitions;
use super::modes::Mode;
use super::prompts;
use crate::domain::Domain;
use crate::domain::manifest::Limits;
use crate::model::types::{ScriptLanguage, ToolDefinition};
use crate::sandbox::stubs;

/// What stands before the task in every request of a mode.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The system text.
    pub system: String,
    /// The tools on offer.
    pub tools: Vec<ToolDefinition>,
}

impl Opening {
    /// That of a domain with these tools, where scripts are tool calls.
    pub fn of(domain: &Domain, mode: Mode, tools: &[ToolSpec], limits: &Limits) -> Self {
        let offered = match mode {
            Mode::Serial | Mode::Loop => definitions(tools),
            Mode::Code => vec![prompts::run_python(limits.output_chars)],
            Mode::Hosted => hosted_definitions(tools, &domain.manifest.callers),
        };
        Self {
            system: system_text(domain, mode, (ScriptForm::ToolCall, ScriptLanguage::Python), tools, limits),
            tools: offered,
        }
    }
}

/// The system text of a mode.
pub(super) fn system_text(
    domain: &Domain,
    mode: Mode,
    (form, language): (ScriptForm, ScriptLanguage),
    tools: &[ToolSpec],
    limits: &Limits,
) -> String {
    let persona = domain.manifest.task.as_ref().map(|task| task.persona.as_str()).unwrap_or_default();
    match mode {
        Mode::Serial | Mode::Loop => prompts::calling_system(persona),
        Mode::Hosted => prompts::hosted_system(persona, language),
        Mode::Code => {
            let (api, module) = (stubs::api_text(tools), stubs::domain_module(domain.name()));
            prompts::scripting_system(persona, &api, &module, form, limits.output_chars)
        }
    }
}
