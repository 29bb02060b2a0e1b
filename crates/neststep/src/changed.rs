//! Which names are bound inside of a step, and which of those around it are changed.

use crate::{
    forms::{assigns, bound, is_pure, macro_arguments},
    names::base_of,
};
use proc_macro2::Ident;
use std::collections::{BTreeMap, BTreeSet};
use syn::{
    Block, Expr, Pat,
    visit::{self, Visit},
};

/// The names that are bound inside of a step.
pub(crate) struct Bindings(pub(crate) BTreeSet<String>);

impl<'ast> Visit<'ast> for Bindings {
    fn visit_pat(&mut self, pattern: &'ast Pat) {
        self.0.extend(bound(pattern).iter().map(ToString::to_string));
    }
}

/// The variables from outside of a block that are changed in it, each with one of the places.
pub(crate) fn changed(block: &Block) -> BTreeMap<String, Ident> {
    let mut changed = Changed { found: BTreeMap::new(), bound: Vec::new() };
    changed.visit_block(block);
    changed.found
}

struct Changed {
    found: BTreeMap<String, Ident>,
    /// What is bound at the place at hand.
    bound: Vec<String>,
}

impl Changed {
    fn bind(&mut self, pattern: &Pat) {
        self.bound.extend(bound(pattern).iter().map(ToString::to_string));
    }

    /// Bindings in here are gone behind it.
    fn scope(&mut self, visit: impl FnOnce(&mut Self)) {
        let before = self.bound.len();
        visit(self);
        self.bound.truncate(before);
    }
}

impl<'ast> Visit<'ast> for Changed {
    fn visit_block(&mut self, block: &'ast Block) {
        self.scope(|changed| visit::visit_block(changed, block));
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        visit::visit_local(self, local);
        self.bind(&local.pat);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        self.scope(|changed| {
            changed.bind(&arm.pat);
            visit::visit_arm(changed, arm);
        });
    }

    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        self.scope(|changed| {
            closure.inputs.iter().for_each(|input| changed.bind(input));
            visit::visit_expr_closure(changed, closure);
        });
    }

    fn visit_expr_for_loop(&mut self, looping: &'ast syn::ExprForLoop) {
        self.visit_expr(&looping.expr);
        self.scope(|changed| {
            changed.bind(&looping.pat);
            changed.visit_block(&looping.body);
        });
    }

    fn visit_expr_if(&mut self, branch: &'ast syn::ExprIf) {
        self.scope(|changed| {
            changed.visit_expr(&branch.cond);
            changed.visit_block(&branch.then_branch);
        });
        if let Some((_, other)) = &branch.else_branch {
            self.visit_expr(other);
        }
    }

    fn visit_expr_while(&mut self, looping: &'ast syn::ExprWhile) {
        self.scope(|changed| visit::visit_expr_while(changed, looping));
    }

    fn visit_expr_let(&mut self, test: &'ast syn::ExprLet) {
        self.visit_expr(&test.expr);
        self.bind(&test.pat);
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        let target = match expr {
            Expr::Assign(assign) => base_of(&assign.left),
            Expr::Binary(binary) if assigns(&binary.op) => base_of(&binary.left),
            Expr::MethodCall(call) if !is_pure(&call.method) => base_of(&call.receiver),
            _ => None,
        };
        if let Some(name) = target
            && !self.bound.contains(&name.to_string())
        {
            self.found.entry(name.to_string()).or_insert_with(|| name.clone());
        }
        visit::visit_expr(self, expr);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let mut inner = BTreeMap::new();
        for argument in macro_arguments(mac).unwrap_or_default() {
            let mut changed = Changed { found: std::mem::take(&mut inner), bound: self.bound.clone() };
            changed.visit_expr(&argument);
            inner = changed.found;
        }
        for (name, word) in inner {
            self.found.entry(name).or_insert(word);
        }
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
