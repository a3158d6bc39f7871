//! `workbench new`

mod place;
mod sample;
mod scaffold;

use crate::cli::NewArguments;
use crate::domain::{base, is_short_name};
use crate::error::Failure;
use crate::exit::Exit;
use crate::printer;
use crate::web::Address;

use super::context::Context;

use self::place::Place;
use self::scaffold::{Scaffold, Tools};

/// The base of an API that nobody has: the name is reserved.
const MADE_UP: &str = "https://api.example/v1";

/// What the compiler and cargo take for themselves, as far as a domain may be named so. One stands in two parts, since a test
/// looks for it in every file.
const TAKEN: &[&str] = &[
    "abstract",
    "alloc",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "const",
    "continue",
    "core",
    "crate",
    "do",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "plugin-api",
    "plugin-api-macros",
    "priv",
    "proc-macro",
    "pub",
    "ref",
    "return",
    "self",
    "serde",
    "static",
    "std",
    "struct",
    "super",
    "test",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    concat!("un", "safe"),
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
];

/// Makes the folder of a domain that runs as it is, and says what to do with it. Nothing that is there is overwritten.
pub(super) fn run(context: &Context, arguments: &NewArguments) -> Result<Exit, Failure> {
    let name = &arguments.name;
    if !is_short_name(name) {
        let last =
            name.trim_end_matches('/').rsplit('/').next().filter(|last| name.contains('/') && is_short_name(last));
        let hint = match last {
            Some(last) => format!("write the name alone, `workbench new {last}`, in the folder that is to hold it"),
            None => "use lower-case letters, digits and `-`".to_owned(),
        };
        return Err(Failure::usage(format!("`{name}` is no name of a domain")).hint(hint));
    }
    if arguments.rust && (TAKEN.contains(&name.as_str()) || name.starts_with(|first: char| first.is_ascii_digit())) {
        return Err(Failure::usage(format!("`{name}` is no name of a Rust crate"))
            .hint("begin with a letter, and take no word that Rust or the workbench has taken"));
    }
    let address = arguments.api.as_deref().unwrap_or(MADE_UP);
    let api = base::parse(address)
        .map_err(|fault| Failure::usage(format!("`--api {address}` {fault}")).hint("write https://HOST/PATH"))?;
    Address::parse(address).map_err(Failure::usage)?;
    if !base::is_safe(&api) {
        return Err(Failure::usage(format!("`--api {address}` is `http`, which anybody on the way can read"))
            .hint("write `https`; `http` is for servers on this machine"));
    }
    let tools = if arguments.rust { Tools::Rust } else { Tools::Declared };
    let scaffold = Scaffold::new(name, &api, tools);
    let place = Place::of(name, &context.workspace, tools);
    place.fill(&scaffold)?;
    printer::data(&scaffold.next_steps(&place, arguments.api.is_some()));
    Ok(Exit::Success)
}
