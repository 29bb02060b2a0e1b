//! Which variables of a step get values that are not known before it.

use crate::{
    forms::{assigns, bound, is_endless, is_lending, is_pure, is_way_out, macro_arguments, visiting},
    known::Facts,
    names::base_of,
};
use proc_macro2::Ident;
use syn::{
    Block, Expr, Pat, UnOp,
    visit::{self, Visit},
};

/// Finds all variables of a step that are not known before it.
pub(crate) fn facts<'a>(body: &Block, mut facts: Facts<'a>) -> Facts<'a> {
    loop {
        let before = facts.unknown.len();
        Taint::new(&mut facts).visit_block(body);
        if facts.unknown.len() == before {
            return facts;
        }
    }
}

/// Whether a loop that nothing but jumps is sure to end may be left, or its rest skipped, for reasons that are not
/// known.
pub(crate) fn is_cut(facts: &mut Facts<'_>, body: &Block) -> bool {
    let mut taint = Taint::new(facts);
    taint.visit_block(body);
    taint.cuts.any(true)
}

/// Jumps for reasons that are not known.
#[derive(Clone, Copy, Default)]
struct Cuts {
    /// Of the loop at hand.
    here: bool,
    /// To a label.
    further: bool,
    /// Out of the step.
    out: bool,
}

impl Cuts {
    /// Whether a loop is cut short. Behind a way out of the step nobody asks for anything, so that it only counts where
    /// the loop would not end without it.
    fn any(self, is_open: bool) -> bool {
        self.here || self.further || is_open && self.out
    }
}

struct Taint<'a, 'b> {
    facts: &'a mut Facts<'b>,
    /// Why it is not known whether the statement at hand is executed, or how often.
    under: Option<String>,
    cuts: Cuts,
}

impl<'a, 'b> Taint<'a, 'b> {
    fn new(facts: &'a mut Facts<'b>) -> Self {
        Self { facts, under: None, cuts: Cuts::default() }
    }

    fn set(&mut self, names: Vec<Ident>, from: Option<&Expr>) {
        let why =
            from.and_then(|from| self.facts.unknown(from)).map(|_| "which gets a value that is not known".to_owned());
        if let Some(why) = why.or_else(|| self.under.clone()) {
            // What is done to shared ones is known from how the step uses them.
            for name in names.iter().filter(|name| !self.facts.names.contains_key(&name.to_string())) {
                self.facts.unknown.entry(name.to_string()).or_insert_with(|| why.clone());
            }
        }
    }

    /// A variable is changed by something that an inspector cannot do on a copy.
    fn refuse(&mut self, name: &Ident, why: &str) {
        if !self.facts.names.contains_key(&name.to_string()) {
            self.facts.unknown.entry(name.to_string()).or_insert_with(|| why.to_owned());
        }
    }

    /// A place is assigned.
    fn assign(&mut self, place: &Expr, value: &Expr) {
        let Some(base) = base_of(place).cloned() else { return };
        if behind_reference(place) && !self.facts.private.is_changed(&base.to_string()) {
            self.refuse(&base, "which is changed behind a reference; copy it first");
        }
        self.set(vec![base.clone()], Some(value));
        self.set(vec![base], Some(place));
    }

    /// A binding is seen where it stands alone, whether or not that is reached.
    fn bind(&mut self, names: Vec<Ident>, from: &Expr) {
        let before = self.under.take();
        self.set(names, Some(from));
        self.under = before;
    }

    fn under(&mut self, is_known: bool, what: &str, visit: impl FnOnce(&mut Self)) {
        let before = self.under.clone();
        if !is_known {
            self.under.get_or_insert_with(|| format!("which is changed {what}"));
        }
        visit(self);
        self.under = before;
    }

    fn is_known(&self, expr: &Expr) -> bool {
        self.facts.unknown(expr).is_none()
    }

    /// Goes through a loop, and says whether it is cut short. `head` is what happens in every round.
    fn looping(&mut self, is_known: bool, head: Option<&Expr>, body: &Block, is_open: bool) -> bool {
        let before = std::mem::take(&mut self.cuts);
        let visit = |taint: &mut Self| {
            if let Some(head) = head {
                taint.visit_expr(head);
            }
            taint.visit_block(body);
        };
        self.under(is_known, "in a loop whose length is not known", visit);
        let is_cut = self.cuts.any(is_open);
        if is_cut {
            self.under(false, "in a loop that is cut short under a condition that is not known", visit);
        }
        let Cuts { further, out, .. } = self.cuts;
        self.cuts = Cuts { here: before.here, further: before.further || further, out: before.out || out };
        is_cut
    }

    /// A method that may change its receiver is called.
    fn method(&mut self, call: &syn::ExprMethodCall) {
        let receiver: Vec<Ident> = base_of(&call.receiver).cloned().into_iter().collect();
        if let Some(base) = receiver.first() {
            if self.facts.private.refuses(base, &call.method).is_some() {
                self.refuse(base, &format!("which `{}` changes for good", call.method));
            }
            if is_lending(&call.method) {
                self.refuse(base, "which is lent to be changed");
            }
        }
        // Without `mut` there is nothing that it could change.
        if receiver.iter().any(|base| self.facts.private.is_changed(&base.to_string())) {
            self.set(receiver.clone(), Some(&call.receiver));
            call.args.iter().for_each(|argument| self.set(receiver.clone(), Some(argument)));
        }
    }

    fn for_loop(&mut self, looping: &syn::ExprForLoop) {
        if let Some((visiting, bounds)) = visiting(looping) {
            for bound in &bounds {
                Taint { facts: &mut *self.facts, under: self.under.clone(), cuts: self.cuts }.visit_expr(bound);
            }
            self.facts.around.push(visiting);
            let is_known = bounds.iter().all(|bound| self.is_known(bound));
            for name in bound(&looping.pat).iter().filter(|_| !is_known) {
                self.refuse(name, "which runs between bounds that are not known");
            }
            self.looping(is_known, None, &looping.body, false);
            self.facts.around.pop();
            return;
        }
        self.bind(bound(&looping.pat), &looping.expr);
        self.visit_expr(&looping.expr);
        let (is_known, is_open) = (self.is_known(&looping.expr), is_endless(&looping.expr));
        if self.looping(is_known, None, &looping.body, is_open) && is_open {
            for name in bound(&looping.pat) {
                self.refuse(&name, "which counts in a loop that an unknown condition ends");
            }
        }
    }
}

/// Whether a place is behind a reference: `*x`.
fn behind_reference(place: &Expr) -> bool {
    match place {
        Expr::Index(index) => behind_reference(&index.expr),
        Expr::Field(field) => behind_reference(&field.base),
        Expr::Paren(inner) => behind_reference(&inner.expr),
        Expr::Unary(unary) => matches!(unary.op, UnOp::Deref(_)),
        _ => false,
    }
}

impl<'ast> Visit<'ast> for Taint<'_, '_> {
    fn visit_local(&mut self, local: &'ast syn::Local) {
        let Some(init) = &local.init else { return };
        self.bind(bound(&local.pat), &init.expr);
        self.visit_expr(&init.expr);
        if let Some((_, otherwise)) = &init.diverge {
            let is_known = self.is_known(&init.expr);
            self.under(is_known, "under a condition that is not known", |taint| taint.visit_expr(otherwise));
        }
    }

    fn visit_pat(&mut self, pattern: &'ast Pat) {
        self.under(false, "in a guard", |taint| visit::visit_pat(taint, pattern));
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        let branch = "under a condition that is not known";
        match expr {
            Expr::Assign(assign) => {
                self.assign(&assign.left, &assign.right);
                visit::visit_expr(self, expr);
            }
            Expr::Binary(binary) if assigns(&binary.op) => {
                self.assign(&binary.left, &binary.right);
                visit::visit_expr(self, expr);
            }
            Expr::Binary(binary) if matches!(binary.op, syn::BinOp::And(_) | syn::BinOp::Or(_)) => {
                self.visit_expr(&binary.left);
                let is_known = self.is_known(&binary.left);
                self.under(is_known, branch, |taint| taint.visit_expr(&binary.right));
            }
            Expr::MethodCall(call) if !is_pure(&call.method) => {
                self.method(call);
                visit::visit_expr(self, expr);
            }
            Expr::Reference(reference) if reference.mutability.is_some() => {
                // Whoever gets it may do anything.
                if let Some(base) = base_of(&reference.expr) {
                    self.refuse(base, "which is lent to be changed");
                }
                visit::visit_expr(self, expr);
            }
            Expr::Let(test) => {
                self.bind(bound(&test.pat), &test.expr);
                self.visit_expr(&test.expr);
            }
            Expr::If(choice) => {
                let is_known = self.is_known(&choice.cond);
                self.under(is_known, "in a condition that is not known", |taint| taint.visit_expr(&choice.cond));
                self.under(is_known, branch, |taint| {
                    taint.visit_block(&choice.then_branch);
                    if let Some((_, other)) = &choice.else_branch {
                        taint.visit_expr(other);
                    }
                });
            }
            Expr::Match(choice) => {
                for arm in &choice.arms {
                    self.bind(bound(&arm.pat), &choice.expr);
                }
                self.visit_expr(&choice.expr);
                let is_known = self.is_known(&choice.expr)
                    && choice.arms.iter().all(|arm| self.facts.unknown_guard(&arm.pat).is_none());
                self.under(is_known, branch, |taint| choice.arms.iter().for_each(|arm| taint.visit_arm(arm)));
            }
            Expr::ForLoop(looping) => self.for_loop(looping),
            Expr::While(looping) => {
                let is_known = self.is_known(&looping.cond);
                self.looping(is_known, Some(&looping.cond), &looping.body, true);
            }
            Expr::Loop(looping) => {
                self.looping(true, None, &looping.body, true);
            }
            Expr::Block(block) if block.label.is_some() => {
                let before = std::mem::take(&mut self.cuts.further);
                visit::visit_expr(self, expr);
                if self.cuts.further {
                    self.under(false, branch, |taint| visit::visit_expr(taint, expr));
                }
                self.cuts.further |= before;
            }
            Expr::Closure(_) => self.under(false, "in a closure", |taint| visit::visit_expr(taint, expr)),
            Expr::Break(syn::ExprBreak { label, .. }) | Expr::Continue(syn::ExprContinue { label, .. }) => {
                if self.under.is_some() {
                    match label {
                        None => self.cuts.here = true,
                        Some(label) if is_way_out(label) => self.cuts.out = true,
                        Some(_) => self.cuts.further = true,
                    }
                }
                visit::visit_expr(self, expr);
            }
            _ => visit::visit_expr(self, expr),
        }
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        if let Some(arguments) = macro_arguments(mac) {
            for argument in &arguments {
                let mut inner = Taint { facts: &mut *self.facts, under: self.under.clone(), cuts: self.cuts };
                inner.visit_expr(argument);
                self.cuts = inner.cuts;
            }
        }
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
