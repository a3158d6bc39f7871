//! The list in `plugin!`: which tools a plugin has.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Error, Expr, Path, Result, Token};

/// The table of tools and the symbols of a plugin.
pub(crate) fn plugin(tools: TokenStream) -> Result<TokenStream> {
    let entries = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tools)?;
    let mut named: Vec<Path> = Vec::new();
    for entry in entries {
        let Expr::Path(tool) = entry else {
            return Err(Error::new_spanned(entry, "name the tool's function alone, as in `plugin!(get_object)`"));
        };
        let words = tool.path.to_token_stream().to_string();
        if named.iter().any(|other| other.to_token_stream().to_string() == words) {
            return Err(Error::new_spanned(tool, "this tool stands in the list already: remove one of the two"));
        }
        named.push(tool.path);
    }
    if named.is_empty() {
        return Err(Error::new(Span::call_site(), "a plugin has tools: name one, as in `plugin!(get_object)`"));
    }
    let entries = named.iter().map(entry);
    Ok(quote!(::plugin_api::export_tools!(#(#entries),*);))
}

/// The entry of one tool. `#[tool]` puts a type of the function's name beside it; where that lacks, the type of the same
/// name in `lacking` takes its place, since an import by name goes before one by `*`: it is no tool, and the compiler says
/// so in words that name the way on.
fn entry(tool: &Path) -> Option<TokenStream> {
    let name = &tool.segments.last()?.ident;
    // Without a path, the import would mean itself.
    let import = if tool.get_ident().is_some() { quote!(self::#tool) } else { quote!(#tool) };
    Some(quote!({
        #[allow(missing_docs, non_camel_case_types, unreachable_pub)]
        mod lacking {
            pub struct #name;
        }
        #[allow(unused_imports)]
        use lacking::*;
        use #import;
        ::plugin_api::dispatch::ToolEntry::of::<#name>()
    }))
}
