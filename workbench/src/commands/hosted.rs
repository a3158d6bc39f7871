//! Whether mode `hosted` can be asked for, before anything is built or paid for.

use crate::cli::model_options::HostedFallback;
use crate::error::Failure;
use crate::model::provider::Programmatic;
use crate::printer::{self, line};
use crate::runner::{Mode, NotHosted};

use super::context::Context;
use super::failures;
use super::models::Asked;
use super::runs::Plan;

/// The modes that runs are made in: those that were asked for, or with the fallback in the place of `hosted` where that
/// cannot be.
pub(super) async fn settle(
    context: &Context,
    modes: Vec<Mode>,
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
    let Some((reason, way_on)) = obstacle(context, domains, model).await? else {
        if model.has_code_execution() {
            printer::note("note: the provider keeps what its containers see for up to 30 days (docs/hosted.md)");
        }
        return Ok(modes);
    };
    otherwise(modes, place, &reason, way_on, fallback)
}

/// The same, as far as it depends on tools, which are known when plugins are built: the modes to plan again with, where those of the
/// plans cannot be.
pub(super) fn settle_tools(
    plans: &[Plan],
    modes: &[Mode],
    fallback: Option<HostedFallback>,
) -> Result<Option<Vec<Mode>>, Failure> {
    let Some(place) = modes.iter().position(|mode| *mode == Mode::Hosted) else { return Ok(None) };
    let obstacle = plans.iter().find_map(|plan| Some((plan.domain.name(), plan.not_hosted()?)));
    let Some((domain, NotHosted { reason, way_on })) = obstacle else { return Ok(None) };
    otherwise(modes.to_vec(), place, &format!("{domain}: {reason}"), &way_on, fallback).map(Some)
}

/// The modes without `hosted`, which stands in this place, or a refusal.
fn otherwise(
    mut modes: Vec<Mode>,
    place: usize,
    reason: &str,
    way_on: &str,
    fallback: Option<HostedFallback>,
) -> Result<Vec<Mode>, Failure> {
    match fallback {
        None => Err(Failure::usage(reason).hint(format!("{way_on}, or `--hosted-fallback code`"))),
        Some(HostedFallback::Code) => {
            printer::note(&format!("note: mode code takes the place of hosted: {}", line(reason)));
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
