//! Which names are bound inside of a step, and which of those around it are changed or given away.

use crate::{
    forms::{assigns, bound, is_pure, macro_arguments},
    names::{base_of, name_of},
    wants::arguments as requested,
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
    let mut changed = Changed::default();
    changed.visit_block(block);
    changed.found
}

/// The variables from outside of a block that are given away in it, so that it would work once only.
pub(crate) fn given_away(block: &Block) -> BTreeMap<String, Ident> {
    let mut changed = Changed { takes: true, ..Changed::default() };
    changed.visit_block(block);
    changed.found
}

#[derive(Default)]
struct Changed {
    found: BTreeMap<String, Ident>,
    /// What is bound at the place at hand.
    bound: Vec<String>,
    /// Whether it looks for what is given away, and not for what is changed.
    takes: bool,
}

impl Changed {
    fn bind(&mut self, pattern: &Pat) {
        self.bound.extend(bound(pattern).iter().map(ToString::to_string));
    }

    fn find(&mut self, name: &Ident) {
        if !self.bound.contains(&name.to_string()) {
            self.found.entry(name.to_string()).or_insert_with(|| name.clone());
        }
    }

    /// Notes a variable that stands for itself, where its value is taken.
    fn take(&mut self, value: &Expr) {
        if let Some(name) = name_of(value).filter(|_| self.takes) {
            self.find(name);
        }
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
        if let Some(init) = &local.init {
            self.take(&init.expr);
        }
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
        self.take(&looping.expr);
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
            _ if self.takes => None,
            Expr::Assign(assign) => base_of(&assign.left),
            Expr::Binary(binary) if assigns(&binary.op) => base_of(&binary.left),
            Expr::MethodCall(call) if !is_pure(&call.method) => base_of(&call.receiver),
            _ => None,
        };
        if let Some(name) = target {
            self.find(name);
        }
        match expr {
            Expr::Assign(assign) => self.take(&assign.right),
            Expr::Call(call) => call.args.iter().for_each(|argument| self.take(argument)),
            Expr::Tuple(tuple) => tuple.elems.iter().for_each(|part| self.take(part)),
            Expr::MethodCall(call) => {
                call.args.iter().for_each(|argument| self.take(argument));
                if call.method.to_string().starts_with("into_") {
                    self.take(&call.receiver);
                }
            }
            _ => {}
        }
        visit::visit_expr(self, expr);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let mut inner = BTreeMap::new();
        for argument in macro_arguments(mac).or_else(|| requested(mac)).unwrap_or_default() {
            let (found, bound) = (std::mem::take(&mut inner), self.bound.clone());
            let mut changed = Changed { found, bound, takes: self.takes };
            changed.visit_expr(&argument);
            inner = changed.found;
        }
        for (name, word) in inner {
            self.found.entry(name).or_insert(word);
        }
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
