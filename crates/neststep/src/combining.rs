//! The list of `combine ( … )` behind a step.

use crate::{
    forms::is_whole,
    names::{Strategy, element},
};
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Error, Expr};

/// One entry of a `combine` list.
#[derive(Clone, Debug)]
pub(crate) struct Combine {
    pub(crate) name: Ident,
    pub(crate) strategy: Strategy,
}

/// Reads a `combine` list: `a<=>, b<+ : k>, size[..]<+ : pre[..]>`.
pub(crate) fn combines(tokens: TokenStream) -> syn::Result<Vec<Combine>> {
    let mut list = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let TokenTree::Ident(name) = token else {
            return Err(Error::new(token.span(), "a list of `variable<operator>` or `variable<operator : target>`"));
        };
        if matches!(tokens.peek(), Some(TokenTree::Group(_))) {
            tokens.next();
        }
        match tokens.next() {
            Some(TokenTree::Punct(mark)) if mark.as_char() == '<' => {}
            _ => return Err(Error::new(name.span(), "say how it combines: `<+>`, `<?>`, `<+ : target>`")),
        }
        let mut inner = Vec::new();
        loop {
            match tokens.next() {
                Some(TokenTree::Punct(mark)) if mark.as_char() == '>' => break,
                Some(token) => inner.push(token),
                None => return Err(Error::new(name.span(), "its `<` is never closed by `>`")),
            }
        }
        let mut strategy = Strategy::parse(inner.into_iter().collect());
        if let Some(target) = &strategy.prefix
            && let Ok(place) = syn::parse2::<Expr>(target.clone())
            && let Some((whole, at)) = element(&place)
            && matches!(at[..], [at] if is_whole(at))
        {
            // `pre[..]` is all of `pre`.
            strategy.prefix = Some(whole.to_token_stream());
        }
        list.push(Combine { name, strategy });
        match tokens.next() {
            Some(TokenTree::Punct(mark)) if mark.as_char() == ',' => {}
            None => break,
            Some(other) => return Err(Error::new(other.span(), "a comma comes between two of the list")),
        }
    }
    Ok(list)
}
