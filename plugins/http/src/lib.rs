//! Tools that a manifest declares as `[[tool]]`: this plugin runs them, and has none of its own.
#![forbid(unsafe_code)]

mod declaration;
mod pages;
#[cfg(test)]
mod parity;
mod reading;
mod showing;
mod template;
mod tools;

use plugin_api::declared_plugin;

declared_plugin!(tools::Declared);
