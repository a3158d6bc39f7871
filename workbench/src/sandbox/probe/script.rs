//! One probe: a script whose first lines say what it tries and what has to come of it.

use std::time::Duration;

use crate::sandbox::{ScriptEnd, ScriptLimits, ScriptOutcome};

/// How long a probe may take that is to end by itself, on a machine that is busy with other things.
const SECONDS: u64 = 30;

/// What it may take of memory.
const MEMORY_MB: u64 = 128;

/// How many calls it may make.
const CALLS: u64 = 100;

/// Bytes of its output that are kept.
const KEPT_OUTPUT: usize = 64 * 1024;

/// Characters of a line that are shown.
const LONGEST_LINE: usize = 70;

/// What would succeed, and so is not tried.
const NOT_STOPPED: &str = "not stopped";

/// A script that tries something.
pub(super) struct Probe {
    pub(super) name: &'static str,
    pub(super) source: &'static str,
}

/// What is to come of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// One of these, joined with ` | `, or one of them followed by `: ` and more.
    Text(&'static str),
    /// It would succeed.
    NotStopped,
}

impl Probe {
    /// What it tries, in words.
    pub(super) fn title(&self) -> &'static str {
        self.setting("probe").unwrap_or(self.name)
    }

    /// What is to come of it in a sandbox, one with profiles in one of them. `None`: it means nothing there.
    pub(super) fn expected(&self, sandbox: &str, profile: Option<&str>) -> Option<Expected> {
        let of_profile = profile.and_then(|profile| self.setting(&format!("{sandbox} {profile}")));
        let text = of_profile.or_else(|| self.setting(sandbox)).or_else(|| self.setting("expected"))?;
        Some(if text == NOT_STOPPED { Expected::NotStopped } else { Expected::Text(text) })
    }

    /// Whether somebody has to name an address.
    pub(super) fn needs_url(&self) -> bool {
        self.setting("needs") == Some("url")
    }

    /// Whether what the host kept is looked at, instead of the output.
    pub(super) fn leaves_files(&self) -> bool {
        self.setting("look at") == Some("kept files")
    }

    /// The calls it may make.
    pub(super) fn calls(&self) -> u64 {
        self.number("calls").unwrap_or(CALLS)
    }

    /// What ends it.
    pub(super) fn limits(&self) -> ScriptLimits {
        ScriptLimits {
            time: Duration::from_secs(self.number("seconds").unwrap_or(SECONDS)),
            memory: self.number("memory_mb").unwrap_or(MEMORY_MB) << 20,
            output_bytes: KEPT_OUTPUT,
        }
    }

    fn setting(&self, key: &str) -> Option<&'static str> {
        let header = self.source.lines().map_while(|line| line.strip_prefix("# "));
        header.filter_map(|line| line.split_once(": ")).find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    fn number(&self, key: &str) -> Option<u64> {
        self.setting(key)?.parse().ok()
    }
}

/// What came of a script: the last line it printed, or how it ended.
pub(super) fn got(outcome: &ScriptOutcome) -> String {
    let text = match &outcome.end {
        ScriptEnd::Exit(0) => outcome.stdout.text.lines().last().unwrap_or("(nothing printed)").to_owned(),
        ScriptEnd::Exit(code) => format!("exit code {code}"),
        ScriptEnd::TimedOut => "killed at its time limit".to_owned(),
        ScriptEnd::OutOfMemory => "out of memory".to_owned(),
        ScriptEnd::Stopped(reason) => format!("stopped: {reason}"),
        ScriptEnd::Crashed(cause) => format!("crashed: {cause}"),
        ScriptEnd::Killed => "killed from outside".to_owned(),
    };
    let mut shown: String = text.chars().take(LONGEST_LINE).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// Whether what came of a probe is what was expected.
pub(super) fn fits(expected: &str, got: &str) -> bool {
    let is = |wanted: &str| got.strip_prefix(wanted).is_some_and(|more| more.is_empty() || more.starts_with(": "));
    expected.split(" | ").any(is)
}

#[cfg(test)]
mod tests {
    use super::super::list::PROBES;
    use super::*;

    #[test]
    fn what_was_expected_fits_and_nothing_else_does() {
        for (expected, got, fitting) in [
            ("refused", "refused", true),
            ("refused", "refused: ImportError", true),
            ("refused: ImportError", "refused", false),
            ("refused", "allowed: 1 GB", false),
            ("refused", "", false),
            ("1000", "10001", false),
            ("out of memory | killed at its time limit", "killed at its time limit", true),
            ("out of memory | killed at its time limit", "killed from outside", false),
        ] {
            assert_eq!(fits(expected, got), fitting, "{expected}, {got}");
        }
    }

    #[test]
    fn a_profile_has_the_last_word_over_its_sandbox() {
        let source =
            "# probe: a try\n# expected: one\n# docker: two\n# docker open: not stopped\nprint(1)\n# seconds: 5";
        let probe = Probe { name: "a_try", source };
        assert_eq!(probe.title(), "a try");
        for (sandbox, profile, expected) in [
            ("embedded", None, Expected::Text("one")),
            ("docker", Some("none"), Expected::Text("two")),
            ("docker", Some("open"), Expected::NotStopped),
        ] {
            assert_eq!(probe.expected(sandbox, profile), Some(expected));
        }
        // Below the first line of code nothing is a setting.
        assert_eq!(probe.limits().time.as_secs(), SECONDS);
    }

    #[test]
    fn every_probe_says_what_it_tries_and_is_tried_somewhere() {
        const KEYS: [&str; 10] = [
            "probe",
            "expected",
            "docker",
            "docker none",
            "docker open",
            "embedded",
            "needs",
            "look at",
            "seconds",
            "memory_mb",
        ];
        for probe in PROBES {
            assert!(probe.setting("probe").is_some(), "{}", probe.name);
            let places = [("docker", Some("none")), ("docker", Some("open")), ("embedded", None)];
            let tried = places.iter().filter_map(|(sandbox, profile)| probe.expected(sandbox, *profile));
            assert!(tried.into_iter().any(|expected| expected != Expected::NotStopped), "{}", probe.name);
            let header = probe.source.lines().map_while(|line| line.strip_prefix("# "));
            for key in header.filter_map(|line| line.split_once(": ")).map(|(key, _)| key) {
                assert!(KEYS.contains(&key) || key == "calls", "{} has a key `{key}`", probe.name);
            }
        }
    }
}
