//! The modules of the host that are tried, from its own source. Taking the whole host would build its HTTP client,
//! its TLS and its pictures, too, and with them most of the time the gate spends here.

#![allow(dead_code, missing_docs, unused_imports)]

#[path = "../src/domain/mod.rs"]
pub mod domain;
#[path = "../src/env.rs"]
mod env;
#[path = "../src/expression/mod.rs"]
pub mod expression;
#[path = "../src/files/mod.rs"]
pub mod files;
#[path = "../src/frames.rs"]
pub mod frames;
#[path = "../src/nearest.rs"]
pub mod nearest;
#[path = "../src/printer.rs"]
mod printer;
