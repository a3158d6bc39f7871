//! The macros of `plugin-api`; use them through that crate.
//!
//! They expand to almost nothing: a name, a list of parameters and one call. What a tool does with
//! its arguments is decided in `plugin_api::dispatch`, where it can be read and tested.

mod choice;
mod documentation;
mod expand;
mod signature;

use proc_macro::TokenStream;
use syn::parse_macro_input;

/// Makes a function a tool.
///
/// - Its doc comment is the description a model reads. It must say what the tool returns: a script
///   is written from that sentence.
/// - A parameter has a doc comment too, `/** … */` or `///`. `#[default(100)]` is its value when the
///   caller leaves it out, `#[range(1..=500)]` what is accepted; both stand in the schema.
/// - Its type is an integer, a float, `bool`, `String`, a `Vec` or an `Option` of these, an enum with
///   `#[derive(ToolArgument)]`, or `RawJson` for anything at all.
/// - The first parameter may be `host: &Host`.
/// - It returns a `ToolResult` of anything that serialises.
///
/// The function stays what it is and can be called by other functions.
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let function = parse_macro_input!(item as syn::ItemFn);
    expand::tool(attribute.into(), function).into()
}

/// Makes an enum without fields an argument type: its variants, in snake case, are what a model may say.
#[proc_macro_derive(ToolArgument)]
pub fn tool_argument(item: TokenStream) -> TokenStream {
    let input = parse_macro_input!(item as syn::DeriveInput);
    choice::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
