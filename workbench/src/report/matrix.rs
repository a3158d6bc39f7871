//! Several domains beside each other, below their own tables: domain × mode.

use super::apart::Settings;
use super::findings::short;
use super::summary::{ModeSummary, Ratio, Report, mode_rank};
use super::table::{Names, grouped, mark, passed_text, table, trimmed};

/// One row a domain, or a setting of it: in each mode the median of the tokens read and the runs that passed, then what one
/// mode read against another. Nothing where there is one domain alone.
pub(super) fn text(report: &Report, settings: &Settings) -> String {
    if settings.all.iter().all(|setting| setting.domain == settings.all[0].domain) {
        return String::new();
    }
    let names = Names::of(&report.runs.iter().collect::<Vec<_>>());
    let mut modes: Vec<(usize, String)> =
        report.modes.iter().map(|mode| (mode_rank(&mode.mode), name_of(mode, names))).collect();
    modes.sort();
    modes.dedup();
    let mut pairs: Vec<String> = Vec::new();
    for pair in report.ratios.iter().map(|ratio| pair_of(ratio, names)) {
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    let head: Vec<&str> = std::iter::once("domain")
        .chain(modes.iter().map(|(_, name)| name.as_str()))
        .chain(pairs.iter().map(String::as_str))
        .collect();
    let mut rows = table(&head, &[0]);
    for setting in &settings.all {
        let of_setting: Vec<&ModeSummary> = report.modes.iter().filter(|mode| mode.setting == *setting).collect();
        let modes = modes.iter().map(|(_, name)| {
            let mode = of_setting.iter().find(|mode| name_of(mode, names) == *name);
            mode.map_or_else(nothing, |mode| mode_text(mode))
        });
        let ratios = pairs.iter().map(|pair| {
            let ratio = report.ratios.iter().find(|ratio| ratio.setting == *setting && pair_of(ratio, names) == *pair);
            ratio.map_or_else(nothing, |ratio| ratio_text(ratio, &of_setting))
        });
        let row: Vec<String> = std::iter::once(settings.name(setting)).chain(modes).chain(ratios).collect();
        rows.add_row(row);
    }
    format!(
        "all domains: tokens read (median), runs that passed; ratios with their 95 % interval, where runs differ\n\n{}\n",
        trimmed(&rows)
    )
}

fn nothing() -> String {
    "–".to_owned()
}

fn name_of(mode: &ModeSummary, names: Names) -> String {
    names.name(&mode.mode, mode.sandbox.as_deref())
}

fn pair_of(ratio: &Ratio, names: Names) -> String {
    let [of, to] = names.of_ratio(ratio);
    format!("{of} ÷ {to}")
}

fn mode_text(mode: &ModeSummary) -> String {
    let passed = passed_text(mode);
    match mode.tokens_read {
        Some(spread) => format!("{}{}, {passed}", mark(mode.estimated), grouped(spread.median.round() as u64)),
        None => passed,
    }
}

fn ratio_text(ratio: &Ratio, modes: &[&ModeSummary]) -> String {
    let estimated = mark(modes.iter().any(|mode| mode.estimated));
    let interval = match ratio.interval {
        Some([low, high]) => format!(" ({} to {})", short(low), short(high)),
        None => String::new(),
    };
    format!("{estimated}{}{interval}", short(ratio.tokens_read))
}
