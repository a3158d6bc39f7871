//! What a run leaves for people: files in its `out/`, pages, contact sheets. Plugins ask for them
//! through upcalls, with names and texts that came from a model.

mod contact_sheet;
mod difference;
mod names;
mod out_folder;
mod pages;
pub mod pictures;

pub use contact_sheet::{SheetError, contact_sheet};
pub use difference::{Compared, FileDifference, How, compare};
pub use names::safe_file_name;
pub use out_folder::{OutError, OutFolder};
pub use pages::{PageError, Pages};
