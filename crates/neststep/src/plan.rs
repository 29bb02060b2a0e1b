//! What is to be done for each step of a function, worked out before anything is rewritten.
//!
//! A step that fetches needs a boundary before it. That of the step before will do, if nothing between the two, and
//! nothing that the inspector looks at, waits for what that boundary brings. Then the earlier step stays open until the
//! later one begins, around a loop as well, and k steps in a row have k boundaries and the first fetch one more.

use crate::{
    access::{Scan, Uses},
    aliases::aliases,
    combining::{Combine, combines},
    differing::{Differing, differing},
    forms::collect_words,
    inspect::{Inspector, inspector},
    names::{Functions, Kind, Name, Names, arguments, attribute, kind},
    private::Private,
    sugar::write_out,
};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::quote;
use std::collections::{BTreeSet, HashMap};
use syn::{
    Block, Error, Expr, ExprBlock, Meta, Pat, Stmt, parse_quote,
    spanned::Spanned,
    visit::{self, Visit},
    visit_mut::{self, VisitMut},
};

/// A step without subgroups.
#[derive(Debug)]
pub(crate) struct Leaf {
    pub(crate) span: Span,
    pub(crate) uses: Uses,
    pub(crate) inspector: Option<Inspector>,
    pub(crate) combine: Vec<Combine>,
    /// Whether its boundary is left to the step that follows.
    pub(crate) is_open: bool,
    /// The steps whose boundary it holds when it begins.
    pub(crate) before: Vec<usize>,
    /// Arrays that statements right before it ask to be mirrored.
    pub(crate) mirrored: Vec<String>,
}

#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) names: Names,
    pub(crate) leaves: HashMap<usize, Leaf>,
    pub(crate) combines: HashMap<usize, Vec<Combine>>,
    pub(crate) errors: Vec<Error>,
    /// Steps that may still be open behind a loop, by the loop's number.
    pub(crate) behind: HashMap<usize, Vec<usize>>,
    /// Private variables that may differ between processors.
    pub(crate) differing: Differing,
}

/// The number of a step, which its attribute carries.
pub(crate) fn number(step: &ExprBlock) -> Option<usize> {
    let arguments = arguments(attribute(&step.attrs, "__step")?);
    match arguments.into_iter().next()? {
        TokenTree::Literal(number) => number.to_string().parse().ok(),
        _ => None,
    }
}

/// What a nesting step says of its subgroups; none for a plain step.
pub(crate) fn how(step: &ExprBlock) -> Option<TokenStream> {
    let arguments: TokenStream = arguments(attribute(&step.attrs, "__step")?).into_iter().skip(1).collect();
    (!arguments.is_empty()).then_some(arguments)
}

/// The step that an expression is.
pub(crate) fn step_of(expr: &Expr) -> Option<&ExprBlock> {
    match expr {
        Expr::Block(step) if attribute(&step.attrs, "__step").is_some() => Some(step),
        _ => None,
    }
}

fn plain_step(stmt: &Stmt) -> Option<&ExprBlock> {
    match stmt {
        Stmt::Expr(expr, _) => step_of(expr).filter(|step| how(step).is_none()),
        _ => None,
    }
}

/// Gives each step and each loop its number.
struct Numbers(usize);

impl VisitMut for Numbers {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let number = proc_macro2::Literal::usize_unsuffixed(self.0);
        match expr {
            Expr::ForLoop(looping) => looping.attrs.push(parse_quote!(#[__loop(#number)])),
            Expr::While(looping) => looping.attrs.push(parse_quote!(#[__loop(#number)])),
            _ => {}
        }
        self.0 += 1;
        visit_mut::visit_expr_mut(self, expr);
    }

    fn visit_expr_block_mut(&mut self, block: &mut ExprBlock) {
        for attribute in block.attrs.iter_mut().filter(|attribute| attribute.path().is_ident("__step")) {
            if let Meta::List(list) = &mut attribute.meta {
                let (number, rest) = (proc_macro2::Literal::usize_unsuffixed(self.0), &list.tokens);
                list.tokens = quote!(#number #rest);
                self.0 += 1;
            }
        }
        visit_mut::visit_expr_block_mut(self, block);
    }
}

/// Plans a function. `names` has its parameters.
pub(crate) fn plan(body: &mut Block, names: Names, functions: &Functions, private: &Private) -> Plan {
    Numbers(0).visit_block_mut(body);
    let mut declared = Declared { names, errors: Vec::new(), level: 0, loops: 0 };
    declared.visit_block(body);
    let Declared { names, mut errors, .. } = declared;
    write_out(body, &names, &mut errors);
    let mut plan = Plan { names, errors, ..Plan::default() };
    let aliases = aliases(body, &plan.names);
    let mut planner = Planner { plan: &mut plan, functions, private, aliases, mirrored: BTreeSet::new(), level: 0 };
    planner.block(body, None);
    plan.differing = differing(body, &plan.names);
    plan
}

/// Collects the declarations of a function, each of which has a name of its own.
struct Declared {
    names: Names,
    errors: Vec<Error>,
    level: usize,
    loops: usize,
}

impl Declared {
    /// What is translated together is not left out in part.
    fn refuse_cfg(&mut self, attributes: &[syn::Attribute]) {
        if let Some(cfg) = attribute(attributes, "cfg").or_else(|| attribute(attributes, "cfg_attr")) {
            let message = "`cfg` cannot leave this out; write `if cfg!(…) { … }`, or put it on the function";
            self.errors.push(Error::new_spanned(cfg, message));
        }
    }
}

impl<'ast> Visit<'ast> for Declared {
    fn visit_local(&mut self, local: &'ast syn::Local) {
        if let Some(attribute) = attribute(&local.attrs, "__sh")
            && let Pat::Type(typed) = &local.pat
            && let Pat::Ident(name) = &*typed.pat
        {
            self.refuse_cfg(&local.attrs);
            match kind(attribute, &typed.ty, false, self.level) {
                Ok(kind) => {
                    let name = &name.ident;
                    let entry = Name { kind, loops: self.loops, level: self.level };
                    if self.names.insert(name.to_string(), entry).is_some() {
                        let message =
                            format!("`{name}` is shared already; each shared name of a function is declared once");
                        self.errors.push(Error::new(name.span(), message));
                    }
                }
                Err(error) => self.errors.push(error),
            }
            return;
        }
        visit::visit_local(self, local);
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        let is_loop = matches!(expr, Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_));
        let is_nest = step_of(expr).is_some_and(|step| how(step).is_some());
        self.loops += usize::from(is_loop);
        self.level += usize::from(is_nest);
        if let Some(step) = step_of(expr)
            && how(step).is_none()
        {
            let inner = step.block.stmts.iter().find_map(|stmt| match stmt {
                Stmt::Local(local) => attribute(&local.attrs, "__sh"),
                _ => None,
            });
            if let Some(inner) = inner {
                let message = "a shared variable is declared before the step that uses it";
                self.errors.push(Error::new(inner.path().span(), message));
            }
        }
        let ours = ["__step", "__seq", "__epoch", "__forall"];
        if let Expr::Block(syn::ExprBlock { attrs, .. }) | Expr::ForLoop(syn::ExprForLoop { attrs, .. }) = expr
            && ours.iter().any(|word| attribute(attrs, word).is_some())
        {
            self.refuse_cfg(attrs);
        }
        visit::visit_expr(self, expr);
        self.loops -= usize::from(is_loop);
        self.level -= usize::from(is_nest);
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// The loop around a block: its condition, if it is asked each time.
#[derive(Clone, Copy)]
struct Around<'a> {
    condition: Option<&'a Expr>,
    body: &'a Block,
    key: &'a Expr,
}

struct Planner<'a> {
    plan: &'a mut Plan,
    functions: &'a Functions,
    private: &'a Private,
    /// Private names by which arrays may be looked at.
    aliases: BTreeSet<String>,
    /// Arrays for which there was a `mirror` somewhere before.
    mirrored: BTreeSet<String>,
    /// In how many nesting steps the statement at hand is.
    level: usize,
}

/// The number of a loop, which an attribute carries.
pub(crate) fn loop_number(expr: &Expr) -> Option<usize> {
    let attributes = match expr {
        Expr::ForLoop(looping) => &looping.attrs,
        Expr::While(looping) => &looping.attrs,
        _ => return None,
    };
    arguments(attribute(attributes, "__loop")?).to_string().parse().ok()
}

impl Planner<'_> {
    fn scan(&self, visit: impl FnOnce(&mut Scan<'_>)) -> Uses {
        let mut scan = Scan::new(&self.plan.names, self.functions);
        visit(&mut scan);
        scan.finish()
    }

    /// Whether a statement neither uses anything shared nor leads elsewhere.
    fn is_quiet(&self, stmt: &Stmt) -> bool {
        let uses = self.scan(|scan| scan.visit_stmt(stmt));
        is_quiet(&uses) && !self.has_alias(quote!(#stmt))
    }

    fn has_alias(&self, code: TokenStream) -> bool {
        let mut words = Vec::new();
        collect_words(code, &mut words);
        words.iter().any(|word| self.aliases.contains(&word.to_string()))
    }

    fn block(&mut self, block: &Block, around: Option<Around<'_>>) {
        let mut asked: Vec<String> = Vec::new();
        for stmt in &block.stmts {
            if let Some(step) = plain_step(stmt) {
                self.leaf(step, std::mem::take(&mut asked));
                continue;
            }
            self.inside(stmt);
            if let Stmt::Expr(Expr::Call(_), _) = stmt {
                let uses = self.scan(|scan| scan.visit_stmt(stmt));
                let all = uses.arrays.iter().filter(|(_, array)| array.is_mirrored).map(|(name, _)| name.clone());
                asked.extend(all);
            }
        }
        for (at, stmt) in block.stmts.iter().enumerate() {
            if let Some(step) = plain_step(stmt)
                && let Some(number) = number(step)
            {
                self.follow(number, block, at, around);
            }
        }
    }

    /// Plans what is inside of a statement that is no step.
    fn inside(&mut self, stmt: &Stmt) {
        struct Blocks<'a, 'b>(&'a mut Planner<'b>);
        impl<'ast> Visit<'ast> for Blocks<'_, '_> {
            fn visit_expr(&mut self, expr: &'ast Expr) {
                match expr {
                    Expr::ForLoop(looping) => {
                        self.visit_expr(&looping.expr);
                        self.0.block(&looping.body, Some(Around { condition: None, body: &looping.body, key: expr }));
                    }
                    Expr::While(looping) => {
                        let condition = Some(&*looping.cond);
                        self.0.block(&looping.body, Some(Around { condition, body: &looping.body, key: expr }));
                    }
                    Expr::Block(step) if step_of(expr).is_some() => {
                        if how(step).is_none() {
                            // It has ways out, so its boundary comes at once.
                            self.0.leaf(step, Vec::new());
                        } else {
                            self.0.combine(step);
                            self.0.level += 1;
                            self.0.block(&step.block, None);
                            self.0.level -= 1;
                        }
                    }
                    Expr::Closure(_) => {
                        let uses = self.0.scan(|scan| scan.visit_expr(expr));
                        if let Some(span) = uses.steps {
                            let message = "a step in a closure: nobody sees when it is called; write a function";
                            self.0.plan.errors.push(Error::new(span, message));
                        }
                    }
                    _ => visit::visit_expr(self, expr),
                }
            }

            fn visit_block(&mut self, block: &'ast Block) {
                self.0.block(block, None);
            }

            fn visit_item(&mut self, _: &'ast syn::Item) {}
        }
        Blocks(self).visit_stmt(stmt);
    }

    fn combine(&mut self, step: &ExprBlock) -> Vec<Combine> {
        let Some(attribute) = attribute(&step.attrs, "__combine") else { return Vec::new() };
        match combines(arguments(attribute)) {
            Ok(list) => {
                for one in &list {
                    match self.plan.names.get(&one.name.to_string()).map(|name| &name.kind) {
                        Some(Kind::Replica(_)) => {}
                        Some(Kind::Dist(_)) if one.strategy.prefix.is_some() => {
                            let message = "there is no prefix of the elements of a distributed array";
                            self.plan.errors.push(Error::new(one.name.span(), message));
                        }
                        Some(Kind::Dist(_)) => {
                            let message =
                                format!("`{}` is distributed: its operator stands at its declaration", one.name);
                            self.plan.errors.push(Error::new(one.name.span(), message));
                        }
                        _ => {
                            let message = format!("`{}` is no replicated variable", one.name);
                            self.plan.errors.push(Error::new(one.name.span(), message));
                        }
                    }
                }
                if let Some(number) = number(step) {
                    self.plan.combines.insert(number, list.clone());
                }
                list
            }
            Err(error) => {
                self.plan.errors.push(error);
                Vec::new()
            }
        }
    }

    fn leaf(&mut self, step: &ExprBlock, asked: Vec<String>) {
        let Some(number) = number(step) else { return };
        let span = attribute(&step.attrs, "__step").map_or_else(Span::call_site, |attribute| attribute.path().span());
        let combine = self.combine(step);
        let mut uses = self.scan(|scan| scan.visit_block(&step.block));
        self.plan.errors.append(&mut uses.errors);
        if let Some(inner) = uses.steps {
            let message = "a step inside of a step that has no subgroups; end the outer one first, or write `step<1>`";
            self.plan.errors.push(Error::new(inner, message));
        }
        for (name, array) in &uses.arrays {
            self.check_array(name, array);
        }
        let is_dynamic = attribute(&step.attrs, "dynamic").is_some();
        let fetched: BTreeSet<&String> =
            uses.arrays.iter().filter(|(_, array)| array.fetches()).map(|(name, _)| name).collect();
        let mut made = None;
        if !fetched.is_empty() {
            let mut skipped: BTreeSet<String> = BTreeSet::new();
            if is_dynamic {
                skipped.extend(fetched.iter().map(|name| (*name).clone()));
            }
            // What is mirrored need not be fetched, and what is not mirrored is an error at run time.
            skipped.extend(
                fetched
                    .iter()
                    .filter(|name| asked.contains(name) || self.mirrored.contains(**name))
                    .map(|name| (*name).clone()),
            );
            match inspector(&step.block, &self.plan.names, self.functions, &uses, self.private, &skipped) {
                Ok(inspector) if inspector.arrays.is_empty() => {}
                Ok(inspector) => made = Some(inspector),
                Err(errors) => self.plan.errors.extend(errors),
            }
        }
        let fetched = made.iter().flat_map(|inspector| &inspector.arrays);
        let outer: Vec<String> = self.of_outer_groups(fetched.chain(uses.stored()));
        for name in outer {
            let message = format!(
                "`{name}` belongs to the group around this nesting step, and only that group moves its elements; begin \
                 the nesting step with `sh part: [T]</> = import({name}[..]);`, and end it with `export(part);`"
            );
            self.plan.errors.push(Error::new(span, message));
        }
        // A mirror in this step is for the next one.
        self.mirrored =
            uses.arrays.iter().filter(|(_, array)| array.is_mirrored).map(|(name, _)| name.clone()).collect();
        let leaf = Leaf { span, uses, inspector: made, combine, is_open: false, before: Vec::new(), mirrored: asked };
        self.plan.leaves.insert(number, leaf);
    }

    /// Those arrays among these that were declared outside of the nesting step at hand.
    fn of_outer_groups<'a>(&self, names: impl Iterator<Item = &'a String>) -> Vec<String> {
        let is_outer = |name: &&String| self.plan.names.get(*name).is_some_and(|name| name.level < self.level);
        let outer: BTreeSet<&String> = names.filter(is_outer).collect();
        outer.into_iter().cloned().collect()
    }

    fn check_array(&mut self, name: &str, array: &crate::access::ArrayUse) {
        let Some(Name { kind: Kind::Dist(dist), .. }) = self.plan.names.get(name) else { return };
        if let Some(moved) = array.moved.filter(|_| array.is_written()) {
            let message = format!("`{name}` is moved as a whole and written in the same step; give each its own step");
            self.plan.errors.push(Error::new(moved, message));
        }
        if !dist.op.combines() {
            return;
        }
        if let (crate::names::Op::Function(_), Some(&place)) = (&dist.op, array.assigns.first()) {
            let message = format!(
                "elements of `{name}` combine by a function, which has no neutral value; an element is changed by \
                 `{name}[i] = f({name}[i], x)` with that function, and never assigned otherwise"
            );
            self.plan.errors.push(Error::new(place, message));
        }
        if let Some(passed) = array.passed {
            let message = format!(
                "`{name}` combines what is written to it, so a function gets it between steps, and steps itself"
            );
            self.plan.errors.push(Error::new(passed, message));
        }
    }

    /// Finds the step that can hold the boundary of this one when it begins, if there is one.
    fn follow(&mut self, number: usize, block: &Block, at: usize, around: Option<Around<'_>>) {
        let Some(leaf) = self.plan.leaves.get(&number) else { return };
        if !leaf.combine.is_empty() || leaf.uses.calls || leaf.uses.jumps {
            return;
        }
        if leaf.uses.arrays.values().any(crate::access::ArrayUse::mixes) {
            return;
        }
        // What the ranks below contribute goes to a private variable, which may be looked at at once.
        let has_prefix = |name: &String| match self.plan.names.get(name).map(|name| &name.kind) {
            Some(Kind::Replica(replica)) => replica.strategy.prefix.is_some(),
            _ => false,
        };
        if leaf.uses.written.keys().any(has_prefix) {
            return;
        }
        for stmt in &block.stmts[at + 1..] {
            if let Some(next) = plain_step(stmt) {
                self.leave_open(number, next);
                return;
            }
            if !self.is_quiet(stmt) {
                return;
            }
        }
        let Some(Around { condition, body, key: looping }) = around else { return };
        if condition.is_some_and(|condition| {
            !is_quiet(&self.scan(|scan| scan.visit_expr(condition))) || self.has_alias(quote!(#condition))
        }) {
            return;
        }
        let loops = self.loops_of(number);
        for stmt in &body.stmts {
            if let Some(next) = plain_step(stmt) {
                if loops && self.leave_open(number, next) {
                    let looping = loop_number(looping).unwrap_or(usize::MAX);
                    self.plan.behind.entry(looping).or_default().push(number);
                }
                return;
            }
            if !self.is_quiet(stmt) {
                return;
            }
        }
    }

    /// Whether everything that a step writes was declared outside of the loop around it.
    fn loops_of(&self, number: usize) -> bool {
        let leaf = &self.plan.leaves[&number];
        let names = leaf.uses.written.keys().chain(leaf.uses.arrays.keys());
        // One loop is around the step at least; what was declared in none is outside of it.
        names.filter_map(|name| self.plan.names.get(name)).all(|name| name.loops == 0)
    }

    fn leave_open(&mut self, number: usize, next: &ExprBlock) -> bool {
        let Some(follower) = self::number(next) else { return false };
        let uses = &self.plan.leaves[&number].uses;
        let stored = uses.arrays.iter().filter(|(_, array)| array.stores()).map(|(name, _)| name);
        let writes: BTreeSet<String> = uses.written.keys().chain(stored).cloned().collect();
        let Some(next) = self.plan.leaves.get_mut(&follower) else { return false };
        let Some(inspector) = &next.inspector else { return false };
        if writes.union(&self.aliases).any(|name| inspector.looks.contains(name)) {
            return false;
        }
        next.before.push(number);
        if let Some(leaf) = self.plan.leaves.get_mut(&number) {
            leaf.is_open = true;
        }
        true
    }
}

fn is_quiet(uses: &Uses) -> bool {
    let uses_shared = !uses.arrays.is_empty() || !uses.replicas.is_empty() || !uses.volatiles.is_empty();
    !uses_shared && !uses.calls && !uses.asks && !uses.jumps && uses.steps.is_none() && uses.errors.is_empty()
}
