//! Declarations, calls, and the warning of steps that not everybody may reach.

use crate::{
    access::Scan,
    elements::lent,
    forms::collect_words,
    jumps::lead_out,
    lower::{Lower, at, call as call_of, with},
    names::{Kind, attribute, element, name_of, section},
    tokens::group,
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use std::collections::BTreeSet;
use syn::{
    Expr, ExprIf, Local, Pat,
    spanned::Spanned,
    visit::Visit,
    visit_mut::{self},
};

impl Lower<'_> {
    /// A warning of a step under a condition that may differ between processors.
    pub(crate) fn warning(&self, condition: &Expr, whole: &Expr) -> Option<TokenStream> {
        let mut scan = Scan::new(&self.plan.names, self.functions);
        scan.visit_expr(whole);
        let step = scan.finish().steps?;
        differs(condition, &self.plan.differing.perhaps).then(|| {
            let note = "this condition may differ between processors, and who does not come to the step is waited \
                        for; write `step<2, @ = if condition { 1 } else { 0 }> { if @ == 1 { … } }`";
            warned("step", step, note)
        })
    }

    /// A warning of a way past the steps that follow, under a condition on the rank. A nesting step may be left.
    pub(crate) fn early(&self, branch: &ExprIf) -> Option<TokenStream> {
        let other = branch.else_branch.as_ref().is_some_and(|(_, other)| match &**other {
            Expr::Block(other) => lead_out(&other.block),
            _ => false,
        });
        let is_warned = self.steps_follow
            && self.level == 0
            && !self.inspects
            && (other || lead_out(&branch.then_branch))
            && differs(&branch.cond, &self.plan.differing.by_rank);
        is_warned.then(|| {
            let note = "this condition may differ between processors, and who leaves here is waited for at the steps \
                        that follow; put them into `step<2, @ = if condition { 1 } else { 0 }> { if @ == 0 { … } }`";
            warned("leaves", branch.if_token.span(), note)
        })
    }

    /// Whether a piece of program has steps, or calls functions that may have them.
    pub(crate) fn has_steps(&self, visit: impl FnOnce(&mut Scan<'_>)) -> bool {
        let mut scan = Scan::new(&self.plan.names, self.functions);
        visit(&mut scan);
        let uses = scan.finish();
        uses.steps.is_some() || uses.calls
    }

    pub(crate) fn declare(&mut self, local: &Local) -> Option<TokenStream> {
        let attribute = attribute(&local.attrs, "__sh")?;
        let Pat::Type(typed) = &local.pat else { return None };
        let Pat::Ident(name) = &*typed.pat else { return None };
        let (name, span) = (&name.ident, attribute.path().span());
        let (group, spot, word) = (group(span), at(span), name.to_string());
        let init = local.init.as_ref().map(|init| self.lowered(&init.expr));
        Some(match &self.plan.names.get(&word)?.kind {
            Kind::Dist(dist) => {
                if dist.extents.iter().any(TokenStream::is_empty) {
                    self.error(
                        name.span(),
                        format!("`{name}` needs its length, `[T; n]</>`, or is imported first in a nesting step"),
                    );
                }
                let mut dist = dist.clone();
                dist.extents = dist.extents.iter().map(|extent| self.lowered_tokens(extent.clone())).collect();
                let make = dist.make(&group);
                let fill = init.map(|init| quote_spanned!(spot=> #name.local_mut().fill(#init);));
                quote_spanned!(spot=> let #name = #make; #fill)
            }
            Kind::Replica(replica) => {
                let ty = &replica.ty;
                let op = replica.strategy.op.tokens(ty);
                let default = quote!(<#ty as ::core::default::Default>::default());
                if replica.is_array {
                    let init = match (init, &replica.len) {
                        (Some(init), _) => quote!(::std::vec::Vec::from(#init)),
                        (None, Some(len)) => {
                            let len = self.lowered_tokens(len.clone());
                            quote!(::std::vec![#default; #len])
                        }
                        (None, None) => quote!(::std::vec::Vec::new()),
                    };
                    let make = quote!(::superstep::neststep::Cells::<#ty>::new);
                    quote_spanned!(spot=> let #name = &mut #make(#group, #init, #op, #word);)
                } else {
                    let init = init.unwrap_or(default);
                    let make = quote!(::superstep::neststep::Var::<#ty>::new);
                    quote_spanned!(spot=> let #name = &mut #make(#group, #init, #op, #word);)
                }
            }
            Kind::Volatile { ty, len, owner } => {
                let init = init.unwrap_or_else(|| quote!(<#ty as ::core::default::Default>::default()));
                if let Some(len) = len {
                    let len = self.lowered_tokens(len.clone());
                    quote_spanned!(spot=> let #name = #group.volatile_array::<#ty>(#owner, #len, #init);)
                } else {
                    quote_spanned!(spot=> let #name = #group.volatile::<#ty>(#owner, #init);)
                }
            }
        })
    }

    pub(crate) fn call(&mut self, expr: &mut Expr) {
        let span = expr.span();
        let Expr::Call(call) = expr else { return };
        let word = name_of(&call.func).map(ToString::to_string).unwrap_or_default();
        let first = call.args.first().cloned();
        let of_array = first.as_ref().and_then(element).filter(|(name, _)| self.dist(name).is_some());
        let spot = at(span);
        match (word.as_str(), of_array) {
            ("owner" | "owned", Some((name, at))) if call.args.len() == 1 => {
                let dist = self.dist(name).expect("it is one");
                let place = self.place(name, dist, &at);
                let query = Ident::new(if word == "owner" { "owner" } else { "is_owned" }, call.func.span());
                *expr = Expr::Verbatim(quote_spanned!(spot=> #name.#query(#place)));
            }
            ("mirror", Some((name, at))) => {
                let Some(part) = at.iter().find_map(|at| section(at)) else {
                    self.error(span, "`mirror` takes a section, such as `a[lo:hi]` or `a[..]`");
                    return;
                };
                let (part, word) = (self.section_tokens(&part), name.to_string());
                let port = quote_spanned!(spot=> ::superstep::neststep::port(#name, #word));
                *expr = Expr::Verbatim(call_of(port, "mirror", span, quote!(#name, #part)));
            }
            ("update", Some((name, at))) if call.args.len() == 2 => {
                let value = self.lowered(&call.args[1]);
                let is_section = at.iter().any(|at| section(at).is_some());
                let value = if is_section { lent(&value, call.args[1].span()) } else { value };
                let tokens = self.write(name, &at, &value, false, span);
                *expr = Expr::Verbatim(tokens);
            }
            ("fetch_add", _)
                if call.args.len() == 2 && first.as_ref().is_some_and(|first| self.volatile(first).is_some()) =>
            {
                let variable = first.as_ref().and_then(|first| self.volatile(first));
                let value = self.lowered(&call.args[1]);
                *expr = Expr::Verbatim(quote_spanned!(spot=> __epoch.fetch_add(#variable, #value)));
            }
            ("permute", _)
                if call.args.len() == 3
                    && self.leaf.is_some()
                    && first.as_ref().and_then(name_of).is_some_and(|name| self.dist(name).is_some()) =>
            {
                let (target, source, to) = (&call.args[0], &call.args[1], &call.args[2]);
                let port = with(name_of(target).expect("it is one"), "port");
                *expr = Expr::Verbatim(call_of(port, "permute", span, quote!(#target, #source, #to)));
            }
            ("len", _) if call.args.len() == 1 && first.as_ref().and_then(name_of).is_some() => {
                let name = name_of(&call.args[0]).cloned().expect("it is one");
                if self.plan.names.contains_key(&name.to_string()) {
                    *expr = Expr::Verbatim(quote_spanned!(spot=> #name.len()));
                } else {
                    visit_mut::visit_expr_mut(self, expr);
                }
            }
            _ if self.functions.contains_key(&word) => self.call_function(expr, &word),
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }

    fn call_function(&mut self, expr: &mut Expr, word: &str) {
        let span = expr.span();
        let Expr::Call(call) = expr else { return };
        let signature = self.functions[word].clone();
        let mut arguments = Vec::new();
        // One argument more than there are parameters: the first is a group.
        let has_group = call.args.len() == signature.shared.len() + 1;
        let mut group = group(span).to_token_stream();
        if has_group && let Some(first) = call.args.first() {
            group = self.lowered(first);
        }
        for (number, argument) in call.args.iter().skip(usize::from(has_group)).enumerate() {
            let shared = signature.shared.get(number).and_then(Option::as_ref);
            let name = name_of(argument).cloned();
            arguments.push(match (shared, name) {
                (Some(Kind::Dist(_)), Some(name)) => quote!(#name),
                (Some(Kind::Replica(_)), Some(name)) if self.replica(&name).is_some() => quote!(&mut *#name),
                (Some(Kind::Replica(_)), _) => {
                    self.error(argument.span(), format!("`{word}` takes a shared variable here, by its name"));
                    TokenStream::new()
                }
                _ => self.lowered(argument),
            });
        }
        let function = &call.func;
        *expr = Expr::Verbatim(quote_spanned!(at(span)=> #function(#group, #(#arguments),*)));
    }
}

/// Whether a condition names the rank, or one of these variables.
fn differs(condition: &Expr, names: &BTreeSet<String>) -> bool {
    let mut words = Vec::new();
    collect_words(quote!(#condition), &mut words);
    let is_rank = |word: &Ident| word == "rank" && words.iter().any(|other| other == "__group");
    words.iter().any(|word| is_rank(word) || names.contains(&word.to_string()))
}

/// A warning with this note. A macro has no warnings of its own, so it is the use of something that is deprecated.
fn warned(name: &str, place: Span, note: &str) -> TokenStream {
    let (spot, name) = (at(place), Ident::new(name, place));
    quote_spanned!(spot=> {
        #[deprecated(note = #note)]
        #[allow(non_upper_case_globals)]
        const #name: () = ();
        #name
    })
}
