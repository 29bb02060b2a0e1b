//! What is known before a step begins, and what is not.

use crate::{
    access::{ArrayUse, Uses},
    forms::{Visiting, is_visited, is_way_out},
    names::{Dist, Functions, Kind, Names, base_of, element, name_of},
    private::Private,
};
use proc_macro2::Ident;
use std::collections::BTreeMap;
use syn::{
    Expr, Pat,
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
    /// Nothing is found out yet.
    pub(crate) fn new(names: &'a Names, functions: &'a Functions, uses: &'a Uses, private: &'a Private) -> Self {
        Self { names, functions, uses, private, around: Vec::new(), unknown: BTreeMap::new() }
    }

    pub(crate) fn dist(&self, name: &Ident) -> Option<&Dist> {
        match self.names.get(&name.to_string()).map(|name| &name.kind) {
            Some(Kind::Dist(dist)) => Some(dist),
            _ => None,
        }
    }

    pub(crate) fn use_of(&self, name: &str) -> Option<&ArrayUse> {
        self.uses.arrays.get(name)
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
                let is_written = self.facts.use_of(&name.to_string()).is_some_and(ArrayUse::is_written);
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
            // The inspector ends there as the step does.
            Expr::Break(jump) if jump.label.as_ref().is_some_and(is_way_out) => {}
            Expr::Try(_) | Expr::Return(_) | Expr::Break(_) | Expr::Await(_) => {
                self.find("it depends on a way out".to_owned());
            }
            Expr::Assign(_) => self.find("it depends on an assignment inside of it".to_owned()),
            _ => visit::visit_expr(self, expr),
        }
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
