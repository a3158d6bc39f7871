//! The macros of `plugin-api`; use them through that crate.
//!
//! They expand to almost nothing: a name, a list of parameters and one call. What a tool does with
//! its arguments is decided in `plugin_api::dispatch`, where it can be read and tested.

mod attributes;
mod choice;
mod documentation;
mod expand;
mod list;
mod signature;
mod types;

use proc_macro::TokenStream;
use proc_macro2::Span;
use syn::parse_macro_input;

/// Makes a function a tool.
///
/// - Its doc comment is the description a model reads. It must say what the tool returns: a script
///   is written from that sentence.
/// - A parameter has a doc comment too, `/** … */` or `///`. `#[default(100)]` is its value when the
///   caller leaves it out, `#[range(1..=500)]` what is accepted; both stand in the schema.
/// - Its type is an integer of up to 64 bits, a float, `bool`, `String`, a `Vec` or an `Option` of these, an enum with
///   `#[derive(ToolArgument)]`, or `RawJson` for anything at all. It is owned: no `&str`, no slice, no array or tuple.
/// - A default and the ends of a range are of the parameter's type, the smaller end comes first, the default lies within.
///   Only numbers have a range; an `Option` has no default.
/// - What may be left out comes last.
/// - The first parameter may be `host: &Host`.
/// - It returns a `ToolResult` of anything that serialises. Another `Result` will do when its error is a text.
/// - It is a plain function: not `async`, `unsafe`, `extern` or generic, and no method.
///
/// Each of these is a compile error of its own that says what to write instead.
///
/// The function stays what it is and can be called by other functions.
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    match syn::parse(item.clone()) {
        Ok(function) => expand::tool(attribute.into(), function).into(),
        Err(error) => {
            // A function that does not parse is the compiler's to explain.
            let message = "only a function can be a tool: write `#[tool]` above one";
            let is_function = item.into_iter().any(|token| token.to_string() == "fn");
            let error = if is_function { error } else { syn::Error::new(Span::call_site(), message) };
            error.into_compile_error().into()
        }
    }
}

/// Exports the named tools as this library's plugin.
///
/// One of these stands in the root of a plugin. It defines the three symbols of the boundary and a constant `PLUGIN`,
/// through which a `FakeHost` calls the tools. Each tool is named once, as its function is called: `search::find`.
///
/// It works under `#![forbid(unsafe_code)]`: the compiler holds a crate's own text to that, not what
/// a macro of another crate expands to.
#[proc_macro]
pub fn plugin(tools: TokenStream) -> TokenStream {
    list::plugin(tools.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes an enum without fields an argument type: its variants, in snake case, are what a model may say.
#[proc_macro_derive(ToolArgument)]
pub fn tool_argument(item: TokenStream) -> TokenStream {
    let input = parse_macro_input!(item as syn::DeriveInput);
    choice::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
