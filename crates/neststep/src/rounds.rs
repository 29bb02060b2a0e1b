//! The loops, conditions and jumps of an inspector.
//!
//! What is known is gone through as in the step. Of anything else both ways are asked for, and a loop that only an
//! unknown condition ends is gone through once.

use crate::{
    changed::{Bindings, changed},
    forms::{bound, is_endless, is_way_out, visiting},
    inspect::Slicer,
    steady::{comes_to_all, is_fixed},
    taint::is_cut,
    wants::{only_want, perhaps},
};
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use std::collections::BTreeSet;
use syn::{
    Block, Expr, ExprBinary, ExprForLoop, ExprIf, ExprLoop, ExprMatch, ExprWhile, Label, Lifetime, Stmt, visit::Visit,
};

impl Slicer<'_> {
    /// `x && y` and `x || y`, whose second part may not be reached.
    pub(crate) fn lazy(&mut self, binary: &ExprBinary) -> TokenStream {
        let is_known = self.facts.unknown(&binary.left).is_none();
        let right = self.certainly(is_known, |slicer| slicer.expr(&binary.right));
        if right.is_empty() {
            return self.expr(&binary.left);
        }
        if !is_known {
            let (left, right) = (self.expr(&binary.left), perhaps(&right));
            return quote!(#left #right);
        }
        let condition = &binary.left;
        let condition =
            if matches!(binary.op, syn::BinOp::And(_)) { quote!(#condition) } else { quote!(!(#condition)) };
        quote!(if #condition { #right })
    }

    fn certainly<R>(&mut self, is_certain: bool, make: impl FnOnce(&mut Self) -> R) -> R {
        let before = self.is_certain;
        self.is_certain &= is_certain;
        let made = make(self);
        self.is_certain = before;
        made
    }

    /// What is inside of a loop or of a block with a label.
    fn within(&mut self, label: Option<&Label>, is_certain: bool, body: &Block) -> TokenStream {
        self.around.push((label.map(|label| label.name.ident.to_string()), self.is_certain));
        let before = std::mem::replace(&mut self.is_certain, is_certain);
        let code = self.block(body);
        self.is_certain = before;
        self.around.pop();
        code
    }

    /// A block with a label, to whose end there are jumps.
    pub(crate) fn labelled(&mut self, label: &Label, body: &Block) -> TokenStream {
        let code = self.within(Some(label), self.is_certain, body);
        if code.is_empty() { code } else { quote!(#[allow(unused_labels)] #label { #code }) }
    }

    /// A jump, if the step is sure to jump here whenever the inspector comes here.
    pub(crate) fn jump(&self, label: Option<&Lifetime>, word: &TokenStream) -> TokenStream {
        let mut inner = self.around.iter().rev();
        let is_sure = self.is_certain
            && label.is_none_or(|label| {
                inner
                    .by_ref()
                    .take_while(|(name, _)| name.as_ref().is_none_or(|name| label.ident != name))
                    .all(|(_, is_certain)| *is_certain)
            });
        match label {
            _ if !is_sure => TokenStream::new(),
            Some(label) if is_way_out(label) => quote!(return;),
            label => quote!(#word #label;),
        }
    }

    pub(crate) fn branch(&mut self, branch: &ExprIf) -> TokenStream {
        let is_known = self.facts.unknown(&branch.cond).is_none();
        let then = self.certainly(is_known, |slicer| slicer.block(&branch.then_branch));
        let other = branch.else_branch.as_ref();
        let other = other.map(|(_, other)| self.certainly(is_known, |slicer| slicer.expr(other))).unwrap_or_default();
        if then.is_empty() && other.is_empty() {
            return self.expr(&branch.cond);
        }
        if !is_known {
            // What is known at the front of the condition still guards what comes behind it.
            let guard = self.known_front(&branch.cond).map(|front| quote!(if #front));
            let (condition, then, other) = (self.expr(&branch.cond), perhaps(&then), perhaps(&other));
            return quote!(#condition #guard { #then } #other);
        }
        let cond = &branch.cond;
        let other = (!other.is_empty()).then(|| quote!(else { #other }));
        quote!(if #cond { #then } #other)
    }

    /// The first parts of a condition `x && y && …`, as far as they are known.
    fn known_front(&self, condition: &Expr) -> Option<TokenStream> {
        match condition {
            _ if self.facts.unknown(condition).is_none() => Some(quote!(#condition)),
            Expr::Paren(inner) => self.known_front(&inner.expr),
            Expr::Binary(binary) if matches!(binary.op, syn::BinOp::And(_)) => {
                let front = self.known_front(&binary.left)?;
                let rest =
                    if self.facts.unknown(&binary.left).is_none() { self.known_front(&binary.right) } else { None };
                Some(rest.map_or_else(|| front.clone(), |rest| quote!(#front && #rest)))
            }
            _ => None,
        }
    }

    pub(crate) fn choice(&mut self, choice: &ExprMatch) -> TokenStream {
        let is_known = self.facts.unknown(&choice.expr).is_none()
            && choice.arms.iter().all(|arm| self.facts.unknown_guard(&arm.pat).is_none());
        let mut arms = Vec::new();
        for arm in &choice.arms {
            let body = self.certainly(is_known, |slicer| slicer.expr(&arm.body));
            arms.push((&arm.pat, body));
        }
        let is_empty = arms.iter().all(|(_, body)| body.is_empty());
        if is_known && !is_empty {
            let (expr, arms) = (&choice.expr, arms.iter().map(|(head, body)| quote!(#head => { #body })));
            return quote!(#[allow(unused_variables)] match #expr { #(#arms)* });
        }
        let subject = self.expr(&choice.expr);
        let guards: Vec<TokenStream> = choice.arms.iter().map(|arm| perhaps(&self.guard(&arm.pat))).collect();
        let bodies = arms.iter().map(|(_, body)| perhaps(body));
        quote!(#subject #(#guards)* #(#bodies)*)
    }

    pub(crate) fn while_loop(&mut self, looping: &ExprWhile) -> TokenStream {
        let is_known = self.facts.unknown(&looping.cond).is_none() && !is_cut(&mut self.facts, &looping.body);
        let body = self.within(looping.label.as_ref(), is_known, &looping.body);
        let (condition, cond, label) = (self.expr(&looping.cond), &looping.cond, &looping.label);
        match (body.is_empty() && condition.is_empty(), is_known) {
            (true, _) => TokenStream::new(),
            (false, true) => quote!(#[allow(unused_labels)] #label while #cond { #body }),
            (false, false) => {
                let body = perhaps(&body);
                quote!(#condition #body)
            }
        }
    }

    pub(crate) fn endless_loop(&mut self, looping: &ExprLoop) -> TokenStream {
        let is_known = !is_cut(&mut self.facts, &looping.body);
        let body = self.within(looping.label.as_ref(), is_known, &looping.body);
        let label = &looping.label;
        let ends = body.clone().into_iter().any(|token| has_jump(&token));
        match (body.is_empty(), is_known && ends) {
            (true, _) => TokenStream::new(),
            (false, true) => quote!(#[allow(unused_labels)] #label loop { #body }),
            (false, false) => perhaps(&body),
        }
    }

    pub(crate) fn for_loop(&mut self, looping: &ExprForLoop) -> TokenStream {
        let label = looping.label.as_ref();
        if let Some((visiting, bounds)) = visiting(looping) {
            let is_known = bounds.iter().all(|bound| self.facts.unknown(bound).is_none());
            self.facts.around.push(visiting);
            let body = self.within(label, is_known, &looping.body);
            self.facts.around.pop();
            let (attributes, pattern) = (&looping.attrs, &looping.pat);
            if is_known && !body.is_empty() {
                return quote!(#(#attributes)* #label for #pattern in __forall { #body });
            }
            let (sites, body) = (bounds.iter().map(|bound| self.expr(bound)), perhaps(&body));
            return quote!(#(#sites)* #body);
        }
        let is_open = is_endless(&looping.expr);
        let is_known =
            self.facts.unknown(&looping.expr).is_none() && !(is_open && is_cut(&mut self.facts, &looping.body));
        let body = self.within(label, is_known, &looping.body);
        let sites = self.expr(&looping.expr);
        match (body.is_empty() && sites.is_empty(), is_known) {
            (true, _) => TokenStream::new(),
            (false, true) => self.repeated(looping, &body),
            (false, false) => {
                let body = perhaps(&body);
                quote!(#sites #body)
            }
        }
    }

    /// A loop whose rounds are known.
    fn repeated(&self, looping: &ExprForLoop, body: &TokenStream) -> TokenStream {
        let (pattern, expr, label) = (&looping.pat, &looping.expr, &looping.label);
        if let Some([list, array, place]) = only_want(body) {
            if self.is_steady(looping, &array, &place) {
                let rounds = quote!(::core::iter::IntoIterator::into_iter(#expr));
                let places = quote!({
                    let __rounds = #rounds;
                    let __are_steady = ::superstep::neststep::Rounds(&__rounds).are_steady();
                    (__are_steady, ::core::iter::Iterator::map(__rounds, |#pattern| #place))
                });
                return quote!(__want_steadily!(#list, #array, #places););
            }
            let places = quote!(::core::iter::IntoIterator::into_iter(#expr), |#pattern| #place);
            return quote!(__want_each!(#list, #array, ::core::iter::Iterator::map(#places)););
        }
        quote!(#[allow(unused_variables, unused_labels)] #label for #pattern in #expr { #body })
    }
}

impl Slicer<'_> {
    /// Whether the step comes to each round of a loop once, and reads the array there once and nowhere else, at a place
    /// that it finds again as it is.
    fn is_steady(&self, looping: &ExprForLoop, array: &TokenStream, place: &TokenStream) -> bool {
        let is_this = |stmt: &Stmt| matches!(stmt, Stmt::Expr(Expr::ForLoop(other), _) if std::ptr::eq(other, looping));
        let is_only = self
            .facts
            .use_of(&array.to_string())
            .is_some_and(|array| array.reads == 1 && array.section_reads == 0 && !array.tracks());
        if !is_only || !self.body.stmts.iter().any(is_this) || !comes_to_all(&looping.body) {
            return false;
        }
        let (changed, mut bindings) = (changed(self.body), Bindings(BTreeSet::new()));
        bindings.visit_block(self.body);
        let visited: Vec<String> = bound(&looping.pat).iter().map(ToString::to_string).collect();
        let is_same = |name: &Ident| {
            let name = name.to_string();
            !changed.contains_key(&name) && !bindings.0.contains(&name)
        };
        is_fixed(&looping.expr, &is_same)
            && syn::parse2(place.clone()).is_ok_and(|place| {
                is_fixed(&place, &|name| is_same(name) || visited.iter().any(|visited| name == visited))
            })
    }
}

/// Whether there is a jump in a token.
fn has_jump(token: &proc_macro2::TokenTree) -> bool {
    match token {
        proc_macro2::TokenTree::Ident(word) => word == "break" || word == "return",
        proc_macro2::TokenTree::Group(group) => group.stream().into_iter().any(|token| has_jump(&token)),
        _ => false,
    }
}
