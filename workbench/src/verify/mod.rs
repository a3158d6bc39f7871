//! Judges a run by what it left behind: reads the evidence, applies the rules, never believes the
//! model.
//!
//! What a model made is hostile input: files are bounded before they are read, and so is what all of
//! them take together; links are not followed out of the run's folder, and whatever cannot be read
//! fails the rules that need it. A fault that is not the model's (the network, a broken expression)
//! ends a rule in `error` instead.

mod budget;
mod derived;
mod evidence;
mod files;
mod get;
mod html;
mod image;
mod rules;
mod verdict;

pub use get::Fetch;
pub(crate) use html::{kept_part, text_of};
pub use verdict::{Judgement, judge};
