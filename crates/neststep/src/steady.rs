//! Loops that go the same way in the step as in its inspector, so that the step reads what comes next without a look.

use crate::{forms::macro_arguments, names::name_of};
use proc_macro2::Ident;
use syn::{
    Block, Expr, ExprContinue, Macro,
    visit::{self, Visit},
};

/// Methods that go through what is there, and call nothing of the program.
const THROUGH: [&str; 9] = ["iter", "enumerate", "copied", "cloned", "rev", "skip", "take", "step_by", "zip"];

/// Whether an expression gives the same whenever it is evaluated, if the names in it do.
pub(crate) fn is_fixed(expr: &Expr, is_same: &impl Fn(&Ident) -> bool) -> bool {
    let is_fixed = |expr: &Expr| is_fixed(expr, is_same);
    match expr {
        Expr::Lit(_) => true,
        Expr::Path(_) => name_of(expr).is_some_and(is_same),
        Expr::Paren(inner) => is_fixed(&inner.expr),
        Expr::Group(inner) => is_fixed(&inner.expr),
        Expr::Cast(cast) => is_fixed(&cast.expr),
        Expr::Unary(unary) => is_fixed(&unary.expr),
        Expr::Field(field) => is_fixed(&field.base),
        Expr::Reference(reference) => reference.mutability.is_none() && is_fixed(&reference.expr),
        Expr::Binary(binary) => !crate::forms::assigns(&binary.op) && is_fixed(&binary.left) && is_fixed(&binary.right),
        Expr::Index(index) => is_fixed(&index.expr) && is_fixed(&index.index),
        Expr::Range(range) => range.start.iter().chain(&range.end).all(|bound| is_fixed(bound)),
        Expr::MethodCall(call) => {
            THROUGH.iter().any(|word| call.method == word) && is_fixed(&call.receiver) && call.args.iter().all(is_fixed)
        }
        _ => false,
    }
}

/// Whether each round of a loop comes to what the inspector asks for without a condition.
pub(crate) fn comes_to_all(body: &Block) -> bool {
    let mut turns = Turns(false);
    turns.visit_block(body);
    !turns.0
}

/// Whether something leads past the rest of a round, or may for all that is known.
struct Turns(bool);

impl<'ast> Visit<'ast> for Turns {
    fn visit_expr_continue(&mut self, _: &'ast ExprContinue) {
        self.0 = true;
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        match macro_arguments(mac) {
            Some(arguments) => arguments.iter().for_each(|argument| self.visit_expr(argument)),
            None => self.0 = true,
        }
        visit::visit_macro(self, mac);
    }
}
