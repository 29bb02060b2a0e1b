//! The requests of an inspector, as tokens.

use crate::forms::collect_words;
use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use std::collections::BTreeSet;
use syn::{Expr, Macro, Token, parse::Parser, punctuated::Punctuated};

/// What an inspector asks for: an element, one in each round of a loop, one in each that the step is sure to read then,
/// or a section.
pub(crate) const WANTS: [&str; 4] = ["__want", "__want_each", "__want_steadily", "__want_section"];

/// All words of an inspector, without the arrays whose elements it asks for.
pub(crate) fn looks(code: TokenStream, found: &mut BTreeSet<String>) {
    let mut is_request = false;
    for token in code {
        match token {
            TokenTree::Ident(word) => {
                is_request = WANTS.iter().any(|want| word == want);
                found.insert(word.to_string());
            }
            TokenTree::Group(group) if is_request => {
                let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ',');
                // The list, the array, and then where.
                let mut commas = 0;
                let place = group.stream().into_iter().filter(|token| {
                    commas += usize::from(is_comma(token));
                    commas >= 2
                });
                looks(place.collect(), found);
                is_request = false;
            }
            TokenTree::Group(group) => looks(group.stream(), found),
            _ => {}
        }
    }
}

/// The arguments of a request, if a macro is one.
pub(crate) fn arguments(mac: &Macro) -> Option<Vec<Expr>> {
    WANTS.iter().find(|want| mac.path.is_ident(want))?;
    let arguments = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(mac.tokens.clone()).ok()?;
    Some(arguments.into_iter().collect())
}

/// The list, the array and the place, if all that a loop does is to ask for one element.
pub(crate) fn only_want(body: &TokenStream) -> Option<[TokenStream; 3]> {
    let tokens: Vec<TokenTree> = body.clone().into_iter().collect();
    let [TokenTree::Ident(want), TokenTree::Punct(_), TokenTree::Group(parts), TokenTree::Punct(_)] = &tokens[..]
    else {
        return None;
    };
    let parts = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(parts.stream()).ok()?;
    let parts: Vec<Expr> = parts.into_iter().collect();
    match &parts[..] {
        [list, array, place] if want == "__want" && !leads_out(quote!(#place)) => {
            Some([quote!(#list), quote!(#array), quote!(#place)])
        }
        _ => None,
    }
}

/// Code to which the step may never come.
pub(crate) fn perhaps(code: &TokenStream) -> TokenStream {
    if code.is_empty() { TokenStream::new() } else { quote!(::superstep::neststep::perhaps(|| { #code });) }
}

/// Whether some tokens have a way out of the step.
fn leads_out(tokens: TokenStream) -> bool {
    let mut words = Vec::new();
    collect_words(tokens, &mut words);
    words.iter().any(|word| word.to_string().starts_with("__step_"))
}
