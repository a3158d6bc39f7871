//! The order of commands, which holds when the clock is put back, too.

use std::path::Path;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::find::list_runs;

/// A time as names of commands and of runs begin with it.
const TIME: &str = "%Y-%m-%dT%H-%M-%S%.fZ";

/// The name of a command that begins `now`: the time, and the process id. It sorts behind the names of all commands
/// that have runs in `results`: where the clock was put back, its time is the first that does.
pub fn name_of_command(results: &Path, now: Timestamp) -> String {
    let time = newest_ahead(results, now).map_or(now, |newest| later(newest).unwrap_or(now));
    format!("{}-{}", time.strftime("%Y-%m-%dT%H-%M-%S%.3fZ"), std::process::id())
}

/// The time of the newest command, if the clock is behind it. All records are read: the names of folders would tell
/// less of those that were handed in.
fn newest_ahead(results: &Path, now: Timestamp) -> Option<Timestamp> {
    let runs = list_runs(results, None).ok()?.runs;
    let commands = runs.iter().map(|run| &run.record.command).filter(|name| is_name_of_command(name));
    commands.filter_map(|name| time_in(name)).max().filter(|newest| *newest >= now)
}

/// Whether a text is the name of a command: records come from others, too, and a name becomes that of a folder. After
/// each there is room for another.
pub fn is_name_of_command(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_digit() || "-.TZ".contains(letter);
    time_in(name).and_then(later).is_some() && name.chars().all(is_plain)
}

/// Whether a name begins as those of runs do.
pub(super) fn begins_with_time(name: &str) -> bool {
    time_in(name).is_some()
}

fn later(time: Timestamp) -> Option<Timestamp> {
    time.checked_add(SignedDuration::from_millis(1)).ok()
}

/// The time a name begins with.
fn time_in(name: &str) -> Option<Timestamp> {
    let (time, _) = name.split_once('Z')?;
    let time = DateTime::strptime(TIME, format!("{time}Z")).ok()?;
    TimeZone::UTC.to_timestamp(time).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_their_time() {
        let table = [
            ("2026-11-29T12-30-00Z-code-1", Some("2026-11-29T12:30:00Z")),
            ("2026-11-29T12-30-00.25Z-4711", Some("2026-11-29T12:30:00.25Z")),
            ("2026-13-29T12-30-00Z-1", None),
            ("by-hand", None),
            ("", None),
            ("Zoo", None),
        ];
        for (name, expected) in table {
            assert_eq!(time_in(name).map(|time| time.to_string()).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn a_name_of_a_command_leads_nowhere_else() {
        let table = [
            ("2026-11-29T12-30-00.250Z-4711", true),
            ("2026-11-29T12-30-00Z-4711", true),
            ("2026-11-29T12-30-00Z-../../x", false),
            ("2026-11-29T12-30-00Z-code-1", false),
            ("..", false),
            ("9999-12-30T22-00-00.998Z-1", true),
            ("9999-12-30T22-00-00.999Z-1", false),
            ("9999-12-31T23-59-59.999Z-1", false),
        ];
        for (name, expected) in table {
            assert_eq!(is_name_of_command(name), expected, "{name}");
        }
    }
}
