//! Any text in the place of a manifest: it is one, or every problem is drawn.
#![no_main]

use modules::domain::manifest::Manifest;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(error) = Manifest::check(bytes) {
        let told = error.to_string();
        assert!(!told.trim().is_empty());
        assert!(told.chars().all(|letter| letter == '\n' || !letter.is_control()), "{told:?}");
    }
});
