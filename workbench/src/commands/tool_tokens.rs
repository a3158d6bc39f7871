//! What tools and system text cost on every turn, in each mode: `workbench tools DOMAIN --count`.

use serde::Serialize;

use crate::cli::ToolsArguments;
use crate::cli::model_options::ModelOptions;
use crate::cli::options::Format;
use crate::domain::Domain;
use crate::error::Failure;
use crate::exit::Exit;
use crate::model::provider::ModelChoice;
use crate::model::tokens::ConversationCount;
use crate::model::types::{Block, Message, ModelRequest, Role};
use crate::printer;
use crate::report::table::{grouped, mark, table, trimmed};
use crate::runner::{Mode, Opening};

use super::context::Context;
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
    /// Whether that is so because the provider's count tells nothing.
    #[serde(skip)]
    is_blind: bool,
}

/// Counts and prints. Whether the model can be asked is looked at before the plugin is built.
pub(super) async fn print(context: &Context, domain: &Domain, arguments: &ToolsArguments) -> Result<Exit, Failure> {
    let choice = arguments.model.clone().unwrap_or(ModelChoice::Rehearsal);
    let asked = Asked::of(&ModelOptions::looking_at(choice, arguments.base_url.clone()), &context.results)?;
    asked.check().await?;
    let session = context.idle_session(domain).await?;
    let mut counts = Vec::new();
    for mode in Mode::ALL {
        if mode == Mode::Hosted && !asked.can_be_hosted().await? {
            continue;
        }
        let opening = Opening::of(domain, mode, session.toolbox.tools(), &domain.manifest.limits);
        counts.push(count(&asked, mode, &opening).await?);
    }
    if counts.iter().any(|count| count.is_blind) {
        printer::note(&format!(
            "warning: {} counts the same with tools and system text as without them, so they are counted here",
            asked.name()
        ));
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

/// The figures as the provider counts them; where it does not, or counts the same whatever it is sent, as they are counted
/// here.
async fn count(asked: &Asked, mode: Mode, opening: &Opening) -> Result<Count, Failure> {
    // A request needs a message; what it costs is taken off again.
    let task = [Message { role: Role::User, content: vec![Block::Text { text: "Hello.".to_owned() }] }];
    let of = |system, tools| ModelRequest {
        system,
        tools,
        messages: &task,
        max_tokens: mode.max_tokens(),
        parallel_calls: mode.parallel_calls(),
        until: None,
    };
    let requests = [of("", &[]), of(&opening.system, &[]), of(&opening.system, &opening.tools)];
    let mut counts = requests.map(|request| ConversationCount::default().read(&request));
    let mut theirs = Vec::new();
    for request in requests {
        theirs.extend(asked.count(request).await?);
    }
    let theirs = <[u64; 3]>::try_from(theirs).ok();
    let told = theirs.filter(|theirs| !is_blind(theirs, &counts));
    let is_blind = theirs.is_some() && told.is_none();
    counts = told.unwrap_or(counts);
    let [bare, with_system, whole] = counts;
    let [system, tools, total] = [(with_system, bare), (whole, with_system), (whole, bare)]
        .map(|(more, less): (u64, u64)| more.saturating_sub(less));
    Ok(Count { mode: mode.name(), system, tools, total, estimated: told.is_none(), is_blind })
}

/// Whether what is more by our count is not more by theirs.
fn is_blind(theirs: &[u64; 3], ours: &[u64; 3]) -> bool {
    (0..2).any(|place| ours[place] < ours[place + 1] && theirs[place] >= theirs[place + 1])
}
