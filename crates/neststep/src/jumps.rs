//! Ways out of a step: the step ends first, and then the jump happens.
//!
//! `break`, `continue`, `return` and `?` in the body of a step that lead out of it become an end of the body that says
//! where to go, and the step becomes the subject of a `match` that goes there. Inner steps come first, so that jumps
//! out of several are passed on.

use crate::names::attribute;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{
    Block, Error, Expr, ExprClosure, Label, Lifetime, ReturnType, Stmt, Type, parse_quote, parse_quote_spanned,
    spanned::Spanned,
    visit_mut::{self, VisitMut},
};

/// Takes the jumps out of all steps of a function.
pub(crate) fn take_out(block: &mut Block, output: &ReturnType, errors: &mut Vec<Error>) {
    let mut steps = Steps { output, errors, count: 0, labels: Vec::new() };
    steps.visit_block_mut(block);
}

/// Whether a jump leads out of a block.
pub(crate) fn lead_out(block: &Block) -> bool {
    let out = Lifetime::new("'__step_", Span::call_site());
    let mut errors = Vec::new();
    let mut outs = Outs { out: &out, loops: Vec::new(), jumps: Vec::new(), returns: false, errors: &mut errors };
    outs.visit_block_mut(&mut block.clone());
    outs.returns || !outs.jumps.is_empty()
}

struct Steps<'a> {
    output: &'a ReturnType,
    errors: &'a mut Vec<Error>,
    count: usize,
    /// Labels of blocks around, and whether a step comes later in them.
    labels: Vec<(String, bool)>,
}

fn is_step(expr: &Expr) -> bool {
    matches!(expr, Expr::Block(block) if attribute(&block.attrs, "__step").is_some())
}

impl VisitMut for Steps<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::Block(block) = &*expr
            && let Some(label) = &block.label
            && !is_step(expr)
        {
            let has_later = block.block.stmts.iter().filter(|stmt| contains_step(stmt)).count() > 1;
            self.labels.push((label.name.ident.to_string(), has_later));
            visit_mut::visit_expr_mut(self, expr);
            self.labels.pop();
            return;
        }
        visit_mut::visit_expr_mut(self, expr);
        let Expr::Block(step) = expr else { return };
        let Some(span) = attribute(&step.attrs, "__step").map(|attribute| attribute.path().span()) else { return };
        self.count += 1;
        let name = format!("'__step_{}", self.count);
        let out = Lifetime::new(&name, Span::call_site().located_at(span));
        let mut outs = Outs { out: &out, loops: Vec::new(), jumps: Vec::new(), returns: false, errors: self.errors };
        outs.visit_block_mut(&mut step.block);
        let Outs { jumps, returns, .. } = outs;
        for (jump, span) in &jumps {
            if let Some((label, true)) = self.labels.iter().rev().find(|(label, _)| jump.contains(&format!("'{label}")))
            {
                let message = format!("this jumps across the steps that follow in `'{label}`; others would wait there");
                self.errors.push(Error::new(*span, message));
            }
        }
        if jumps.is_empty() && !returns {
            return;
        }
        let value: Type = match self.output {
            _ if !returns => parse_quote!(()),
            ReturnType::Type(_, ty) if !matches!(**ty, Type::ImplTrait(_)) => (**ty).clone(),
            ReturnType::Default => parse_quote!(()),
            ReturnType::Type(..) => parse_quote!(_),
        };
        step.attrs.push(parse_quote!(#[__flow(#value)]));
        step.label = Some(Label { name: out.clone(), colon_token: syn::token::Colon::default() });
        let mut arms = TokenStream::new();
        for (number, (jump, span)) in jumps.iter().enumerate() {
            let jump: TokenStream = jump.parse().expect("it was one");
            let jump = respan(jump, *span);
            arms.extend(quote!(::superstep::neststep::Flow::Jump(#number) => #jump,));
        }
        if returns {
            arms.extend(quote!(::superstep::neststep::Flow::Return(__value) => return __value,));
        }
        let step = std::mem::replace(expr, Expr::Verbatim(TokenStream::new()));
        *expr = parse_quote_spanned!(span=> match #step { #arms _ => {} });
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

fn respan(tokens: TokenStream, span: Span) -> TokenStream {
    let with = |mut token: proc_macro2::TokenTree| {
        token.set_span(span);
        token
    };
    tokens.into_iter().map(with).collect()
}

fn contains_step(stmt: &Stmt) -> bool {
    struct Find(bool);
    impl<'ast> syn::visit::Visit<'ast> for Find {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            self.0 |= is_step(expr);
            syn::visit::visit_expr(self, expr);
        }
    }
    let mut find = Find(false);
    syn::visit::Visit::visit_stmt(&mut find, stmt);
    find.0
}

/// Replaces what leads out of one step.
struct Outs<'a> {
    out: &'a Lifetime,
    /// The loops and labelled blocks inside of the step, with their labels.
    loops: Vec<(Option<String>, bool)>,
    /// What is to be done behind the step, and where it was said.
    jumps: Vec<(String, Span)>,
    returns: bool,
    errors: &'a mut Vec<Error>,
}

impl Outs<'_> {
    fn within(&mut self, label: Option<&Label>, is_loop: bool, visit: impl FnOnce(&mut Self)) {
        self.loops.push((label.map(|label| label.name.ident.to_string()), is_loop));
        visit(self);
        self.loops.pop();
    }

    /// Whether a jump to this label, or to the innermost loop, stays inside.
    fn stays(&self, label: Option<&Lifetime>) -> bool {
        match label {
            Some(label) => {
                label.ident.to_string().starts_with("__step_")
                    || self.loops.iter().any(|(other, _)| other.as_ref().is_some_and(|other| label.ident == other))
            }
            None => self.loops.iter().any(|(_, is_loop)| *is_loop),
        }
    }

    fn jump(&mut self, jump: String, span: Span) -> Expr {
        let number = self.jumps.iter().position(|(other, _)| *other == jump).unwrap_or_else(|| {
            self.jumps.push((jump, span));
            self.jumps.len() - 1
        });
        let out = self.out;
        parse_quote_spanned!(span=> break #out ::superstep::neststep::Flow::Jump(#number))
    }
}

impl VisitMut for Outs<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let span = expr.span();
        let out = self.out;
        match expr {
            Expr::ForLoop(looping) => {
                self.visit_expr_mut(&mut looping.expr);
                let label = looping.label.clone();
                self.within(label.as_ref(), true, |outs| outs.visit_block_mut(&mut looping.body));
            }
            Expr::While(looping) => {
                self.visit_expr_mut(&mut looping.cond);
                let label = looping.label.clone();
                self.within(label.as_ref(), true, |outs| outs.visit_block_mut(&mut looping.body));
            }
            Expr::Loop(looping) => {
                let label = looping.label.clone();
                self.within(label.as_ref(), true, |outs| outs.visit_block_mut(&mut looping.body));
            }
            Expr::Block(block) if block.label.is_some() => {
                let label = block.label.clone();
                self.within(label.as_ref(), false, |outs| outs.visit_block_mut(&mut block.block));
            }
            Expr::Break(jump) if !self.stays(jump.label.as_ref()) => {
                if jump.expr.is_some() {
                    self.errors.push(Error::new(span, "a `break` out of a step carries no value"));
                }
                let label = jump.label.as_ref().map(|label| format!(" '{}", label.ident)).unwrap_or_default();
                *expr = self.jump(format!("break{label}"), span);
            }
            Expr::Continue(jump) if !self.stays(jump.label.as_ref()) => {
                let label = jump.label.as_ref().map(|label| format!(" '{}", label.ident)).unwrap_or_default();
                *expr = self.jump(format!("continue{label}"), span);
            }
            Expr::Return(value) => {
                self.returns = true;
                let value = if let Some(value) = &mut value.expr {
                    self.visit_expr_mut(value);
                    quote!(#value)
                } else {
                    quote!(())
                };
                *expr = parse_quote_spanned!(span=> break #out ::superstep::neststep::Flow::Return(#value));
            }
            Expr::Try(attempt) => {
                self.returns = true;
                self.visit_expr_mut(&mut attempt.expr);
                let value = &attempt.expr;
                *expr = parse_quote_spanned!(span=> match ::superstep::neststep::Attempt::attempt(#value) {
                    ::core::result::Result::Ok(__value) => __value,
                    ::core::result::Result::Err(__rest) => break #out ::superstep::neststep::Flow::Return(
                        ::superstep::neststep::FromRest::from_rest(__rest)
                    ),
                });
            }
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }

    fn visit_expr_closure_mut(&mut self, _: &mut ExprClosure) {}

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
