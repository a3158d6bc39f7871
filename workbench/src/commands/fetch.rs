//! `workbench fetch`

use crate::cli::FetchArguments;
use crate::error::Failure;
use crate::exit::Exit;
use crate::printer;
use crate::report::table::counted;
use crate::web::Expect;

use super::context::Context;
use super::failures;

/// Prints a body; anything but status 200 is an error in the API's own words.
pub(super) async fn run(context: &Context, arguments: &FetchArguments) -> Result<Exit, Failure> {
    let domain = context.domain(&arguments.domain)?;
    let data = context.data(&domain, &arguments.source)?;
    let answer = data.web.get(&arguments.path, &[], Expect::Bytes).await.map_err(failures::network)?;
    printer::document(&answer.body);
    let kind = if answer.content_type.is_empty() { "no content type" } else { &answer.content_type };
    let bytes = counted(answer.body.len() as u64, "byte");
    printer::note(&format!("{}: {bytes}, {kind}, from the {}", answer.url, answer.origin));
    Ok(Exit::Success)
}
