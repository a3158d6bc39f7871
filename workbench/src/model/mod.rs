//! Who is asked: the types every model speaks, and the models.

pub mod exchange;
mod policy;
pub mod prices;
pub mod provider;
pub mod rehearsal;
pub mod tokens;
pub mod trace;
pub mod types;
