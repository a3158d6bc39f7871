//! Whether mode `hosted` can be asked for, before anything is built or paid for.

use crate::cli::model_options::HostedFallback;
use crate::error::Failure;
use crate::model::provider::Programmatic;
use crate::printer::{self, line};
use crate::runner::Mode;

use super::context::Context;
use super::failures;
use super::models::Asked;

/// The modes that runs are made in: those that were asked for, or with the fallback in the place of `hosted` where that
/// cannot be.
pub(super) async fn settle(
    context: &Context,
    mut modes: Vec<Mode>,
    domains: &[String],
    model: &Asked,
    fallback: Option<HostedFallback>,
) -> Result<Vec<Mode>, Failure> {
    let Some(place) = modes.iter().position(|mode| *mode == Mode::Hosted) else {
        return match fallback {
            None => Ok(modes),
            Some(_) => Err(Failure::usage("`--hosted-fallback` is about mode hosted, and no run is of that mode")),
        };
    };
    let Some((reason, way_on)) = obstacle(context, domains, model).await? else { return Ok(modes) };
    match fallback {
        None => Err(Failure::usage(reason).hint(format!("{way_on}, or `--hosted-fallback code`"))),
        Some(HostedFallback::Code) => {
            printer::note(&format!("note: mode code takes the place of hosted: {}", line(&reason)));
            if modes.contains(&Mode::Code) {
                modes.remove(place);
            } else {
                modes[place] = Mode::Code;
            }
            Ok(modes)
        }
    }
}

/// Why it cannot be asked for, and a way on.
async fn obstacle(
    context: &Context,
    domains: &[String],
    model: &Asked,
) -> Result<Option<(String, &'static str)>, Failure> {
    for name in domains {
        let domain = context.domain(name)?;
        // The rehearsal's server is this program.
        if domain.manifest.domain.zero_data_retention && !matches!(model, Asked::Rehearsal) {
            let reason = format!(
                "{} is marked `zero_data_retention`, and the provider keeps what its containers see for up to 30 days",
                domain.name()
            );
            return Ok(Some((reason, "compare in the other modes")));
        }
    }
    let Asked::Provider(provider) = model else { return Ok(None) };
    Ok(match provider.programmatic().await.map_err(failures::model)? {
        Programmatic::Supported => None,
        Programmatic::Unsupported(reason) => {
            let reason = format!("`{}` cannot be asked in mode hosted: {reason}", provider.name());
            Some((reason, "take a model that can, or put this one behind `workbench serve --model`"))
        }
    })
}
