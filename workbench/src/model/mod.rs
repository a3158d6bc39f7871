//! Who is asked: the types every model speaks, and the models.

pub mod exchange;
mod policy;
pub mod provider;
pub mod rehearsal;
pub mod rehearsal_text;
pub mod replay;
pub mod tokens;
pub mod trace;
pub mod transcript;
pub mod types;
