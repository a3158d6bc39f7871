//! `workbench probe`

use std::fmt::Write as _;
use std::time::Instant;

use comfy_table::{ColumnConstraint, Table, presets};
use serde::Serialize;

use crate::cli::ProbeArguments;
use crate::cli::options::Format;
use crate::domain::manifest::Limits;
use crate::error::Failure;
use crate::exit::Exit;
use crate::printer;
use crate::sandbox::probe::{self, Finding, ProbeError, State};

use super::context::Context;
use super::{failures, print_json};

/// What the probes found.
#[derive(Serialize)]
struct Probed {
    sandbox: String,
    network: Option<String>,
    seconds: f64,
    ok: bool,
    probes: Vec<Finding>,
}

/// Makes the probes; exit 1 when one is not as expected.
pub(super) async fn run(context: &Context, arguments: &ProbeArguments) -> Result<Exit, Failure> {
    if arguments.sandbox.reuse {
        return Err(Failure::usage("`--reuse` lets scripts find what others left, and each probe starts from nothing")
            .hint("leave it out"));
    }
    let sandbox = context.sandboxes.open(&arguments.sandbox, &Limits::default(), "probe").await?;
    let started = Instant::now();
    let probes = probe::run(&*sandbox, arguments.url.as_ref()).await.map_err(failure)?;
    let probed = Probed {
        sandbox: sandbox.name().to_owned(),
        network: sandbox.settings().remove("network"),
        seconds: started.elapsed().as_secs_f64(),
        ok: probes.iter().all(|finding| finding.state != State::Missing),
        probes,
    };
    match arguments.format {
        Format::Json => print_json(&probed)?,
        Format::Text => printer::data(&probed.text()),
    }
    Ok(if probed.ok { Exit::Success } else { Exit::Short })
}

fn failure(error: ProbeError) -> Failure {
    match error {
        ProbeError::Sandbox(error) => failures::sandbox(error),
        error @ ProbeError::Host(_) => Failure::new(Exit::Bug, error),
    }
}

impl Probed {
    fn text(&self) -> String {
        let Self { sandbox, network, seconds, .. } = self;
        let network = network.as_ref().map(|network| format!(", network {network}")).unwrap_or_default();
        let tried: Vec<&Finding> = self.probes.iter().filter(|finding| finding.got.is_some()).collect();
        let missing = tried.iter().filter(|finding| finding.state == State::Missing).count();
        let mut text = format!("{sandbox}{network}\n\n{}\n\n", table(&tried));
        for (state, words) in [
            (State::NotStopped, "not stopped by this profile, and not tried:"),
            (State::NotTried, "not tried, since no `--url` names an address:"),
        ] {
            let such: Vec<&Finding> = self.probes.iter().filter(|finding| finding.state == state).collect();
            if such.is_empty() {
                continue;
            }
            let _ = writeln!(text, "{words}");
            for finding in such {
                let _ = writeln!(text, "  {}", finding.probe);
            }
            text.push('\n');
        }
        let verdict = match missing {
            0 => "all as expected".to_owned(),
            missing => format!("{missing} not as expected"),
        };
        let _ = writeln!(text, "{} probes in {seconds:.1} s: {verdict}", tried.len());
        text
    }
}

fn table(tried: &[&Finding]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["probe", "expected", "got", ""]);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2)).set_constraint(ColumnConstraint::ContentWidth);
    }
    for finding in tried {
        let mark = if finding.state == State::Missing { "MISSING" } else { "ok" };
        let cells = [finding.expected.as_deref(), finding.got.as_deref()].map(|cell| printer::line(cell.unwrap_or("")));
        let [expected, got] = cells;
        table.add_row([finding.probe.to_owned(), expected, got, mark.to_owned()]);
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}
