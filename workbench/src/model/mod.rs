//! Who is asked: the types every model speaks, and the models.

pub mod types;
