//! Who is asked: the types every model speaks, and the models.

mod policy;
pub mod rehearsal;
pub mod tokens;
pub mod types;
