//! The derive of superstep's elements; programs use it as `superstep::Element`.

#![forbid(unsafe_code)]

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Attribute, Data, DeriveInput, Error, Result, parse_macro_input, spanned::Spanned};

/// Makes a struct an element of arrays and areas, and a value that can be broadcast, sent and combined.
///
/// It is `Copy` and `Clone` then, and serde can read and write it.
///
/// ```text
/// #[derive(Element)]
/// #[repr(C)]
/// struct Point { x: f64, y: f64 }
/// ```
#[proc_macro_derive(Element)]
pub fn element(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    derive(&input).unwrap_or_else(Error::into_compile_error).into()
}

fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let name = &input.ident;
    let Data::Struct(data) = &input.data else {
        return Err(Error::new(
            name.span(),
            "only a struct can be an element: any pattern of bytes must be a value of it",
        ));
    };
    if !input.generics.params.is_empty() {
        return Err(Error::new(input.generics.span(), "an element has no parameters: all of it must be known here"));
    }
    if !has_fixed_layout(&input.attrs)? {
        return Err(Error::new(
            name.span(),
            "an element needs `#[repr(C)]`, so that it lies in memory as it is written",
        ));
    }
    let types: Vec<_> = data.fields.iter().map(|field| &field.ty).collect();
    let checks = types.iter().map(|of| quote_spanned!(of.span()=> ::superstep::derived::is_element::<#of>();));
    let padded =
        format!("`{name}` has unused bytes between or after its fields: reorder them, or add fields that fill them");
    Ok(quote! {
        // In an `impl`, because the type of a field may name `Self`.
        impl ::superstep::derived::Filled for #name {
            const IS_FILLED: bool = {
                #(#checks)*
                ::core::mem::size_of::<Self>() == 0 #(+ ::core::mem::size_of::<#types>())*
            };
        }
        const _: () = ::core::assert!(<#name as ::superstep::derived::Filled>::IS_FILLED, #padded);

        #[automatically_derived]
        impl ::core::clone::Clone for #name {
            #[inline]
            fn clone(&self) -> Self {
                *self
            }
        }
        #[automatically_derived]
        impl ::core::marker::Copy for #name {}

        // SAFETY: all fields are elements, of which zeros are a value.
        unsafe impl ::superstep::derived::Zeroable for #name {}
        // SAFETY: its layout is fixed, and the lines above show that all fields are elements and fill all of it.
        unsafe impl ::superstep::derived::Pod for #name {}

        impl ::superstep::derived::Serialize for #name {
            fn serialize<S: ::superstep::derived::Serializer>(
                &self,
                to: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                ::superstep::derived::write(self, to)
            }
        }
        impl<'de> ::superstep::derived::Deserialize<'de> for #name {
            fn deserialize<D: ::superstep::derived::Deserializer<'de>>(
                from: D,
            ) -> ::core::result::Result<Self, D::Error> {
                ::superstep::derived::read(from)
            }
        }
    })
}

/// Whether the layout is C's, or that of the only field.
fn has_fixed_layout(attributes: &[Attribute]) -> Result<bool> {
    let mut is_fixed = false;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            is_fixed |= meta.path.is_ident("C") || meta.path.is_ident("transparent");
            // What is in brackets, such as an alignment, is the compiler's business.
            if meta.input.peek(syn::token::Paren) {
                let content;
                syn::parenthesized!(content in meta.input);
                content.parse::<TokenStream>()?;
            }
            Ok(())
        })?;
    }
    Ok(is_fixed)
}
