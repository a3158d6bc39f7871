//! The sandbox `docker`: scripts in containers of an engine, spoken to through its API.

pub mod availability;
pub mod engine;
pub mod image;
pub mod places;
pub mod sweep;
