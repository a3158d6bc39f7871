//! `#[derive(ToolArgument)]`: an enum whose variants are words a model may say.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Result};

/// The implementation of `ToolArgument` for an enum without fields.
pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let name = &input.ident;
    let Data::Enum(data) = &input.data else {
        return Err(Error::new(name.span(), "only an enum can be chosen from: make this an enum of the words meant"));
    };
    if !input.generics.params.is_empty() {
        return Err(Error::new(name.span(), "a model cannot choose types: remove the generics"));
    }
    if data.variants.is_empty() {
        return Err(Error::new(name.span(), "a choice needs something to choose: add a variant"));
    }
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            return Err(Error::new(variant.ident.span(), "a choice is one word: remove the fields of this variant"));
        }
    }
    let variants: Vec<_> = data.variants.iter().map(|variant| &variant.ident).collect();
    let words: Vec<_> = variants.iter().map(|variant| snake_case(&variant.to_string())).collect();
    Ok(quote! {
        impl ::plugin_api::ToolArgument for #name {
            fn schema() -> ::plugin_api::dispatch::Schema {
                ::plugin_api::dispatch::choice_schema(&[#(#words),*])
            }

            fn decode(
                place: &str,
                json: &::plugin_api::dispatch::RawValue,
            ) -> ::std::result::Result<Self, ::std::string::String> {
                ::plugin_api::dispatch::choice(place, json, [#((#words, Self::#variants)),*])
            }

            fn encode(&self) -> ::plugin_api::dispatch::Value {
                ::plugin_api::dispatch::Value::from(match self {
                    #(Self::#variants => #words,)*
                })
            }
        }
    })
}

fn snake_case(name: &str) -> String {
    let mut word = String::new();
    for letter in name.trim_start_matches("r#").chars() {
        if letter.is_uppercase() && !word.is_empty() {
            word.push('_');
        }
        word.extend(letter.to_lowercase());
    }
    word
}
