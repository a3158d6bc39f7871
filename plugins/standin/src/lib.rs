//! Tools with fixed answers, for tests of sandboxes and modes. None of them needs a host.
#![forbid(unsafe_code)]

mod collection;
mod plain;

use collection::{download_image, get_object, search_collection};
use plain::{noop, query_database, save_file};
use plugin_api::plugin;

plugin!(search_collection, get_object, download_image, query_database, save_file, noop);
