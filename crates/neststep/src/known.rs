//! What is known before a step begins, and what is not.

use crate::{
    access::{ArrayUse, Uses},
    forms::{Visiting, assigns, bound, is_pure, is_visited, visiting},
    names::{Dist, Functions, Kind, Names, base_of, element, name_of},
    private::Private,
};
use proc_macro2::Ident;
use std::collections::{BTreeMap, BTreeSet};
use syn::{
    Block, Expr, Pat,
    visit::{self, Visit},
};

/// What is known of a step's names.
pub(crate) struct Facts<'a> {
    pub(crate) names: &'a Names,
    pub(crate) functions: &'a Functions,
    uses: &'a Uses,
    pub(crate) private: &'a Private,
    pub(crate) around: Vec<Visiting>,
    /// Private variables that are not known before the step, and why.
    pub(crate) unknown: BTreeMap<String, String>,
}

impl<'a> Facts<'a> {
    /// Finds all variables of a step that are not known before it.
    pub(crate) fn of(
        body: &Block,
        names: &'a Names,
        functions: &'a Functions,
        uses: &'a Uses,
        private: &'a Private,
    ) -> Self {
        let mut facts = Self { names, functions, uses, private, around: Vec::new(), unknown: BTreeMap::new() };
        loop {
            let before = facts.unknown.len();
            Taint { facts: &mut facts, under: None, is_cut: false }.visit_block(body);
            if facts.unknown.len() == before {
                return facts;
            }
        }
    }

    pub(crate) fn dist(&self, name: &Ident) -> Option<&Dist> {
        match self.names.get(&name.to_string()).map(|name| &name.kind) {
            Some(Kind::Dist(dist)) => Some(dist),
            _ => None,
        }
    }

    fn use_of(&self, name: &Ident) -> Option<&ArrayUse> {
        self.uses.arrays.get(&name.to_string())
    }

    /// Why an expression is not known before the step, if it is not.
    pub(crate) fn unknown(&self, expr: &Expr) -> Option<String> {
        let mut known = Known { facts: self, around: self.around.clone(), found: None };
        known.visit_expr(expr);
        known.found
    }

    /// Why a guard in a pattern is not known before the step.
    pub(crate) fn unknown_guard(&self, pattern: &Pat) -> Option<String> {
        let mut known = Known { facts: self, around: self.around.clone(), found: None };
        known.visit_pat(pattern);
        known.found
    }
}

/// Finds what makes an expression unknown.
struct Known<'a, 'b> {
    facts: &'a Facts<'b>,
    around: Vec<Visiting>,
    found: Option<String>,
}

impl Known<'_, '_> {
    fn find(&mut self, why: String) {
        self.found.get_or_insert(why);
    }
}

impl<'ast> Visit<'ast> for Known<'_, '_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Index(_) if element(expr).is_some_and(|(name, _)| self.facts.dist(name).is_some()) => {
                let (name, at) = element(expr).expect("it is one");
                let is_here = is_visited(&self.around, name, &at);
                let is_written = self.facts.use_of(name).is_some_and(ArrayUse::is_written);
                if !is_here {
                    self.find(format!("it depends on an element of `{name}` that the step reads"));
                } else if is_written {
                    self.find(format!("it depends on an element of `{name}`, which the step writes"));
                }
            }
            Expr::Path(_) => {
                let Some(name) = name_of(expr) else { return };
                let word = name.to_string();
                if let Some(why) = self.facts.unknown.get(&word) {
                    self.find(format!("it depends on `{word}`, {why}"));
                } else if self.facts.uses.written.contains_key(&word) {
                    self.find(format!("it depends on `{word}`, which the step writes"));
                }
            }
            Expr::Call(call) => {
                let word = name_of(&call.func).map(ToString::to_string).unwrap_or_default();
                if self.facts.functions.contains_key(&word) {
                    self.find(format!("it depends on what `{word}` returns"));
                }
                if self.facts.private.is_changed(&word) {
                    self.find(format!("it depends on what `{word}` changes whenever it is called"));
                }
                if matches!(word.as_str(), "owner" | "owned") {
                    let parts: Vec<&Expr> = call.args.iter().filter_map(element).flat_map(|(_, at)| at).collect();
                    for at in parts {
                        self.visit_expr(at);
                    }
                    return;
                }
                visit::visit_expr(self, expr);
            }
            Expr::MethodCall(call) => {
                if let Some(base) = base_of(&call.receiver)
                    && let Some(why) = self.facts.private.refuses(base, &call.method)
                {
                    self.find(why);
                }
                visit::visit_expr(self, expr);
            }
            Expr::Macro(_) => self.find("it depends on a macro".to_owned()),
            Expr::Try(_) | Expr::Return(_) | Expr::Break(_) | Expr::Await(_) => {
                self.find("it depends on a way out".to_owned());
            }
            Expr::Assign(_) => self.find("it depends on an assignment inside of it".to_owned()),
            _ => visit::visit_expr(self, expr),
        }
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// Finds the variables that get values which are not known.
struct Taint<'a, 'b> {
    facts: &'a mut Facts<'b>,
    /// Why it is not known whether the statement at hand is executed, or how often.
    under: Option<String>,
    /// Whether the loop at hand may be left, or its rest skipped, for reasons that are not known.
    is_cut: bool,
}

impl Taint<'_, '_> {
    fn set(&mut self, names: Vec<Ident>, from: Option<&Expr>) {
        let why =
            from.and_then(|from| self.facts.unknown(from)).map(|_| "which gets a value that is not known".to_owned());
        if let Some(why) = why.or_else(|| self.under.clone()) {
            for name in names {
                self.facts.unknown.entry(name.to_string()).or_insert_with(|| why.clone());
            }
        }
    }

    /// A binding is seen where it stands alone, whether or not that is reached.
    fn bind(&mut self, names: Vec<Ident>, from: &Expr) {
        let before = self.under.take();
        self.set(names, Some(from));
        self.under = before;
    }

    fn under(&mut self, condition: Option<&Expr>, what: &str, visit: impl FnOnce(&mut Self)) {
        let before = self.under.clone();
        if condition.is_none_or(|condition| self.facts.unknown(condition).is_some()) {
            self.under.get_or_insert_with(|| format!("which is changed {what}"));
        }
        visit(self);
        self.under = before;
    }

    fn looping(&mut self, condition: Option<&Expr>, body: &Block) {
        let what = "in a loop whose length is not known";
        let before = std::mem::take(&mut self.is_cut);
        self.under(condition, what, |taint| taint.visit_block(body));
        if self.is_cut {
            self.under(None, "in a loop that is cut short under a condition that is not known", |taint| {
                taint.visit_block(body);
            });
        }
        self.is_cut = before;
    }
}

impl<'ast> Visit<'ast> for Taint<'_, '_> {
    fn visit_local(&mut self, local: &'ast syn::Local) {
        if let Some(init) = &local.init {
            self.bind(bound(&local.pat), &init.expr);
        }
        visit::visit_local(self, local);
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Assign(assign) => {
                self.set(base_of(&assign.left).cloned().into_iter().collect(), Some(&assign.right));
                visit::visit_expr(self, expr);
            }
            Expr::Binary(binary) if assigns(&binary.op) => {
                self.set(base_of(&binary.left).cloned().into_iter().collect(), Some(&binary.right));
                visit::visit_expr(self, expr);
            }
            Expr::MethodCall(call) if !is_pure(&call.method) => {
                let receiver: Vec<Ident> = base_of(&call.receiver).cloned().into_iter().collect();
                if let Some(base) = receiver.first()
                    && self.facts.private.refuses(base, &call.method).is_some()
                {
                    let why = format!("which `{}` changes for good", call.method);
                    self.facts.unknown.entry(base.to_string()).or_insert(why);
                }
                if call.args.is_empty() {
                    self.set(receiver, None);
                } else {
                    call.args.iter().for_each(|argument| self.set(receiver.clone(), Some(argument)));
                }
                visit::visit_expr(self, expr);
            }
            Expr::Reference(reference) if reference.mutability.is_some() => {
                // Whoever gets it may do anything.
                let before = self.under.replace("which is lent to be changed".to_owned());
                self.set(base_of(&reference.expr).cloned().into_iter().collect(), None);
                self.under = before;
                visit::visit_expr(self, expr);
            }
            Expr::If(branch) => {
                if let Expr::Let(test) = &*branch.cond {
                    self.bind(bound(&test.pat), &test.expr);
                }
                self.visit_expr(&branch.cond);
                let what = "under a condition that is not known";
                self.under(Some(&branch.cond), what, |taint| {
                    taint.visit_block(&branch.then_branch);
                    if let Some((_, other)) = &branch.else_branch {
                        taint.visit_expr(other);
                    }
                });
            }
            Expr::Match(choice) => {
                for arm in &choice.arms {
                    self.bind(bound(&arm.pat), &choice.expr);
                }
                self.visit_expr(&choice.expr);
                self.under(Some(&choice.expr), "under a condition that is not known", |taint| {
                    choice.arms.iter().for_each(|arm| taint.visit_arm(arm));
                });
            }
            Expr::ForLoop(looping) => {
                if let Some((visiting, bounds)) = visiting(looping) {
                    self.facts.around.push(visiting);
                    let unknown = bounds.iter().find(|bound| self.facts.unknown(bound).is_some()).cloned();
                    let known: Expr = syn::parse_quote!(0);
                    self.looping(Some(&unknown.unwrap_or(known)), &looping.body);
                    self.facts.around.pop();
                } else {
                    self.bind(bound(&looping.pat), &looping.expr);
                    self.visit_expr(&looping.expr);
                    self.looping(Some(&looping.expr), &looping.body);
                }
            }
            Expr::While(looping) => {
                self.visit_expr(&looping.cond);
                self.looping(Some(&looping.cond), &looping.body);
            }
            Expr::Loop(looping) => {
                self.looping(None, &looping.body);
            }
            Expr::Break(_) | Expr::Continue(_) => {
                self.is_cut |= self.under.is_some();
                visit::visit_expr(self, expr);
            }
            _ => visit::visit_expr(self, expr),
        }
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// The names that are bound inside of a step.
pub(crate) struct Bindings(pub(crate) BTreeSet<String>);

impl<'ast> Visit<'ast> for Bindings {
    fn visit_pat(&mut self, pattern: &'ast Pat) {
        self.0.extend(bound(pattern).iter().map(ToString::to_string));
    }
}

/// The variables that are changed inside of a step.
pub(crate) struct Changed(pub(crate) BTreeMap<String, Ident>);

impl<'ast> Visit<'ast> for Changed {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        let target = match expr {
            Expr::Assign(assign) => base_of(&assign.left),
            Expr::Binary(binary) if assigns(&binary.op) => base_of(&binary.left),
            Expr::MethodCall(call) if !is_pure(&call.method) => base_of(&call.receiver),
            _ => None,
        };
        if let Some(name) = target {
            self.0.entry(name.to_string()).or_insert_with(|| name.clone());
        }
        visit::visit_expr(self, expr);
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
