//! Which shared names a piece of program reads and writes, and how.

use crate::{
    forms::{
        Visiting, assigns, collect_words, contribution, inline_names, is_own_op, is_pure, is_visited, macro_arguments,
        redistribution, visiting,
    },
    names::{Dist, Functions, Kind, Names, attribute, base_of, element, name_of, named, section},
};
use proc_macro2::{Ident, Span};
use std::collections::{BTreeMap, BTreeSet};
use syn::{
    Error, Expr, Macro, PatIdent,
    spanned::Spanned,
    visit::{self, Visit},
};

/// What is done to one distributed array.
#[derive(Debug, Default)]
pub(crate) struct ArrayUse {
    /// Reads and writes of elements that a `forall` over this array visits.
    own_reads: usize,
    pub(crate) own_writes: usize,
    pub(crate) reads: usize,
    pub(crate) section_reads: usize,
    pub(crate) assigns: Vec<Span>,
    pub(crate) adds: Vec<Span>,
    /// Whether elements are combined inside of a closure.
    adds_inside: bool,
    pub(crate) section_writes: usize,
    /// Whether it is handed to a function.
    pub(crate) passed: Option<Span>,
    pub(crate) is_mirrored: bool,
    /// Whether its parts are moved as they are.
    pub(crate) moved: Option<Span>,
}

impl ArrayUse {
    fn writes_elsewhere(&self) -> bool {
        !self.assigns.is_empty() || !self.adds.is_empty() || self.section_writes > 0 || self.passed.is_some()
    }

    /// Whether what the owner writes can be written where it is: nobody else writes, and nothing is read that was
    /// fetched before.
    pub(crate) fn is_in_place(&self) -> bool {
        !self.writes_elsewhere() && self.reads == 0 && self.section_reads == 0
    }

    /// Whether anything goes to the owners at the boundary.
    pub(crate) fn stores(&self) -> bool {
        self.writes_elsewhere() || self.own_writes > 0 && !self.is_in_place()
    }

    /// Whether what is written here is read here.
    pub(crate) fn tracks(&self) -> bool {
        let reads = self.own_reads + self.reads + self.section_reads > 0 || self.passed.is_some();
        self.stores() && reads
    }

    /// Whether elements are both assigned and combined.
    pub(crate) fn mixes(&self) -> bool {
        let assigns = !self.assigns.is_empty() || self.own_writes > 0 || self.section_writes > 0;
        assigns && !self.adds.is_empty()
    }

    /// Whether a variable of the step counts what is combined.
    pub(crate) fn counts(&self) -> bool {
        !self.adds.is_empty() && !self.adds_inside && !self.tracks() && !self.mixes()
    }

    pub(crate) fn fetches(&self) -> bool {
        self.reads > 0 || self.section_reads > 0
    }

    pub(crate) fn is_written(&self) -> bool {
        self.writes_elsewhere() || self.own_writes > 0
    }
}

/// What a piece of program does to shared names.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    pub(crate) arrays: BTreeMap<String, ArrayUse>,
    /// Replicated variables that are mentioned, and those that may be written, with the place.
    pub(crate) replicas: BTreeSet<String>,
    pub(crate) written: BTreeMap<String, Span>,
    pub(crate) volatiles: BTreeMap<String, Span>,
    /// Whether it calls functions of NestStep, or steps.
    pub(crate) calls: bool,
    pub(crate) steps: Option<Span>,
    /// Whether it asks the group for anything.
    pub(crate) asks: bool,
    /// Whether it may leave the place where it stands.
    pub(crate) jumps: bool,
    pub(crate) errors: Vec<Error>,
}

impl Uses {
    /// The arrays some of whose elements go to their owners.
    pub(crate) fn stored(&self) -> impl Iterator<Item = &String> {
        self.arrays.iter().filter(|(_, array)| array.stores() && array.passed.is_none()).map(|(name, _)| name)
    }
}

/// Looks through a piece of program.
pub(crate) struct Scan<'a> {
    pub(crate) names: &'a Names,
    pub(crate) functions: &'a Functions,
    pub(crate) around: Vec<Visiting>,
    pub(crate) uses: Uses,
    has_ref_mut: bool,
    /// Whether this is in a closure.
    is_inside: bool,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(names: &'a Names, functions: &'a Functions) -> Self {
        Self { names, functions, around: Vec::new(), uses: Uses::default(), has_ref_mut: false, is_inside: false }
    }

    pub(crate) fn finish(mut self) -> Uses {
        if self.has_ref_mut {
            let span = Span::call_site();
            for name in &self.uses.replicas {
                self.uses.written.entry(name.clone()).or_insert(span);
            }
        }
        self.uses
    }

    fn dist(&self, name: &Ident) -> Option<&'a Dist> {
        match self.names.get(&name.to_string()).map(|name| &name.kind) {
            Some(Kind::Dist(dist)) => Some(dist),
            _ => None,
        }
    }

    fn array(&mut self, name: &Ident) -> &mut ArrayUse {
        self.uses.arrays.entry(name.to_string()).or_default()
    }

    /// Notes a name that stands for itself.
    fn mention(&mut self, name: &Ident, is_written: bool) {
        match self.names.get(&name.to_string()).map(|name| &name.kind) {
            Some(Kind::Replica(_)) => {
                self.uses.replicas.insert(name.to_string());
                if is_written {
                    self.uses.written.entry(name.to_string()).or_insert_with(|| name.span());
                }
            }
            Some(Kind::Volatile { .. }) => {
                self.uses.volatiles.entry(name.to_string()).or_insert_with(|| name.span());
            }
            Some(Kind::Dist(_)) => {
                self.array(name);
            }
            None => self.uses.asks |= name == "__group" || name == "thisgroup",
        }
    }

    fn read(&mut self, name: &Ident, at: &[&Expr]) {
        let is_own = is_visited(&self.around, name, at);
        let is_section = at.iter().any(|at| section(at).is_some());
        let array = self.array(name);
        match (is_section, is_own) {
            (true, _) => array.section_reads += 1,
            (false, true) => array.own_reads += 1,
            (false, false) => array.reads += 1,
        }
        for at in at {
            self.visit_expr(at);
        }
    }

    fn write(&mut self, name: &Ident, at: &[&Expr], is_added: bool) {
        let span = at.first().map_or_else(|| name.span(), syn::spanned::Spanned::span);
        let is_own = is_visited(&self.around, name, at);
        let is_section = at.iter().any(|at| section(at).is_some());
        let is_inside = self.is_inside;
        let array = self.array(name);
        match (is_section, is_own && !is_added) {
            (true, _) => array.section_writes += 1,
            (false, true) => array.own_writes += 1,
            (false, false) if is_added => {
                array.adds.push(span);
                array.adds_inside |= is_inside;
            }
            (false, false) => array.assigns.push(span),
        }
        for at in at {
            self.visit_expr(at);
        }
    }

    /// Whole parts of some arrays go to another.
    fn move_over(&mut self, target: &Ident, sources: &[&Ident]) {
        self.array(target).section_writes += 1;
        for source in sources {
            let span = source.span();
            let array = self.array(source);
            array.own_reads += 1;
            array.moved.get_or_insert(span);
        }
    }

    /// A place that is written, other than an element.
    fn write_place(&mut self, place: &Expr) {
        if let Some(base) = base_of(place) {
            self.mention(base, true);
        }
        if name_of(place).is_none() {
            visit::visit_expr(self, place);
        }
    }
}

impl<'ast> Visit<'ast> for Scan<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Assign(assign) if redistribution(self.names, &assign.left, &assign.right).is_some() => {
                if let Some((target, source)) = redistribution(self.names, &assign.left, &assign.right) {
                    self.move_over(target, &[source]);
                }
            }
            Expr::Assign(assign) => {
                self.visit_expr(&assign.right);
                if let Some((name, at)) = element(&assign.left)
                    && let Some(dist) = self.dist(name)
                {
                    let is_added = contribution(&dist.op, &assign.left, &assign.right).is_some();
                    self.write(name, &at, is_added);
                } else {
                    self.write_place(&assign.left);
                }
            }
            Expr::Binary(binary) if assigns(&binary.op) => {
                self.visit_expr(&binary.right);
                if let Some((name, at)) = element(&binary.left)
                    && let Some(dist) = self.dist(name)
                {
                    let is_added = is_own_op(&dist.op, &binary.op);
                    if !is_added {
                        self.read(name, &at);
                    }
                    self.write(name, &at, is_added);
                } else {
                    self.write_place(&binary.left);
                }
            }
            Expr::Reference(reference) if reference.mutability.is_some() => {
                if let Some((name, _)) = element(&reference.expr)
                    && self.dist(name).is_some()
                {
                    let message = "an element of a distributed array cannot be borrowed to be changed; assign to it";
                    self.uses.errors.push(Error::new(reference.span(), message));
                }
                self.write_place(&reference.expr);
            }
            Expr::MethodCall(call) => {
                if let Some(base) = base_of(&call.receiver)
                    && !is_pure(&call.method)
                    && self.dist(base).is_none()
                {
                    self.mention(base, true);
                }
                visit::visit_expr(self, expr);
            }
            Expr::Index(_) => match element(expr) {
                Some((name, at)) if self.dist(name).is_some() => self.read(name, &at),
                _ => visit::visit_expr(self, expr),
            },
            Expr::Call(call) => self.visit_call(call),
            Expr::ForLoop(looping) => {
                let around = visiting(looping);
                let is_forall = around.is_some();
                if let Some((visiting, bounds)) = around {
                    self.array(&named(&visiting.array, Span::call_site()));
                    for bound in &bounds {
                        self.visit_expr(bound);
                    }
                    self.around.push(visiting);
                    self.visit_block(&looping.body);
                    self.around.pop();
                } else {
                    visit::visit_expr_for_loop(self, looping);
                }
                self.uses.asks |= is_forall;
            }
            Expr::Path(_) => {
                if let Some(name) = name_of(expr) {
                    self.mention(name, false);
                }
            }
            Expr::Block(block) if attribute(&block.attrs, "__step").is_some() => {
                self.uses.steps.get_or_insert_with(|| block.span());
                visit::visit_expr(self, expr);
            }
            Expr::Return(_) | Expr::Try(_) | Expr::Break(_) | Expr::Continue(_) => {
                self.uses.jumps = true;
                visit::visit_expr(self, expr);
            }
            Expr::Closure(closure) => {
                // Its `return` is its own.
                let (jumps, is_inside) = (self.uses.jumps, std::mem::replace(&mut self.is_inside, true));
                visit::visit_expr_closure(self, closure);
                (self.uses.jumps, self.is_inside) = (jumps, is_inside);
            }
            _ => visit::visit_expr(self, expr),
        }
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        let mut inline = Vec::new();
        inline_names(mac.tokens.clone(), &mut inline);
        inline.retain(|name| self.dist(name).is_none());
        for name in &inline {
            self.mention(name, false);
        }
        if let Some(arguments) = macro_arguments(mac) {
            for argument in &arguments {
                match argument {
                    Expr::Assign(named) => self.visit_expr(&named.right),
                    other => self.visit_expr(other),
                }
            }
            return;
        }
        let mut words = Vec::new();
        collect_words(mac.tokens.clone(), &mut words);
        for word in words {
            if self.dist(&word).is_some() {
                let message = format!("`{word}` is distributed, and this macro is not one that can be looked into");
                self.uses.errors.push(Error::new(word.span(), message));
            }
            self.mention(&word, true);
        }
    }

    fn visit_pat_ident(&mut self, pattern: &'ast PatIdent) {
        self.has_ref_mut |= pattern.by_ref.is_some() && pattern.mutability.is_some();
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

impl Scan<'_> {
    fn visit_call(&mut self, call: &syn::ExprCall) {
        let word = name_of(&call.func).map(ToString::to_string).unwrap_or_default();
        match (word.as_str(), call.args.first()) {
            ("owner" | "owned", Some(argument)) if call.args.len() == 1 => {
                if let Some((_, at)) = element(argument) {
                    for at in at {
                        self.visit_expr(at);
                    }
                }
            }
            ("mirror", Some(argument)) => {
                if let Some((name, at)) = element(argument) {
                    self.array(name).is_mirrored = true;
                    for at in at {
                        self.visit_expr(at);
                    }
                }
            }
            ("update", Some(argument)) if call.args.len() == 2 => {
                if let Some((name, at)) = element(argument)
                    && self.dist(name).is_some()
                {
                    self.write(name, &at, false);
                    self.visit_expr(&call.args[1]);
                }
            }
            ("permute", Some(target)) if call.args.len() == 3 => {
                let names: Vec<&Ident> = call.args.iter().filter_map(name_of).collect();
                match (name_of(target), &names[..]) {
                    (Some(target), [_, source, to]) if self.dist(target).is_some() => {
                        self.move_over(target, &[source, to]);
                    }
                    _ => visit::visit_expr_call(self, call),
                }
            }
            _ if self.functions.contains_key(&word) => {
                self.uses.calls = true;
                for argument in &call.args {
                    match name_of(argument) {
                        Some(name) if self.dist(name).is_some() => {
                            self.array(name).passed.get_or_insert_with(|| name.span());
                        }
                        Some(name) => self.mention(name, true),
                        None => self.visit_expr(argument),
                    }
                }
            }
            ("__section", _) => call.args.iter().for_each(|part| self.visit_expr(part)),
            _ => visit::visit_expr_call(self, call),
        }
    }
}
