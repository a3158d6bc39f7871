//! The signature of a tool: what of it the macro understands, and what to write instead of the rest.

use syn::{Attribute, Error, Expr, FnArg, ItemFn, Lit, Pat, PatType, RangeLimits, Result, ReturnType, Type};

use crate::documentation;

/// A function that can be a tool.
pub(crate) struct Signature {
    /// What the model reads.
    pub(crate) description: String,
    /// Whether the function asks for the host.
    pub(crate) takes_host: bool,
    /// The arguments a model gives, in order.
    pub(crate) parameters: Vec<Parameter>,
}

/// One argument a model gives.
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) kind: Type,
    pub(crate) default: Option<Expr>,
    pub(crate) minimum: Option<Expr>,
    pub(crate) maximum: Option<Expr>,
}

/// Reads a signature, and takes off the attributes that only this macro understands.
pub(crate) fn read(function: &mut ItemFn) -> Result<Signature> {
    let attributes = take_attributes(function);
    refuse_qualifiers(function)?;
    check_answer(function)?;
    let description = documentation::text(&function.attrs);
    if description.is_empty() {
        let message = "a model chooses tools by their description: write a doc comment that says what this one returns";
        return Err(Error::new(function.sig.ident.span(), message));
    }
    let takes_host = matches!(function.sig.inputs.first(), Some(FnArg::Typed(first)) if is_host(&first.ty));
    let parameters = function
        .sig
        .inputs
        .iter()
        .zip(attributes)
        .skip(usize::from(takes_host))
        .map(|(input, attributes)| parameter(input, &attributes))
        .collect::<Result<Vec<_>>>()?;
    check_order(&parameters)?;
    Ok(Signature { description, takes_host, parameters })
}

/// The compiler accepts neither doc comments nor our attributes on a parameter, so they leave the
/// function even when the signature is refused; all others stay.
fn take_attributes(function: &mut ItemFn) -> Vec<Vec<Attribute>> {
    let ours = |attribute: &Attribute| ["doc", "default", "range"].iter().any(|name| attribute.path().is_ident(name));
    let inputs = function.sig.inputs.iter_mut();
    inputs
        .map(|input| {
            let attributes = match input {
                FnArg::Receiver(receiver) => &mut receiver.attrs,
                FnArg::Typed(typed) => &mut typed.attrs,
            };
            let (taken, left) = std::mem::take(attributes).into_iter().partition(ours);
            *attributes = left;
            taken
        })
        .collect()
}

fn refuse_qualifiers(function: &ItemFn) -> Result<()> {
    let signature = &function.sig;
    if let Some(word) = &signature.asyncness {
        return Err(Error::new_spanned(word, "a tool may block, it runs on a thread of its own: remove `async`"));
    }
    if let Some(word) = &signature.unsafety {
        return Err(Error::new_spanned(word, "a tool is called with whatever a model says: make it a safe function"));
    }
    if let Some(abi) = &signature.abi {
        return Err(Error::new_spanned(abi, "`plugin!` exports the tools of a plugin: remove `extern`"));
    }
    if !signature.generics.params.is_empty() {
        return Err(Error::new_spanned(
            &signature.generics,
            "a model cannot choose types: replace the generics by types",
        ));
    }
    Ok(())
}

fn check_answer(function: &ItemFn) -> Result<()> {
    let ReturnType::Type(_, answer) = &function.sig.output else {
        let message = "a tool answers or refuses: write `-> ToolResult<…>` behind the parameters";
        return Err(Error::new(function.sig.ident.span(), message));
    };
    if last_name(answer).is_some_and(|name| name == "ToolResult" || name == "Result") {
        return Ok(());
    }
    Err(Error::new_spanned(answer, "a tool must be able to refuse: wrap this type, as in `ToolResult<…>`"))
}

fn parameter(input: &FnArg, attributes: &[Attribute]) -> Result<Parameter> {
    let input = match input {
        FnArg::Typed(input) => input,
        FnArg::Receiver(receiver) => {
            return Err(Error::new_spanned(receiver, "a tool is a free function: remove `self`"));
        }
    };
    refuse_borrowed(&input.ty)?;
    let mut parameter = Parameter {
        name: name_of(input)?,
        description: documentation::text(attributes),
        kind: (*input.ty).clone(),
        default: None,
        minimum: None,
        maximum: None,
    };
    for attribute in attributes {
        if attribute.path().is_ident("default") {
            parameter.default = Some(attribute.parse_args().map_err(|_| {
                Error::new_spanned(attribute, "name the value a missing argument has, as in `#[default(100)]`")
            })?);
        } else if attribute.path().is_ident("range") {
            (parameter.minimum, parameter.maximum) = range(attribute)?;
        }
    }
    Ok(parameter)
}

/// A script may pass arguments by position, as Python does, where what must be given comes first.
fn check_order(parameters: &[Parameter]) -> Result<()> {
    let may_be_left_out = |parameter: &&Parameter| parameter.default.is_some() || is_option(&parameter.kind);
    let mut behind = parameters.iter().skip_while(|parameter| !may_be_left_out(parameter));
    match behind.find(|parameter| !may_be_left_out(parameter)) {
        Some(late) => {
            Err(Error::new_spanned(&late.kind, "what must be given comes first: move this before what may be left out"))
        }
        None => Ok(()),
    }
}

fn is_option(kind: &Type) -> bool {
    last_name(kind).is_some_and(|name| name == "Option")
}

fn name_of(input: &PatType) -> Result<String> {
    match &*input.pat {
        Pat::Ident(name) if name.subpat.is_none() && name.by_ref.is_none() => {
            Ok(name.ident.to_string().trim_start_matches("r#").to_owned())
        }
        pattern => Err(Error::new_spanned(pattern, "a model passes arguments by name: write a name here")),
    }
}

fn refuse_borrowed(kind: &Type) -> Result<()> {
    let Type::Reference(reference) = kind else { return Ok(()) };
    let message = match &*reference.elem {
        _ if is_host(kind) => "the host comes before the arguments: make this the first parameter".to_owned(),
        Type::Path(path) if path.path.is_ident("str") => "arguments are owned: write `String`".to_owned(),
        Type::Slice(_) => "arguments are owned: write `Vec<…>`".to_owned(),
        _ => "arguments are owned: remove the `&`".to_owned(),
    };
    Err(Error::new_spanned(kind, message))
}

fn range(attribute: &Attribute) -> Result<(Option<Expr>, Option<Expr>)> {
    let usage = "name the first and the last value, as in `#[range(1..=500)]`";
    let Ok(Expr::Range(range)) = attribute.parse_args::<Expr>() else {
        return Err(Error::new_spanned(attribute, usage));
    };
    match (&range.limits, &range.end) {
        (RangeLimits::HalfOpen(dots), Some(_)) => {
            Err(Error::new_spanned(dots, "both ends of a range belong to it: write `..=` before the last value"))
        }
        (_, None) if range.start.is_none() => Err(Error::new_spanned(attribute, usage)),
        _ => Ok((range.start.map(|start| *start), range.end.map(|end| *end))),
    }
}

fn is_host(kind: &Type) -> bool {
    matches!(kind, Type::Reference(reference) if last_name(&reference.elem).is_some_and(|name| name == "Host"))
}

fn last_name(kind: &Type) -> Option<String> {
    let Type::Path(path) = kind else { return None };
    path.path.segments.last().map(|segment| segment.ident.to_string())
}

/// Whether an expression is a string literal, which stands for a `String`.
pub(crate) fn is_text(expression: &Expr) -> bool {
    matches!(expression, Expr::Lit(literal) if matches!(literal.lit, Lit::Str(_)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::read;

    /// A refused function, and the words that name what to write instead.
    const REFUSED: &[(&str, &str)] = &[
        ("fn f() -> ToolResult<u8> {}", "write a doc comment"),
        ("/// Docs.\nasync fn f() -> ToolResult<u8> {}", "remove `async`"),
        ("/// Docs.\nunsafe fn f() -> ToolResult<u8> {}", "make it a safe function"),
        ("/// Docs.\nextern \"C\" fn f() -> ToolResult<u8> {}", "remove `extern`"),
        ("/// Docs.\nfn f<T>(x: T) -> ToolResult<u8> {}", "replace the generics by types"),
        ("/// Docs.\nfn f(&self) -> ToolResult<u8> {}", "remove `self`"),
        ("/// Docs.\nfn f() {}", "write `-> ToolResult<…>`"),
        ("/// Docs.\nfn f() -> u8 {}", "wrap this type"),
        ("/// Docs.\nfn f((a, b): (u8, u8)) -> ToolResult<u8> {}", "write a name here"),
        ("/// Docs.\nfn f(x: &str) -> ToolResult<u8> {}", "write `String`"),
        ("/// Docs.\nfn f(x: &[u8]) -> ToolResult<u8> {}", "write `Vec<…>`"),
        ("/// Docs.\nfn f(x: &u8) -> ToolResult<u8> {}", "remove the `&`"),
        ("/// Docs.\nfn f(x: u8, host: &Host) -> ToolResult<u8> {}", "make this the first parameter"),
        ("/// Docs.\nfn f(#[range(1..5)] x: u8) -> ToolResult<u8> {}", "write `..=`"),
        ("/// Docs.\nfn f(#[range(5)] x: u8) -> ToolResult<u8> {}", "`#[range(1..=500)]`"),
        ("/// Docs.\nfn f(#[range(..)] x: u8) -> ToolResult<u8> {}", "`#[range(1..=500)]`"),
        ("/// Docs.\nfn f(#[default(1)] x: u8, y: u8) -> ToolResult<u8> {}", "move this before"),
        ("/// Docs.\nfn f(x: Option<u8>, y: u8) -> ToolResult<u8> {}", "move this before"),
        ("/// Docs.\nfn f(#[default] x: u8) -> ToolResult<u8> {}", "`#[default(100)]`"),
    ];

    #[test]
    fn a_refusal_names_one_way_on() {
        for (source, expected) in REFUSED {
            let mut function = syn::parse_str(source).unwrap();
            let Err(error) = read(&mut function) else { panic!("accepted: {source}") };
            assert!(error.to_string().contains(expected), "{source}: {error}");
        }
    }

    #[test]
    fn attributes_of_ours_leave_the_function() {
        let source = "/// Docs.\nfn f(host: &Host, /** An id. */ #[default(1)] #[cfg(x)] id: u8) -> ToolResult<u8> {}";
        let mut function = syn::parse_str(source).unwrap();
        let signature = read(&mut function).unwrap();
        assert!(signature.takes_host);
        assert_eq!(signature.description, "Docs.");
        let parameter = &signature.parameters[0];
        assert_eq!((parameter.name.as_str(), parameter.description.as_str()), ("id", "An id."));
        assert!(parameter.default.is_some());
        let syn::FnArg::Typed(left) = &function.sig.inputs[1] else { panic!("not a parameter") };
        assert_eq!(left.attrs.len(), 1);
    }

    #[test]
    fn a_description_reads_as_markdown_does() {
        let source = "/// One\n/// sentence.\n///\n/// - item\n///   goes on\n/// - item\nfn f() -> ToolResult<u8> {}";
        let description = read(&mut syn::parse_str(source).unwrap()).unwrap().description;
        assert_eq!(description, "One sentence.\n\n- item goes on\n- item");
        let source = "/** One\n * sentence. */\nfn f() -> ToolResult<u8> {}";
        assert_eq!(read(&mut syn::parse_str(source).unwrap()).unwrap().description, "One sentence.");
    }
}
