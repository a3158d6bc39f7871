//! What a session tells of its names: a script finds those of the scripts before it, unless their interpreter has ended.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{ScriptEnd, ScriptOutcome};

/// What is told when names are gone.
pub(crate) const FORGOTTEN: &str = "and the names of the cells before it are gone";

/// Whether there are names that the next script of a session expects.
#[derive(Debug, Default)]
pub(super) struct Names(AtomicBool);

impl Names {
    /// A script begins, in an interpreter of its own or in that of the script before. Whether names are missing there.
    /// One that is given up before its end leaves names to be missed.
    pub(super) fn begin(&self, is_new: bool) -> bool {
        self.0.swap(true, Ordering::Relaxed) && is_new
    }

    /// Tells on the script's standard error what became of the names, once: what it missed, and whether its interpreter
    /// ended with it. An end from outside says as much, and what is known of a crash is told the next script.
    pub(super) fn end(&self, missing: bool, lives_on: bool, outcome: &mut ScriptOutcome) {
        let errors = &mut outcome.stderr.text;
        if missing {
            // Before what the script wrote, whose last line may be looked for.
            errors.insert_str(0, &format!("note: the cell began in a new interpreter, {FORGOTTEN}\n"));
        }
        if lives_on || matches!(outcome.end, ScriptEnd::Crashed(_) | ScriptEnd::Killed) {
            return;
        }
        self.0.store(false, Ordering::Relaxed);
        if matches!(outcome.end, ScriptEnd::Exit(_)) {
            let line_feed = if errors.is_empty() || errors.ends_with('\n') { "" } else { "\n" };
            errors.push_str(&format!("{line_feed}note: the cell ended its interpreter, {FORGOTTEN}\n"));
        }
    }
}
