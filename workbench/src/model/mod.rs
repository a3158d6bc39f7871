//! Who is asked: the types every model speaks, and the models.

pub mod access;
mod answer;
pub mod anthropic;
mod arguments;
pub mod exchange;
pub mod openai;
mod policy;
pub mod prices;
pub mod provider;
pub mod rehearsal;
pub mod rehearsal_text;
pub mod replay;
pub mod schema;
pub mod tokens;
pub mod trace;
pub mod transcript;
pub mod types;
