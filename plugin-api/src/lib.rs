//! What a workbench plugin is written with.
//!
//! A plugin is a library of *tools*: plain functions that a language model may call. The workbench
//! loads it in a process of its own, fetches what the tools ask for, and keeps what they save. So a
//! plugin needs no HTTP client, no cache and no file handling, and holds no unsafe code.
//! On Linux that process is locked: a socket, a program or a file outside of the run's `out/` is refused to it with
//! "permission denied" or "operation not permitted".
//!
//! This is a whole plugin, with its test. In a plugin of yours, `Cargo.toml` says
//! `crate-type = ["cdylib"]` and names this crate and `serde`.
//!
//! ```
//! #![forbid(unsafe_code)]
//!
//! use plugin_api::prelude::*;
//! use serde::{Deserialize, Serialize};
//!
//! /// Everything the bestiary knows about one creature. Returns the record as JSON: name, size, and so on.
//! #[tool]
//! fn get_creature(host: &Host, /** Its name, such as `owlbear`. */ name: String) -> ToolResult<RawJson> {
//!     // Handed on as it came: a record that nobody looks into is not parsed.
//!     host.get_json(format!("/creatures/{name}"), &[])
//! }
//!
//! /// The order of a list.
//! #[derive(ToolArgument)]
//! enum Order {
//!     Name,
//!     Size,
//! }
//!
//! #[derive(Deserialize)]
//! struct Page {
//!     results: Vec<Creature>,
//! }
//!
//! #[derive(Deserialize, Serialize)]
//! struct Creature {
//!     name: String,
//!     size: u32,
//! }
//!
//! /// Lists creatures. Returns a list of {name, size}.
//! #[tool]
//! fn list_creatures(
//!     host: &Host,
//!     /** What to sort by. */
//!     #[default(Order::Name)]
//!     order: Order,
//!     /** How many to return. */
//!     #[default(20)]
//!     #[range(1..=100)]
//!     limit: u32,
//! ) -> ToolResult<Vec<Creature>> {
//!     let page: Page = host.get_json("/creatures", &[("limit", &limit)])?.parse()?;
//!     let mut creatures = page.results;
//!     match order {
//!         Order::Name => creatures.sort_by(|left, right| left.name.cmp(&right.name)),
//!         Order::Size => creatures.sort_by_key(|creature| creature.size),
//!     }
//!     Ok(creatures)
//! }
//!
//! plugin!(get_creature, list_creatures);
//!
//! // Tests call tools by name, against canned answers.
//! use plugin_api::testing::FakeHost;
//! use serde_json::json;
//!
//! # fn main() {
//! let host = FakeHost::new()
//!     .json("/creatures?limit=2", r#"{"results": [{"name": "owlbear", "size": 3}, {"name": "imp", "size": 1}]}"#);
//!
//! let creatures = host.call(&PLUGIN, "list_creatures", &json!({"limit": 2, "order": "size"}));
//! assert_eq!(creatures, Ok(json!([{"name": "imp", "size": 1}, {"name": "owlbear", "size": 3}])));
//!
//! let refused = host.call(&PLUGIN, "list_creatures", &json!({"limit": 0})).unwrap_err();
//! assert_eq!(refused.message, "bad arguments for list_creatures: limit must be between 1 and 100, not 0");
//! # }
//! ```
//!
//! What crosses the boundary is told in [`wire`] (messages) and [`abi`] (symbols and memory); no
//! author needs either.

// The macros name this crate by its name, also in its own tests.
extern crate self as plugin_api;

pub mod abi;
mod argument;
pub mod declared;
#[doc(hidden)]
pub mod dispatch;
pub mod error;
pub mod host;
mod panics;
mod parameter;
mod plugin;
pub mod prelude;
mod raw_json;
pub mod testing;
pub mod wire;

pub use argument::ToolArgument;
pub use error::{ToolError, ToolResult, named};
pub use host::{Content, Document, Host};
pub use plugin_api_macros::{ToolArgument, plugin, tool};
pub use raw_json::RawJson;
pub use wire::{Picture, SavedFile};
