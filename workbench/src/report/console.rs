//! Progress of a command on standard error: one line a run, moving on a terminal.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::events::{Event, Listener, RunKey};
use crate::printer;

use super::table::{counted, grouped, mark, run_line};

/// What one run has done so far.
struct Line {
    bar: ProgressBar,
    turns: u32,
    calls: u32,
    scripts: u32,
    tokens_read: u64,
    estimated: bool,
}

/// A listener that draws, and prints one line when a run ends.
pub fn listener() -> Listener {
    drawing(true)
}

/// As [`listener`], without that line: for a run that is told whole when it has ended.
pub fn listener_until_the_end() -> Listener {
    drawing(false)
}

fn drawing(tells_end: bool) -> Listener {
    let board = MultiProgress::new();
    let lines: Mutex<HashMap<RunKey, Line>> = Mutex::new(HashMap::new());
    let drawn = printer::is_interactive();
    Listener::new(move |event| {
        let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::RunStarted(key) if drawn => {
                let bar = board.add(ProgressBar::new_spinner());
                bar.set_style(ProgressStyle::default_spinner());
                bar.enable_steady_tick(Duration::from_millis(120));
                bar.set_message(format!("{} {} {}", key.domain, key.mode, key.number));
                lines.insert(key, Line { bar, turns: 0, calls: 0, scripts: 0, tokens_read: 0, estimated: false });
            }
            Event::RunStarted(_) => {}
            Event::RunEnded(key, record) => {
                if let Some(line) = lines.remove(&key) {
                    line.bar.finish_and_clear();
                    board.remove(&line.bar);
                }
                if tells_end {
                    board.suspend(|| printer::note(&run_line(&record)));
                }
            }
            Event::TurnEnded { key, turn, estimated } => redraw(&mut lines, &key, |line| {
                line.estimated = estimated;
                line.turns = turn.turn;
                line.tokens_read += turn.tokens_read;
            }),
            Event::CallEnded(key, _) => redraw(&mut lines, &key, |line| line.calls += 1),
            Event::ScriptStarted(key, number) => redraw(&mut lines, &key, |line| line.scripts = number),
            Event::ScriptEnded(..) => {}
        }
    })
}

/// A spinner for work before the first run, such as building a plugin. Plain lines elsewhere.
pub fn step(message: &str) -> Step {
    if !printer::is_interactive() {
        printer::note(message);
        return Step(None);
    }
    let bar = ProgressBar::new_spinner();
    bar.enable_steady_tick(Duration::from_millis(120));
    bar.set_message(message.to_owned());
    Step(Some(bar))
}

/// Takes its line away when it is dropped.
pub struct Step(Option<ProgressBar>);

impl Drop for Step {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

fn redraw(lines: &mut HashMap<RunKey, Line>, key: &RunKey, change: impl FnOnce(&mut Line)) {
    let Some(line) = lines.get_mut(key) else { return };
    change(line);
    let scripts = if line.scripts > 0 { format!(" · script {}", line.scripts) } else { String::new() };
    line.bar.set_message(format!(
        "{} {} {} · turn {}{scripts} · {} · {}{} tokens read",
        key.domain,
        key.mode,
        key.number,
        line.turns,
        counted(line.calls.into(), "call"),
        mark(line.estimated),
        grouped(line.tokens_read)
    ));
}
