//! Assignments that are short for several: to a part of an element, and to a pattern.
//!
//! | program | becomes |
//! |---|---|
//! | `a[i].v[k] = x;` | `{ let __value = x; let mut __changed = a[i]; __changed.v[k] = __value; a[i] = __changed; }` |
//! | `(a[i], b) = x;` | `{ let (__part_0, __part_1) = x; a[i] = __part_0; b = __part_1; }` |
//! | `a[i][k]`, where `a` has one dimension | `({ a[i] })[k]` |

use crate::{
    forms::{assigns, is_plain, macro_arguments, set_macro_arguments},
    names::{Kind, Names, base_of, element, section},
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{
    Block, Error, Expr, parse_quote, parse_quote_spanned,
    spanned::Spanned,
    visit_mut::{self, VisitMut},
};

/// Writes all of them out.
pub(crate) fn write_out(body: &mut Block, names: &Names, errors: &mut Vec<Error>) {
    Sugar { names, errors }.visit_block_mut(body);
}

struct Sugar<'a> {
    names: &'a Names,
    errors: &'a mut Vec<Error>,
}

/// A part of an element: the array, the indices of the element, and the way on from there.
struct Part {
    array: Ident,
    at: Vec<Expr>,
    way: Vec<TokenStream>,
}

impl Part {
    fn element(&self) -> Expr {
        let (array, at) = (&self.array, &self.at);
        parse_quote!(#array #([#at])*)
    }
}

impl Sugar<'_> {
    /// The part of an element that a place is, if it is not a whole one.
    fn part(&self, place: &Expr) -> Option<Part> {
        let array = base_of(place)?.clone();
        let Kind::Dist(dist) = &self.names.get(&array.to_string())?.kind else { return None };
        let (mut steps, mut rest) = (Vec::new(), place);
        loop {
            rest = match rest {
                Expr::Index(index) => {
                    steps.push(rest);
                    &index.expr
                }
                Expr::Field(field) => {
                    steps.push(rest);
                    &field.base
                }
                Expr::Paren(inner) => &inner.expr,
                Expr::Group(inner) => &inner.expr,
                _ => break,
            };
        }
        steps.reverse();
        let (mut at, mut way) = (Vec::new(), Vec::new());
        for step in steps {
            match step {
                Expr::Index(index) if at.len() < dist.dims() && way.is_empty() => at.push((*index.index).clone()),
                Expr::Index(index) => {
                    let (inner, span) = (&index.index, index.bracket_token.span.join());
                    way.push(quote_spanned!(span=> [#inner]));
                }
                Expr::Field(field) => {
                    let member = &field.member;
                    way.push(quote!(.#member));
                }
                _ => return None,
            }
        }
        (at.len() == dist.dims() && !way.is_empty()).then_some(Part { array, at, way })
    }

    /// Reads an element, changes a part of it, and writes it back.
    fn change(part: &Part, sign: &TokenStream, value: &Expr, span: Span) -> Expr {
        let spot = Span::call_site().located_at(span);
        let (mut lets, mut at) = (TokenStream::new(), part.at.clone());
        // What has an effect is evaluated once.
        for (number, at) in at.iter_mut().enumerate().filter(|(_, at)| !is_plain(at) && section(at).is_none()) {
            let name = format_ident!("__at_{number}", span = Span::call_site());
            lets.extend(quote_spanned!(spot=> let #name = #at;));
            *at = parse_quote!(#name);
        }
        let element = Part { at, array: part.array.clone(), way: Vec::new() }.element();
        let (way, changed) = (&part.way, Ident::new("__changed", part.array.span()));
        parse_quote_spanned!(spot=> {
            let __value = #value;
            #lets
            let mut #changed = #element;
            #changed #(#way)* #sign __value;
            #element = #changed;
        })
    }

    /// The pattern that takes the place of what is assigned to, with a name for each place in it.
    fn pattern(place: &Expr, places: &mut Vec<Expr>) -> Option<TokenStream> {
        let mut all = |list: &syn::punctuated::Punctuated<Expr, syn::Token![,]>| -> Option<Vec<TokenStream>> {
            list.iter().map(|one| Self::pattern_of(one, places)).collect()
        };
        match place {
            Expr::Tuple(tuple) if !tuple.elems.is_empty() => {
                let parts = all(&tuple.elems)?;
                Some(quote!((#(#parts,)*)))
            }
            Expr::Array(array) => {
                let parts = all(&array.elems)?;
                Some(quote!([#(#parts),*]))
            }
            Expr::Call(call) => {
                let (head, parts) = (&call.func, all(&call.args)?);
                Some(quote!(#head(#(#parts),*)))
            }
            Expr::Struct(whole) => {
                let (path, mut fields) = (&whole.path, Vec::new());
                for field in &whole.fields {
                    let (member, part) = (&field.member, Self::pattern_of(&field.expr, places)?);
                    fields.push(quote!(#member: #part));
                }
                let rest = whole.dot2_token.map(|_| quote!(..));
                Some(quote!(#path { #(#fields,)* #rest }))
            }
            Expr::Paren(inner) => Self::pattern(&inner.expr, places),
            _ => None,
        }
    }

    fn pattern_of(place: &Expr, places: &mut Vec<Expr>) -> Option<TokenStream> {
        match place {
            Expr::Infer(_) => Some(quote!(_)),
            Expr::Range(range) if range.start.is_none() && range.end.is_none() => Some(quote!(..)),
            _ => Self::pattern(place, places).or_else(|| {
                let name = format_ident!("__part_{}", places.len(), span = Span::call_site());
                places.push(place.clone());
                Some(quote!(#name))
            }),
        }
    }

    /// The indices in a place, which is not read itself.
    fn visit_place(&mut self, place: &mut Expr) {
        match place {
            Expr::Index(index) => {
                self.visit_place(&mut index.expr);
                self.visit_expr_mut(&mut index.index);
            }
            Expr::Field(field) => self.visit_place(&mut field.base),
            Expr::Paren(inner) => self.visit_place(&mut inner.expr),
            Expr::Group(inner) => self.visit_place(&mut inner.expr),
            Expr::Path(_) => {}
            other => self.visit_expr_mut(other),
        }
    }
}

impl VisitMut for Sugar<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let span = expr.span();
        match expr {
            Expr::Assign(assign) => {
                let mut places = Vec::new();
                if let Some(pattern) = Self::pattern(&assign.left, &mut places) {
                    let spot = Span::call_site().located_at(span);
                    let value = &assign.right;
                    let names = (0..places.len()).map(|part| format_ident!("__part_{part}", span = Span::call_site()));
                    *expr = parse_quote_spanned!(spot=> { let #pattern = #value; #(#places = #names;)* });
                    visit_mut::visit_expr_mut(self, expr);
                } else if let Some(part) = self.part(&assign.left) {
                    *expr = Self::change(&part, &quote!(=), &assign.right, span);
                    visit_mut::visit_expr_mut(self, expr);
                } else {
                    self.visit_expr_mut(&mut assign.right);
                    self.visit_place(&mut assign.left);
                }
            }
            Expr::Binary(binary) if assigns(&binary.op) => {
                if let Some(part) = self.part(&binary.left) {
                    let sign = &binary.op;
                    *expr = Self::change(&part, &quote!(#sign), &binary.right, span);
                    visit_mut::visit_expr_mut(self, expr);
                } else {
                    self.visit_expr_mut(&mut binary.right);
                    self.visit_place(&mut binary.left);
                }
            }
            Expr::Reference(reference) if reference.mutability.is_some() => {
                if self.part(&reference.expr).is_some() && element(&reference.expr).is_none() {
                    let message = "a part of an element of a distributed array cannot be borrowed to be changed; \
                                   assign to it";
                    self.errors.push(Error::new(span, message));
                }
                self.visit_place(&mut reference.expr);
            }
            Expr::Index(_) if element(expr).is_some() => {
                if let Some(part) = self.part(expr) {
                    let (element, way) = (part.element(), &part.way);
                    let element = quote_spanned!(part.array.span()=> ({ #element }));
                    *expr = parse_quote!(#element #(#way)*);
                }
                visit_mut::visit_expr_mut(self, expr);
            }
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        let Some(mut arguments) = macro_arguments(mac) else { return };
        let before = quote!(#(#arguments),*).to_string();
        for argument in &mut arguments {
            match argument {
                Expr::Assign(named) => self.visit_expr_mut(&mut named.right),
                other => self.visit_expr_mut(other),
            }
        }
        if quote!(#(#arguments),*).to_string() != before {
            set_macro_arguments(mac, &arguments);
        }
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
