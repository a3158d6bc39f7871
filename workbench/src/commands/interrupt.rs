//! Ctrl-C, SIGTERM, and a terminal that goes away: the first asks a command to end in order, the second ends it as it
//! stands.

use rustix::process::Signal as Number;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{oneshot, watch};

use crate::exit::Exit;

/// What a command hears of the user's wish to end it.
pub(super) struct Interrupts {
    /// Raised by the first signal.
    pub(super) asked: watch::Receiver<bool>,
    insisted: oneshot::Receiver<()>,
}

impl Interrupts {
    /// Listens from now on.
    pub(super) fn listen() -> Self {
        let (ask, asked) = watch::channel(false);
        let (insist, insisted) = oneshot::channel();
        // A system that lets nobody listen ends the program itself.
        if let (Ok(pressed), Ok(told)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate())) {
            let hung_up = if is_to_outlive_terminal() { None } else { signal(SignalKind::hangup()).ok() };
            tokio::spawn(async move {
                let mut signals = Signals { pressed, told, hung_up };
                signals.next().await;
                // Nobody hears this only when the command is ending anyway.
                _ = ask.send(true);
                signals.next().await;
                _ = insist.send(());
            });
        }
        Self { asked, insisted }
    }

    /// Comes back at the second signal.
    pub(super) async fn insisted(self) {
        if self.insisted.await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

struct Signals {
    pressed: Signal,
    told: Signal,
    hung_up: Option<Signal>,
}

impl Signals {
    async fn next(&mut self) {
        tokio::select! {
            _ = self.pressed.recv() => {}
            _ = self.told.recv() => {}
            Some(_) = async { self.hung_up.as_mut()?.recv().await } => {}
        }
    }
}

/// Whether the program was started to go on without its terminal, as `nohup` does. Only Linux tells.
fn is_to_outlive_terminal() -> bool {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return true };
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    ignored.is_none_or(|ignored| ignored >> (Number::HUP.as_raw() - 1) & 1 == 1)
}

/// What a command whose runs are made ends with, unless it was interrupted.
pub(super) fn unless_raised(asked: &watch::Receiver<bool>, exit: Exit) -> Exit {
    if *asked.borrow() { Exit::Interrupted } else { exit }
}
