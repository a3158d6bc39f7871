//! The code `#[tool]` writes beside a function.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, FnArg, ItemFn, ReturnType};

use crate::attributes::{Attributes, is_text};
use crate::signature::{self, Parameter, Signature};

/// The function itself and its entry in the table of tools.
///
/// A refused signature still gets an entry, so that the one error is not followed by a second one
/// where `plugin!` names the tool. A method gets none, since a type cannot stand beside it.
pub(crate) fn tool(attribute: TokenStream, mut function: ItemFn) -> TokenStream {
    let signature = signature::read(&mut function);
    let unexpected = (!attribute.is_empty())
        .then(|| Error::new_spanned(&attribute, "`#[tool]` takes nothing: describe the tool in its doc comment"));
    let entry = match (signature, unexpected) {
        (Ok(signature), None) => entry(&function, &signature),
        (Err(error), _) | (_, Some(error)) => {
            let stub = entry_of(&function, "", &quote!(), &quote!(::std::result::Result::Err("".into())));
            let error = error.into_compile_error();
            if matches!(function.sig.inputs.first(), Some(FnArg::Receiver(_))) {
                return error;
            }
            quote!(#error #stub)
        }
    };
    quote!(#function #entry)
}

fn entry(function: &ItemFn, signature: &Signature) -> TokenStream {
    let name = &function.sig.ident;
    let host = quote!(host);
    let taken = signature.takes_host.then(|| quote!(#host,));
    let parameters = signature.parameters.iter().map(parameter);
    let values = signature.parameters.iter().map(|parameter| {
        let (name, kind) = (&parameter.name, &parameter.kind);
        quote_spanned!(kind.span()=> arguments.get::<#kind>(#name)?)
    });
    // Where the compiler points when the answer is none.
    let span = match &function.sig.output {
        ReturnType::Type(_, answer) => answer.span(),
        ReturnType::Default => name.span(),
    };
    let call = Ident::new(&name.to_string(), name.span().located_at(span));
    let answer = quote_spanned!(span=> ::plugin_api::dispatch::answer(#host, #call(#taken #(#values),*)));
    entry_of(function, &signature.description, &quote!(#(#parameters),*), &answer)
}

/// A type with the function's own name: types and functions do not clash, so `plugin!` takes the
/// path an author would write to call the function.
fn entry_of(function: &ItemFn, description: &str, parameters: &TokenStream, answer: &TokenStream) -> TokenStream {
    let (name, visibility) = (&function.sig.ident, &function.vis);
    let tool_name = name.to_string();
    quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        #visibility struct #name {}

        impl ::plugin_api::dispatch::Tool for #name {
            const NAME: &'static str = #tool_name;
            const DESCRIPTION: &'static str = #description;

            fn parameters() -> ::std::vec::Vec<::plugin_api::dispatch::Parameter> {
                ::std::vec![#parameters]
            }

            #[allow(unused_variables)]
            fn call(
                host: &::plugin_api::Host,
                arguments: &::plugin_api::dispatch::Arguments<'_>,
            ) -> ::plugin_api::ToolResult<::std::vec::Vec<u8>> {
                #answer
            }
        }
    }
}

fn parameter(parameter: &Parameter) -> TokenStream {
    let Parameter { name, description, kind, attributes: Attributes { default, minimum, maximum } } = parameter;
    let range = (minimum.is_some() || maximum.is_some()).then(|| {
        let [least, greatest] = [minimum, maximum].map(|end| match end {
            Some(end) => quote_spanned!(end.span()=> ::std::option::Option::Some(#end)),
            None => quote!(::std::option::Option::None),
        });
        quote_spanned!(kind.span()=> .within::<#kind>(#least, #greatest))
    });
    let default = default.iter().map(|value| {
        let owned = if is_text(value) {
            quote_spanned!(value.span()=> ::std::string::String::from(#value))
        } else {
            quote!(#value)
        };
        quote_spanned!(value.span()=> .default::<#kind>(#owned))
    });
    quote_spanned! {kind.span()=>
        ::plugin_api::dispatch::Parameter::of::<#kind>(#name, #description) #range #(#default)*
    }
}
