//! The figures for the five lines that a comparison ends with: what was measured, and where it might not hold.

use std::fmt::Write as _;

use crate::model::rehearsal;
use crate::printer::plain;
use crate::results::format::RunRecord;

use super::apart::Settings;
use super::statistics::Spread;
use super::summary::{ModeSummary, Report, Setting, mode_rank, passed, summarise};
use super::table::{Names, counted, grouped, mark, passed_text, range_text};
use super::{findings, one_line, shortfall};

/// For each setting the five lines with their figures filled in; what a person must say is left to be said.
pub fn text(report: &Report) -> String {
    let report = &summarise(report.runs.iter().map(one_line::of_run).collect());
    let settings = Settings::of(report);
    let parts: Vec<String> = settings.all.iter().map(|setting| part(report, setting, &settings)).collect();
    plain(&parts.join("\n"))
}

fn part(report: &Report, setting: &Setting, settings: &Settings) -> String {
    let mut runs: Vec<&RunRecord> = report.runs.iter().filter(|run| Setting::of(run) == *setting).collect();
    runs.sort_by_key(|run| mode_rank(&run.mode));
    let modes: Vec<&ModeSummary> = report.modes.iter().filter(|mode| mode.setting == *setting).collect();
    let names = Names::of(&runs);
    let told = |tell: &dyn Fn(&ModeSummary) -> String| -> String {
        let modes =
            modes.iter().map(|mode| format!("{} {}", names.name(&mode.mode, mode.sandbox.as_deref()), tell(mode)));
        modes.collect::<Vec<_>>().join("; ")
    };
    let mut text = format!("five lines about {}, asked of {}\n\n", settings.name(setting), setting.model);
    let _ = writeln!(text, "1. Tokens read, median (range): {}.", told(&tokens_text));
    for ratio in report.ratios.iter().filter(|ratio| ratio.setting == *setting) {
        text.push_str(&indented(&findings::text(ratio, &modes, names)));
    }
    let _ = writeln!(text, "2. Passed: {}.", told(&passed_text));
    text.push_str(&indented(shortfall::text(&runs, names).trim_start()));
    let _ = writeln!(text, "3. The work: {}.", told(&work_text));
    text.push_str("4. One surprise: …\n");
    text.push_str(&indented(&candidates(&runs, &modes, names)));
    text.push_str("5. When I would choose which: …\n");
    text.push_str(&indented(&limits_of_claim(setting, &modes)));
    text
}

fn tokens_text(mode: &ModeSummary) -> String {
    format!("{}{}", mark(mode.estimated), range_text(mode.tokens_read.as_ref(), whole))
}

fn work_text(mode: &ModeSummary) -> String {
    let counted = |spread: &Option<Spread>, word: &str| match spread {
        Some(Spread { min: 1.0, max: 1.0, .. }) => format!("1 {word}"),
        spread => format!("{} {word}s", range_text(spread.as_ref(), whole)),
    };
    if mode.n == 0 {
        return "–".to_owned();
    }
    let has_scripts = mode.scripts.is_some_and(|scripts| scripts.max > 0.0);
    let scripts = if has_scripts { format!(", {}", counted(&mode.scripts, "script")) } else { String::new() };
    format!(
        "{}, {}{scripts}, {} s",
        counted(&mode.model_turns, "turn"),
        counted(&mode.calls, "call"),
        range_text(mode.seconds.as_ref(), |value| format!("{value:.1}"))
    )
}

fn whole(value: f64) -> String {
    grouped(value.round() as u64)
}

/// What may be worth a look: the run that is farthest from its mode's median, and claims of runs that did not pass.
fn candidates(runs: &[&RunRecord], modes: &[&ModeSummary], names: Names) -> String {
    let mut text = String::new();
    for mode in modes {
        let name = names.name(&mode.mode, mode.sandbox.as_deref());
        let Some(Spread { median, min, max }) = mode.tokens_read else { continue };
        let (far, word) = if max - median >= median - min { (max, "most") } else { (min, "least") };
        let of_mode = |run: &&&RunRecord| run.mode == mode.mode && names.of_run(run) == name;
        if min < max
            && let Some(run) = runs.iter().filter(of_mode).find(|run| run.tokens_read as f64 == far)
        {
            let tokens = grouped(run.tokens_read);
            let _ = writeln!(text, "{name} read the {word} in {}: {}{tokens}", run.run, mark(run.estimated));
        }
    }
    if let Some(run) = runs.iter().find(|run| !passed(run) && !run.final_text.trim().is_empty()) {
        let _ =
            writeln!(text, "what {} says at its end, and its verdict: `workbench show {}`", names.of_run(run), run.run);
    }
    text
}

/// What these figures do not show, whatever they are.
fn limits_of_claim(setting: &Setting, modes: &[&ModeSummary]) -> String {
    let fewest = modes.iter().map(|mode| mode.n as u64).min().unwrap_or_default();
    let runs = counted(fewest, "run");
    let asked = match setting.model == rehearsal::NAME {
        true => "scripted turns and no model (rehearsal)",
        false => "one model",
    };
    let mut text =
        format!("it might not hold elsewhere: one task, {asked}, {runs} of a mode, data from {}", setting.source);
    if modes.iter().any(|mode| mode.estimated) {
        text.push_str(", tokens counted locally (≈)");
    }
    text + "\n"
}

fn indented(text: &str) -> String {
    text.lines().filter(|line| !line.is_empty()).map(|line| format!("   {line}\n")).collect()
}
