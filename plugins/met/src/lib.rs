//! The Metropolitan Museum of Art's collection as tools: find, read, download, show.
#![forbid(unsafe_code)]

mod objects;
mod search;
mod showing;
mod text;

use objects::{download_image, get_object};
use plugin_api::plugin;
use search::{list_departments, search_collection};
use showing::{build_gallery, make_contact_sheet};

plugin!(list_departments, search_collection, get_object, download_image, make_contact_sheet, build_gallery);
