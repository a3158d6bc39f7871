//! The types of a signature, by how they are written: what a model can say, and what to write instead of the rest.

use syn::{Error, GenericArgument, PathArguments, Result, Type, TypeReference};

/// What a type is, as far as its name tells.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Integer,
    Float,
    Text,
    Bool,
    List,
    Option,
    /// A choice, `RawJson`, a name of the author's own.
    Other,
}

/// What a type is.
pub(crate) fn kind_of(kind: &Type) -> Kind {
    match last_name(kind).as_deref() {
        Some("u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" | "isize") => Kind::Integer,
        Some("f32" | "f64") => Kind::Float,
        Some("String") => Kind::Text,
        Some("bool") => Kind::Bool,
        Some("Vec") => Kind::List,
        Some("Option") => Kind::Option,
        _ => Kind::Other,
    }
}

/// The type in angle brackets: `u8` of `Option<u8>`.
pub(crate) fn inside(kind: &Type) -> Option<&Type> {
    arguments(kind).next()
}

/// Refuses what surely is no argument. A name that is not known here may be a choice of the author's.
pub(crate) fn refuse_unsayable(kind: &Type) -> Result<()> {
    let message = match kind {
        Type::Reference(reference) => instead_of_borrowed(reference),
        Type::ImplTrait(_) | Type::TraitObject(_) => "a model cannot choose types: write one type here",
        Type::Tuple(_) => "a model passes arguments by name: make each part an argument of its own",
        Type::Array(_) | Type::Slice(_) => "a list has any length: write `Vec<…>`",
        Type::Path(_) => match last_name(kind).as_deref() {
            Some("Host") => "the host is lent: write `&Host`, as the first parameter",
            Some("u128") => "JSON numbers end earlier: write `u64`",
            Some("i128") => "JSON numbers end earlier: write `i64`",
            Some("char" | "str") => "a text has any length: write `String`",
            _ => return arguments(kind).try_for_each(refuse_unsayable),
        },
        _ => return Ok(()),
    };
    Err(Error::new_spanned(kind, message))
}

fn instead_of_borrowed(reference: &TypeReference) -> &'static str {
    match &*reference.elem {
        inner if last_name(inner).is_some_and(|name| name == "Host") => {
            "the host comes before the arguments: make this the first parameter"
        }
        Type::Path(path) if path.path.is_ident("str") => "arguments are owned: write `String`",
        Type::Slice(_) => "arguments are owned: write `Vec<…>`",
        _ => "arguments are owned: remove the `&`",
    }
}

/// Whether this is how a tool asks for its host.
pub(crate) fn is_host(kind: &Type) -> bool {
    matches!(kind, Type::Reference(reference) if last_name(&reference.elem).is_some_and(|name| name == "Host"))
}

/// The name of a type without its path.
pub(crate) fn last_name(kind: &Type) -> Option<String> {
    let Type::Path(path) = kind else { return None };
    path.path.segments.last().map(|segment| segment.ident.to_string())
}

fn arguments(kind: &Type) -> impl Iterator<Item = &Type> {
    let last = match kind {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    };
    let arguments = last.and_then(|segment| match &segment.arguments {
        PathArguments::AngleBracketed(arguments) => Some(arguments.args.iter()),
        _ => None,
    });
    arguments.into_iter().flatten().filter_map(|argument| match argument {
        GenericArgument::Type(kind) => Some(kind),
        _ => None,
    })
}
