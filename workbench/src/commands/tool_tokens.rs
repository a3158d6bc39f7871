//! What tools and system text cost on every turn, in each mode: `workbench tools DOMAIN --count`.

use plugin_api::wire::ToolSpec;
use serde::Serialize;

use crate::cli::ToolsArguments;
use crate::cli::model_options::ModelOptions;
use crate::cli::options::Format;
use crate::domain::Domain;
use crate::error::Failure;
use crate::exit::Exit;
use crate::model::provider::ModelChoice;
use crate::model::tokens::ConversationCount;
use crate::model::types::{Block, Message, ModelRequest, Role, ToolDefinition};
use crate::printer;
use crate::report::table::{grouped, mark, table, trimmed};
use crate::runner::{Mode, Opening};

use super::models::Asked;
use super::print_json;

/// The figures of one mode, in tokens.
#[derive(Debug, Serialize)]
struct Count {
    mode: &'static str,
    /// Those of the system text.
    system: u64,
    /// Those of the tools, and of what a provider says about them.
    tools: u64,
    /// What every turn begins with.
    total: u64,
    /// Whether these were counted here.
    estimated: bool,
}

/// Counts and prints.
pub(super) async fn print(domain: &Domain, tools: &[ToolSpec], arguments: &ToolsArguments) -> Result<Exit, Failure> {
    let choice = arguments.model.clone().unwrap_or(ModelChoice::Rehearsal);
    let asked = Asked::of(&ModelOptions::looking_at(choice, arguments.base_url.clone()))?;
    asked.check().await?;
    let mut counts = Vec::new();
    for mode in Mode::ALL {
        let opening = Opening::of(domain, mode, tools, &domain.manifest.limits);
        counts.push(count(&asked, mode, &opening).await?);
    }
    match arguments.format {
        Format::Json => print_json(&counts)?,
        Format::Text => {
            let mut rows = table(&["mode", "system text", "tools", "every turn"], &[0]);
            for count in &counts {
                let figure = |tokens: u64| format!("{}{}", mark(count.estimated), grouped(tokens));
                rows.add_row([count.mode.to_owned(), figure(count.system), figure(count.tools), figure(count.total)]);
            }
            printer::data(&format!("{}\n", trimmed(&rows)));
        }
    }
    Ok(Exit::Success)
}

async fn count(asked: &Asked, mode: Mode, opening: &Opening) -> Result<Count, Failure> {
    let Opening { system, tools } = opening;
    let (bare, with_system, whole) = (
        tokens(asked, mode, "", &[]).await?,
        tokens(asked, mode, system, &[]).await?,
        tokens(asked, mode, system, tools).await?,
    );
    let [system, tools, total] = [(with_system, bare), (whole, with_system), (whole, bare)]
        .map(|(more, less)| more.tokens.saturating_sub(less.tokens));
    Ok(Count { mode: mode.name(), system, tools, total, estimated: whole.estimated })
}

/// Tokens of a request, and whether they were counted here.
#[derive(Clone, Copy)]
struct Tokens {
    tokens: u64,
    estimated: bool,
}

async fn tokens(asked: &Asked, mode: Mode, system: &str, tools: &[ToolDefinition]) -> Result<Tokens, Failure> {
    // A request needs a message; what it costs is taken off again.
    let task = [Message { role: Role::User, content: vec![Block::Text { text: "Hello.".to_owned() }] }];
    let request = ModelRequest {
        system,
        tools,
        messages: &task,
        max_tokens: mode.max_tokens(),
        parallel_calls: mode.parallel_calls(),
        until: None,
    };
    Ok(match asked.count(request).await? {
        Some(tokens) => Tokens { tokens, estimated: false },
        None => Tokens { tokens: ConversationCount::default().read(&request), estimated: true },
    })
}
