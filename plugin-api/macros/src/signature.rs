//! The signature of a tool: what of it the macro understands, and what to write instead of the rest.

use syn::{Attribute, Error, FnArg, ItemFn, Pat, PatType, Result, ReturnType, Type};

use crate::attributes::{self, Attributes};
use crate::documentation;
use crate::types::{Kind, is_host, kind_of, last_name, refuse_unsayable};

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
    pub(crate) attributes: Attributes,
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
    let takes_host = takes_host(function)?;
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
/// function even when the signature is refused; those of the compiler stay.
fn take_attributes(function: &mut ItemFn) -> Vec<Vec<Attribute>> {
    let ours = |attribute: &Attribute| !attributes::is_of_the_compiler(attribute);
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

fn takes_host(function: &ItemFn) -> Result<bool> {
    match function.sig.inputs.first() {
        Some(FnArg::Typed(first)) if is_host(&first.ty) => match &*first.ty {
            Type::Reference(host) if host.mutability.is_some() => {
                Err(Error::new_spanned(host, "many calls use the host at once: remove `mut`"))
            }
            _ => Ok(true),
        },
        _ => Ok(false),
    }
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
    let name = name_of(input)?;
    refuse_unsayable(&input.ty)?;
    Ok(Parameter {
        name,
        description: documentation::text(attributes),
        kind: (*input.ty).clone(),
        attributes: attributes::read(attributes, &input.ty)?,
    })
}

/// A script may pass arguments by position, as Python does, where what must be given comes first.
fn check_order(parameters: &[Parameter]) -> Result<()> {
    let may_be_left_out =
        |parameter: &&Parameter| parameter.attributes.default.is_some() || kind_of(&parameter.kind) == Kind::Option;
    let mut behind = parameters.iter().skip_while(|parameter| !may_be_left_out(parameter));
    match behind.find(|parameter| !may_be_left_out(parameter)) {
        Some(late) => {
            Err(Error::new_spanned(&late.kind, "what must be given comes first: move this before what may be left out"))
        }
        None => Ok(()),
    }
}

fn name_of(input: &PatType) -> Result<String> {
    match &*input.pat {
        Pat::Ident(name) if name.subpat.is_none() && name.by_ref.is_none() => {
            Ok(name.ident.to_string().trim_start_matches("r#").to_owned())
        }
        pattern => Err(Error::new_spanned(pattern, "a model passes arguments by name: write a name here")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::read;

    #[test]
    fn attributes_of_ours_leave_the_function() {
        let source = "/// Docs.\nfn f(host: &Host, /** An id. */ #[default(1)] #[cfg(x)] id: u8) -> ToolResult<u8> {}";
        let mut function = syn::parse_str(source).unwrap();
        let signature = read(&mut function).unwrap();
        assert!(signature.takes_host);
        assert_eq!(signature.description, "Docs.");
        let parameter = &signature.parameters[0];
        assert_eq!((parameter.name.as_str(), parameter.description.as_str()), ("id", "An id."));
        assert!(parameter.attributes.default.is_some());
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
