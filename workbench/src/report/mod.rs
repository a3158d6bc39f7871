//! The view of many runs: figures of each mode, ratios between modes, and how they are shown.

mod apart;
pub mod audit;
mod audit_figures;
mod audit_text;
pub mod console;
mod findings;
pub mod five_lines;
mod matrix;
mod one_line;
pub mod run_story;
mod shortfall;
pub mod statistics;
pub mod summary;
pub mod table;
