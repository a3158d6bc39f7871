//! `workbench tools`

use crate::cli::ToolsArguments;
use crate::error::Failure;
use crate::exit::Exit;
use crate::model::anthropic;
use crate::model::provider::CodeExecution;
use crate::printer;
use crate::runner::prompts::unknown_tool;
use crate::runner::{NotHosted, hosted_offer};
use crate::sandbox::stubs;

use super::context::Context;
use super::{print_json, tool_tokens};

/// The tools as schemas, as the Python text of code mode, as mode hosted sends them, or what they cost.
pub(super) async fn run(context: &Context, arguments: &ToolsArguments) -> Result<Exit, Failure> {
    let domain = context.domain(&arguments.domain)?;
    if arguments.count {
        return tool_tokens::print(context, &domain, arguments).await;
    }
    let session = context.idle_session(&domain).await?;
    let mut tools = session.toolbox.tools().to_vec();
    let offered = arguments.hosted.then(|| hosted_offer(&tools, &domain.manifest.callers)).transpose();
    let mut offered = offered.map_err(|NotHosted { reason, way_on }| Failure::usage(reason).hint(way_on))?;
    if let Some(name) = &arguments.tool {
        let known: Vec<String> = tools.iter().map(|tool| tool.name.clone()).collect();
        tools.retain(|tool| tool.name == *name);
        offered.iter_mut().for_each(|offered| offered.retain(|tool| tool.name == *name));
        if tools.is_empty() {
            return Err(Failure::usage(unknown_tool(name, known.iter().map(String::as_str))));
        }
    }
    if let Some(offered) = offered {
        print_json(&anthropic::tools(&offered, CodeExecution::default()))?;
    } else if arguments.python {
        printer::data(&format!("{}\n", stubs::api_text(&tools).trim_end()));
    } else {
        print_json(&tools)?;
    }
    Ok(Exit::Success)
}
