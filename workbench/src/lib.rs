//! The workbench: one task, several ways of calling the same tools, and rules that judge the result.
//!
//! `ARCHITECTURE.md` names the layers; a lower module never uses a higher one.

#[cfg(not(unix))]
compile_error!(
    "the workbench runs on Linux and macOS: plugins and scripts run in child processes, and it talks to them over Unix \
     sockets and holds them with Unix resource limits"
);

pub mod artifacts;
pub mod bounded_json;
pub mod check;
pub mod cli;
pub mod commands;
pub mod death;
pub mod domain;
pub mod env;
pub mod error;
pub mod events;
pub mod exit;
pub mod expression;
pub mod files;
pub mod frames;
pub mod lockdown;
pub mod model;
pub mod nearest;
pub mod plugin;
pub mod printer;
pub mod report;
pub mod results;
pub mod runner;
pub mod sandbox;
pub mod serve;
pub mod verify;
pub mod web;
