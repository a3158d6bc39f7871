//! What a run leaves behind: the format of `run.json` and its neighbours, and the store that writes
//! and reads them.

pub mod attempts;
pub mod faults;
pub mod find;
pub mod format;
pub mod order;
pub mod store;
pub mod sweep;
