//! Panics of a tool, caught with their text and place.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

thread_local! {
    static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `work`; a panic in it becomes a text such as `attempt to divide by zero (src/lib.rs:12)`.
///
/// What `work` had borrowed may be half changed after a panic; a tool keeps nothing between calls.
pub(crate) fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    install_hook();
    LAST_PANIC.take();
    // The place is known to the hook alone; a panic carried over from another thread comes without it.
    panic::catch_unwind(AssertUnwindSafe(work))
        .map_err(|payload| LAST_PANIC.take().unwrap_or_else(|| text_of(payload.as_ref()).to_owned()))
}

/// Goes on to the hook before it, so that a plugin that dies of its panic has still said why.
fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |information| {
            LAST_PANIC.set(Some(describe(information)));
            previous(information);
        }));
    });
}

fn describe(information: &PanicHookInfo<'_>) -> String {
    let text = text_of(information.payload());
    match information.location() {
        Some(place) => format!("{text} ({}:{})", place.file(), place.line()),
        None => text.to_owned(),
    }
}

fn text_of(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without a text")
}
