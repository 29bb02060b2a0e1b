//! A whole program: which of its functions are NestStep's, and what becomes of each.

use crate::{
    forms::collect_words,
    jumps,
    lower::{Lower, at},
    names::{Functions, Kind, Name, Names, Signature, attribute, kind},
    plan::plan,
    private::Private,
    tokens::{self, group},
};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use std::collections::{BTreeSet, HashMap};
use syn::{Error, FnArg, Item, ItemFn, Pat, PatType, Result, Type, parse_quote, visit_mut::VisitMut};

/// Words that only NestStep's notation leaves behind.
const MARKS: [&str; 9] =
    ["__group", "__step", "__seq", "__forall", "__sh", "__epoch", "thisgroup", "__section", "__combine"];

/// Translates everything that stands in `neststep! { … }`.
pub(crate) fn translate(input: TokenStream) -> Result<TokenStream> {
    let translated = tokens::statements(input)?;
    let file: syn::File = syn::parse2(translated)?;
    let functions = functions(&file.items)?;
    let mut out = TokenStream::new();
    let mut errors: Vec<Error> = Vec::new();
    for item in file.items {
        match item {
            Item::Fn(function) if functions.contains_key(&function.sig.ident.to_string()) => {
                let before = errors.len();
                out.extend(self::function(function, &functions, &mut errors, before));
            }
            mut other => {
                if let Some(word) = words(&other).into_iter().find(|word| MARKS.iter().any(|mark| word == mark)) {
                    let message = "NestStep's notation stands in functions of their own, and not in other items";
                    errors.push(Error::new(word.span(), message));
                    Bodies.visit_item_mut(&mut other);
                }
                other.to_tokens(&mut out);
            }
        }
    }
    // What was wrong, and functions without their bodies, so that nobody misses them.
    out.extend(errors.iter().map(Error::to_compile_error));
    Ok(out)
}

/// Leaves out what stands in braces of functions, of which enough was said.
struct Bodies;

impl VisitMut for Bodies {
    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        *block = parse_quote!({ ::core::panic!() });
    }
}

fn words(item: &impl ToTokens) -> Vec<Ident> {
    let mut words = Vec::new();
    collect_words(item.to_token_stream(), &mut words);
    words
}

/// The functions that use NestStep's notation, or call others that do.
fn functions(items: &[Item]) -> Result<Functions> {
    let all: HashMap<String, (&ItemFn, BTreeSet<String>)> = items
        .iter()
        .filter_map(|item| match item {
            Item::Fn(function) => {
                let words = words(function).iter().map(ToString::to_string).collect();
                Some((function.sig.ident.to_string(), (function, words)))
            }
            _ => None,
        })
        .collect();
    let mut found: BTreeSet<String> = BTreeSet::new();
    loop {
        let before = found.len();
        for (name, (_, words)) in &all {
            let calls = words.iter().any(|word| word != name && found.contains(word));
            if name == "main" || calls || MARKS.iter().any(|mark| words.contains(*mark)) {
                found.insert(name.clone());
            }
        }
        if found.len() == before {
            break;
        }
    }
    let mut functions = Functions::new();
    for name in found {
        let (function, _) = &all[&name];
        let mut signature = Signature::default();
        for input in &function.sig.inputs {
            let shared = match input {
                FnArg::Typed(typed) => shared(typed)?.map(|(_, kind)| kind),
                FnArg::Receiver(_) => None,
            };
            signature.shared.push(shared);
        }
        functions.insert(name, signature);
    }
    Ok(functions)
}

/// The name and kind of a parameter that is shared.
fn shared(typed: &PatType) -> Result<Option<(Ident, Kind)>> {
    let Some(attribute) = attribute(&typed.attrs, "__sh") else { return Ok(None) };
    let Pat::Ident(name) = &*typed.pat else {
        return Err(Error::new_spanned(&typed.pat, "a shared parameter is a name"));
    };
    Ok(Some((name.ident.clone(), kind(attribute, &typed.ty, true, 0)?)))
}

fn function(mut function: ItemFn, functions: &Functions, errors: &mut Vec<Error>, before: usize) -> TokenStream {
    let span = function.sig.ident.span();
    let (group, spot) = (group(span), at(span));
    let mut names = Names::new();
    let mut checks = TokenStream::new();
    let mut arrays = Vec::new();
    for input in &mut function.sig.inputs {
        let FnArg::Typed(typed) = input else { continue };
        let Ok(Some((name, kind))) = shared(typed) else { continue };
        typed.attrs.clear();
        let ty: TokenStream = match &kind {
            Kind::Dist(dist) => {
                let (word, op) = (name.to_string(), dist.op_tokens());
                arrays.push(name.clone());
                if !matches!(dist.op, crate::names::Op::Function(_)) {
                    checks.extend(quote_spanned!(spot=> ::superstep::neststep::check_operator(#name, #op, #word);));
                }
                dist.parameter()
            }
            Kind::Replica(replica) => {
                let ty = &replica.ty;
                if replica.is_array {
                    quote!(&mut ::superstep::neststep::Cells<#ty>)
                } else {
                    quote!(&mut ::superstep::neststep::Var<#ty>)
                }
            }
            Kind::Volatile { .. } => quote!(()),
        };
        *typed.ty = Type::Verbatim(ty);
        names.insert(name.to_string(), Name { kind, loops: 0, level: 0 });
    }
    if arrays.len() > 1 {
        let words = arrays.iter().map(ToString::to_string);
        let each = quote!(#((::core::ptr::from_ref(#arrays).cast::<()>(), #words)),*);
        checks.extend(quote_spanned!(spot=> ::superstep::neststep::check_apart(&[#each]);));
    }
    let private = Private::of(&function);
    jumps::take_out(&mut function.block, &function.sig.output, errors);
    let mut plan = plan(&mut function.block, names, functions, &private);
    errors.append(&mut plan.errors);
    let mut lower = Lower::new(&plan, functions);
    let flags = lower.flags();
    lower.visit_block_mut(&mut function.block);
    errors.append(&mut lower.errors);
    let stmts = std::mem::take(&mut function.block.stmts);
    // Of a body that is not there, nothing more is said.
    let quiet = (errors.len() > before).then(|| quote!(#[allow(unused)]));
    let body = if errors.len() > before {
        quote!({ ::core::panic!() })
    } else {
        quote_spanned!(spot=> {
            #[allow(unused_imports)]
            use ::superstep::neststep::{Inspect as _, Unsteady as _};
            #checks #flags
            #(#stmts)*
        })
    };
    let parameter: FnArg = parse_quote!(#group: &mut ::superstep::Group);
    function.sig.inputs.insert(0, parameter);
    let (attributes, visibility, mut signature) = (&function.attrs, &function.vis, function.sig.clone());
    if signature.ident != "main" {
        return quote! {
            #(#attributes)*
            #quiet
            #[allow(unused_assignments, unused_braces, clippy::semicolon_if_nothing_returned, clippy::deref_addrof)]
            #visibility #signature #body
        };
    }
    signature.ident = Ident::new("__main", at(span));
    let main = Ident::new("main", span);
    quote! {
        #(#attributes)*
        #visibility fn #main() -> ::superstep::Result {
            #[allow(unused_assignments, unused_braces, clippy::semicolon_if_nothing_returned, clippy::deref_addrof)]
            #signature #body
            ::superstep::run(__main).map(|_| ())
        }
    }
}
