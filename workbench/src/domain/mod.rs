//! A domain: the folder that says what is compared. Reads `domain.toml`, finds the folder, checks it.

pub mod manifest;
