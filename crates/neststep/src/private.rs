//! The private variables of a function: which of them can be copied, so that an inspector may change its copy.

use proc_macro2::Ident;
use std::collections::BTreeSet;
use syn::{
    FnArg, ItemFn, Pat, PatIdent, Type,
    visit::{self, Visit},
};

/// Methods that change what is behind a shared reference: there is no copy of that to try them on.
const LASTING: [&str; 20] = [
    "set",
    "replace",
    "take",
    "swap",
    "update",
    "lock",
    "try_lock",
    "read",
    "write",
    "recv",
    "try_recv",
    "recv_timeout",
    "send",
    "try_send",
    "store",
    "compare_exchange",
    "borrow_mut",
    "try_borrow_mut",
    "get_or_init",
    "next",
];

/// What is known of a function's private variables from how they are declared.
#[derive(Debug, Default)]
pub(crate) struct Private {
    /// Those that are declared `mut`: what a method changes is the variable's own.
    changed: BTreeSet<String>,
    /// Parameters that are borrowed to be changed.
    lent: BTreeSet<String>,
    /// All of them.
    bound: BTreeSet<String>,
}

impl Private {
    pub(crate) fn of(function: &ItemFn) -> Self {
        let mut private = Self::default();
        private.visit_item_fn(function);
        private
    }

    /// Whether a variable may be changed, and is its own.
    pub(crate) fn is_changed(&self, name: &str) -> bool {
        self.changed.contains(name)
    }

    /// Whether a name is that of a variable, and of no constant or function.
    pub(crate) fn is_bound(&self, name: &str) -> bool {
        self.bound.contains(name) && !name.starts_with(char::is_uppercase)
    }

    /// Why a method of a variable cannot be called on a copy of it.
    pub(crate) fn refuses(&self, name: &Ident, method: &Ident) -> Option<String> {
        let word = name.to_string();
        if self.lent.contains(&word) {
            return Some(format!(
                "it depends on `{name}`, which is borrowed; copy it first, `let mut copy = {name}.clone();`"
            ));
        }
        let is_lasting = LASTING.iter().any(|lasting| method == lasting) || method.to_string().starts_with("fetch_");
        (is_lasting && !self.is_changed(&word))
            .then(|| format!("it depends on `{name}`, which `{method}` changes for good"))
    }
}

impl<'ast> Visit<'ast> for Private {
    fn visit_fn_arg(&mut self, argument: &'ast FnArg) {
        if let FnArg::Typed(typed) = argument
            && let (Pat::Ident(name), Type::Reference(reference)) = (&*typed.pat, &*typed.ty)
            && reference.mutability.is_some()
        {
            self.lent.insert(name.ident.to_string());
        }
        visit::visit_fn_arg(self, argument);
    }

    fn visit_pat_ident(&mut self, pattern: &'ast PatIdent) {
        if pattern.mutability.is_some() && pattern.by_ref.is_none() {
            self.changed.insert(pattern.ident.to_string());
        }
        self.bound.insert(pattern.ident.to_string());
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
