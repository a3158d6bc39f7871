//! Tools that go wrong in every way safe Rust knows, one that tries what a plugin may not do, and some that hand on what
//! the host gave them.
//!
//! What needs a broken boundary or a bare system call is in `workbench/tests/fixtures/faulty.c`.
#![forbid(unsafe_code)]

mod attempts;
mod documents;
mod faults;

use attempts::attempt;
use documents::{change, hand_on, hand_on_the_one_before};
use faults::{
    abort, allocate, answer, call_exit, loop_forever, overflow, overflow_in_thread, panic, panic_in_thread,
    panic_later, print_much, say_much,
};
use plugin_api::plugin;

plugin!(
    answer,
    panic,
    panic_in_thread,
    panic_later,
    abort,
    call_exit,
    loop_forever,
    overflow,
    overflow_in_thread,
    allocate,
    print_much,
    say_much,
    attempt,
    hand_on,
    hand_on_the_one_before,
    change,
);
