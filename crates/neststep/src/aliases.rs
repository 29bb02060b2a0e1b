//! Private names for distributed arrays: references to them, and closures that look at them.

use crate::{
    forms::{bound, collect_words},
    names::{Kind, Names, name_of},
};
use proc_macro2::Ident;
use quote::quote;
use std::collections::BTreeSet;
use syn::{
    Block, Expr, Local,
    visit::{self, Visit},
};

/// All private names by which a function may look at its distributed arrays.
pub(crate) fn aliases(body: &Block, names: &Names) -> BTreeSet<String> {
    let mut aliases = Aliases { names, found: BTreeSet::new() };
    loop {
        let before = aliases.found.len();
        aliases.visit_block(body);
        if aliases.found.len() == before {
            return aliases.found;
        }
    }
}

struct Aliases<'a> {
    names: &'a Names,
    found: BTreeSet<String>,
}

impl Aliases<'_> {
    fn is_array(&self, name: &Ident) -> bool {
        let name = name.to_string();
        let is_declared = self.names.get(&name).is_some_and(|name| matches!(name.kind, Kind::Dist(_)));
        is_declared || self.found.contains(&name)
    }

    /// Whether a value is such an array itself, or has a reference to one inside.
    fn leads_there(&self, value: &Expr) -> bool {
        match value {
            Expr::Path(_) => name_of(value).is_some_and(|name| self.is_array(name)),
            Expr::Reference(reference) => self.leads_there(&reference.expr),
            Expr::Paren(inner) => self.leads_there(&inner.expr),
            Expr::Group(inner) => self.leads_there(&inner.expr),
            Expr::Tuple(tuple) => tuple.elems.iter().any(|value| self.leads_there(value)),
            Expr::Array(array) => array.elems.iter().any(|value| self.leads_there(value)),
            Expr::Struct(made) => made.fields.iter().any(|field| self.leads_there(&field.expr)),
            // What a function returns is another value, unless it is handed a reference that it may return.
            Expr::Call(call) => {
                let is_made = |value: &Expr| matches!(value, Expr::Reference(_)) || is_constructor(&call.func);
                call.args.iter().any(|value| is_made(value) && self.leads_there(value))
            }
            Expr::Closure(closure) => {
                let (mut words, body) = (Vec::new(), &closure.body);
                collect_words(quote!(#body), &mut words);
                words.iter().any(|word| self.is_array(word))
            }
            _ => false,
        }
    }
}

/// Whether a function makes a value of its arguments: a variant or a struct, by how it is written.
fn is_constructor(function: &Expr) -> bool {
    let Expr::Path(path) = function else { return false };
    path.path.segments.last().is_some_and(|word| word.ident.to_string().starts_with(char::is_uppercase))
}

impl<'ast> Visit<'ast> for Aliases<'_> {
    fn visit_local(&mut self, local: &'ast Local) {
        if let Some(init) = &local.init
            && local.attrs.is_empty()
            && self.leads_there(&init.expr)
        {
            self.found.extend(bound(&local.pat).iter().map(ToString::to_string));
        }
        visit::visit_local(self, local);
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
