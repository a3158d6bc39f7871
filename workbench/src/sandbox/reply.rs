//! A script's outcome as the text a model reads.

use super::{ScriptEnd, ScriptOutcome};

impl ScriptOutcome {
    /// What a model gets for this outcome: a first line when the script did not end well, then the
    /// last `output_chars` characters of what it printed, standard output before standard error.
    /// What was cut is counted; an empty output is `(no output)`.
    pub fn reply(&self, output_chars: usize) -> String {
        let mut reply = self.headline().map(|line| line + "\n").unwrap_or_default();
        let mut output = self.stdout.text.clone();
        if !output.is_empty() && !output.ends_with('\n') && !self.stderr.text.is_empty() {
            output.push('\n');
        }
        output.push_str(&self.stderr.text);
        let dropped = self.stdout.dropped + self.stderr.dropped;
        if output.is_empty() {
            reply.push_str("(no output)");
            return reply;
        }
        let surplus = output.chars().count().saturating_sub(output_chars);
        let start = output.char_indices().nth(surplus).map_or(output.len(), |(index, _)| index);
        let cut = dropped + surplus as u64;
        if cut > 0 {
            reply.push_str(&format!("[the first {cut} characters of the output were cut]\n"));
        }
        reply.push_str(&output[start..]);
        reply
    }

    /// How the script ended, in a line; nothing when it ended by itself and well.
    pub fn headline(&self) -> Option<String> {
        let seconds = self.time.as_secs_f64();
        match &self.end {
            ScriptEnd::Exit(0) => None,
            ScriptEnd::Exit(code) => Some(format!("EXIT CODE {code}")),
            ScriptEnd::TimedOut => Some(format!("KILLED after {seconds:.0} s: the script reached its time limit")),
            ScriptEnd::OutOfMemory => Some(format!("KILLED after {seconds:.1} s: the script ran out of memory")),
            ScriptEnd::Stopped(reason) => Some(format!("STOPPED after {seconds:.1} s: {reason}")),
            ScriptEnd::Killed => Some(format!(
                "CRASHED after {seconds:.1} s: the interpreter was killed from outside, perhaps by the system for memory"
            )),
            ScriptEnd::Crashed(cause) => Some(format!("CRASHED after {seconds:.1} s: {cause}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::sandbox::Captured;

    fn reply(end: ScriptEnd, stdout: (&str, u64), stderr: &str) -> String {
        let captured = |text: &str, dropped| Captured { text: text.into(), dropped };
        let (stdout, stderr) = (captured(stdout.0, stdout.1), captured(stderr, 0));
        ScriptOutcome { end, stdout, stderr, time: Duration::from_millis(8040) }.reply(12)
    }

    #[test]
    fn an_outcome_reads_as_the_forms_say() {
        let exit = ScriptEnd::Exit;
        let cases = [
            (reply(exit(0), ("fine\n", 0), ""), "fine\n"),
            (reply(exit(0), ("", 0), ""), "(no output)"),
            (reply(exit(3), ("", 0), ""), "EXIT CODE 3\n(no output)"),
            (reply(exit(1), ("out", 0), "err\n"), "EXIT CODE 1\nout\nerr\n"),
            (
                reply(exit(0), ("0123456789é123", 0), ""),
                "[the first 2 characters of the output were cut]\n23456789é123",
            ),
            (reply(exit(0), ("tail\n", 700), ""), "[the first 700 characters of the output were cut]\ntail\n"),
            (
                reply(ScriptEnd::TimedOut, ("so far", 0), ""),
                "KILLED after 8 s: the script reached its time limit\nso far",
            ),
            (
                reply(ScriptEnd::Stopped("no calls left".into()), ("", 0), ""),
                "STOPPED after 8.0 s: no calls left\n(no output)",
            ),
        ];
        for (got, expected) in cases {
            assert_eq!(got, expected);
        }
    }
}
