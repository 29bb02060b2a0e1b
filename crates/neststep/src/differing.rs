//! Which private variables may differ between processors.

use crate::{
    forms::{bound, collect_words},
    names::{Kind, Names, base_of},
};
use quote::ToTokens;
use std::collections::BTreeSet;
use syn::{
    Block, Expr,
    visit::{self, Visit},
};

/// Private variables that may differ between processors. It is a guess for a warning.
#[derive(Debug, Default)]
pub(crate) struct Differing {
    /// They get values made of the rank, of elements, or of each other.
    pub(crate) perhaps: BTreeSet<String>,
    /// And these of the rank.
    pub(crate) by_rank: BTreeSet<String>,
}

/// Guesses them.
pub(crate) fn differing(body: &Block, names: &Names) -> Differing {
    Differing { perhaps: found(body, names, true), by_rank: found(body, names, false) }
}

fn found(body: &Block, names: &Names, by_elements: bool) -> BTreeSet<String> {
    struct Find<'a>(BTreeSet<String>, &'a Names, bool);
    impl Find<'_> {
        fn differs(&self, expr: &Expr) -> bool {
            let mut words = Vec::new();
            collect_words(expr.to_token_stream(), &mut words);
            let has = |what: &str| words.iter().any(|word| word == what);
            let is_element = self.2
                && words
                    .iter()
                    .any(|word| matches!(self.1.get(&word.to_string()).map(|name| &name.kind), Some(Kind::Dist(_))))
                && !has("len");
            has("rank") && has("__group") || is_element || words.iter().any(|word| self.0.contains(&word.to_string()))
        }
    }
    impl<'ast> Visit<'ast> for Find<'_> {
        fn visit_local(&mut self, local: &'ast syn::Local) {
            if local.init.as_ref().is_some_and(|init| self.differs(&init.expr)) {
                self.0.extend(bound(&local.pat).iter().map(ToString::to_string));
            }
            visit::visit_local(self, local);
        }

        fn visit_expr_assign(&mut self, assign: &'ast syn::ExprAssign) {
            if self.differs(&assign.right)
                && let Some(name) = base_of(&assign.left)
                && !self.1.contains_key(&name.to_string())
            {
                self.0.insert(name.to_string());
            }
            visit::visit_expr_assign(self, assign);
        }
    }
    let mut find = Find(BTreeSet::new(), names, by_elements);
    loop {
        let before = find.0.len();
        find.visit_block(body);
        if find.0.len() == before {
            return find.0;
        }
    }
}
