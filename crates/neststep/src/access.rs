//! Which shared names a piece of program reads and writes, and how.

use crate::names::{
    Dist, Functions, Kind, Names, Op, Section, arguments, attribute, base_of, element, name_of, section, text,
};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use syn::{
    BinOp, Error, Expr, ExprForLoop, Macro, Pat, PatIdent, Token,
    parse::Parser,
    punctuated::Punctuated,
    spanned::Spanned,
    visit::{self, Visit},
};

/// What is done to one distributed array.
#[derive(Debug, Default)]
pub(crate) struct ArrayUse {
    /// Reads and writes of elements that a `forall` over this array visits.
    pub(crate) own_reads: usize,
    pub(crate) own_writes: usize,
    pub(crate) reads: usize,
    pub(crate) section_reads: usize,
    pub(crate) assigns: Vec<Span>,
    pub(crate) adds: Vec<Span>,
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

/// Methods that change nothing.
const PURE: [&str; 88] = [
    "len",
    "is_empty",
    "iter",
    "enumerate",
    "zip",
    "copied",
    "cloned",
    "map",
    "rev",
    "step_by",
    "min",
    "max",
    "abs",
    "pow",
    "powi",
    "sqrt",
    "get",
    "first",
    "last",
    "contains",
    "to_vec",
    "clone",
    "as_slice",
    "windows",
    "chunks",
    "is_owned",
    "owner",
    "shape",
    "filter",
    "sum",
    "product",
    "count",
    "unwrap",
    "unwrap_or",
    "rank",
    "size",
    "id",
    "gid",
    "depth",
    "path",
    "steps",
    "parent",
    "is_leader",
    "wrapping_add",
    "wrapping_mul",
    "wrapping_sub",
    "rotate_left",
    "abs_diff",
    "div_ceil",
    "rem_euclid",
    "div_euclid",
    "saturating_sub",
    "saturating_add",
    "checked_sub",
    "checked_add",
    "collect",
    "into_iter",
    "as_ref",
    "partition_point",
    "binary_search",
    "to_owned",
    "to_string",
    "is_some",
    "is_none",
    "is_ok",
    "is_err",
    "take",
    "skip",
    "chain",
    "any",
    "all",
    "position",
    "fold",
    "flat_map",
    "flatten",
    "min_by_key",
    "max_by_key",
    "starts_with",
    "ends_with",
    "trailing_zeros",
    "leading_zeros",
    "count_ones",
    "is_power_of_two",
    "is_multiple_of",
    "signum",
    "floor",
    "ceil",
    "local",
];

/// Whether a method of this name leaves its receiver as it is.
pub(crate) fn is_pure(method: &Ident) -> bool {
    PURE.iter().any(|pure| method == pure)
}

/// A `forall` around the place at hand: its array and its names.
#[derive(Clone, Debug)]
pub(crate) struct Visiting {
    pub(crate) array: String,
    pub(crate) names: Vec<String>,
}

/// The loop that a `for` with an attribute stands for.
pub(crate) fn visiting(looping: &ExprForLoop) -> Option<(Visiting, Vec<Expr>)> {
    let arguments = arguments(attribute(&looping.attrs, "__forall")?);
    let mut tokens = arguments.into_iter().peekable();
    let mut names = Vec::new();
    while let Some(TokenTree::Ident(name)) = tokens.peek().cloned() {
        names.push(name.to_string());
        tokens.next();
    }
    tokens.next();
    let rest: TokenStream = tokens.collect();
    let list = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(rest).ok()?;
    let mut list = list.into_iter();
    let array = name_of(&list.next()?)?.to_string();
    Some((Visiting { array, names }, list.collect()))
}

/// Whether an element is one that the loops around it visit at its owner.
pub(crate) fn is_visited(around: &[Visiting], name: &Ident, at: &[&Expr]) -> bool {
    around.iter().any(|visiting| {
        *name == visiting.array
            && at.len() >= visiting.names.len()
            && visiting.names.iter().zip(at).all(|(name, at)| name_of(at).is_some_and(|at| at == name))
    })
}

/// The contribution, if an assignment only combines by the array's own operator.
pub(crate) fn contribution<'a>(op: &Op, left: &Expr, right: &'a Expr) -> Option<&'a Expr> {
    let is_left = |expr: &Expr| text(expr) == text(left);
    match (op, right) {
        (Op::Min | Op::Max | Op::Function(_), Expr::Call(call)) => {
            let is_own = match op {
                Op::Min => name_of(&call.func).is_some_and(|name| name == "min"),
                Op::Max => name_of(&call.func).is_some_and(|name| name == "max"),
                Op::Function(path) => text(&call.func) == path.to_string(),
                _ => false,
            };
            let two = call.args.len() == 2 && is_left(&call.args[0]);
            (is_own && two).then(|| &call.args[1])
        }
        (Op::Min | Op::Max, Expr::MethodCall(call)) => {
            let is_own = call.method == if matches!(op, Op::Min) { "min" } else { "max" };
            (is_own && is_left(&call.receiver) && call.args.len() == 1).then(|| &call.args[0])
        }
        _ => None,
    }
}

/// Whether `a[i] op= x` combines by the array's own operator.
pub(crate) fn is_own_op(op: &Op, sign: &BinOp) -> bool {
    matches!(
        (op, sign),
        (Op::Sum, BinOp::AddAssign(_))
            | (Op::Product, BinOp::MulAssign(_))
            | (Op::And, BinOp::BitAndAssign(_))
            | (Op::Or, BinOp::BitOrAssign(_))
            | (Op::Xor, BinOp::BitXorAssign(_))
    )
}

/// Whether a binary operator assigns.
pub(crate) fn assigns(sign: &BinOp) -> bool {
    text(sign).ends_with('=') && !matches!(sign, BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Le(_) | BinOp::Ge(_))
}

/// Whether an index is the whole of an array.
pub(crate) fn is_whole(index: &Expr) -> bool {
    match section(index) {
        Some(Section::Colons(parts)) => parts.iter().all(Option::is_none),
        Some(Section::Range(range)) => text(range) == "..",
        None => false,
    }
}

/// The two arrays of `dst[:] = src[:]`, which every owner of a part of the second can do by itself.
pub(crate) fn redistribution<'a>(names: &Names, left: &'a Expr, right: &'a Expr) -> Option<(&'a Ident, &'a Ident)> {
    let whole = |expr: &'a Expr| {
        let (name, at) = element(expr)?;
        let is_dist = matches!(names.get(&name.to_string()).map(|name| &name.kind), Some(Kind::Dist(_)));
        (is_dist && matches!(at[..], [at] if is_whole(at))).then_some(name)
    };
    Some((whole(left)?, whole(right)?))
}

/// Macros whose arguments are expressions.
const KNOWN: [&str; 15] = [
    "println",
    "print",
    "eprintln",
    "eprint",
    "format",
    "write",
    "writeln",
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "panic",
    "vec",
    "unreachable",
];

/// The arguments of a macro that takes expressions. An argument with a name comes without it.
pub(crate) fn macro_arguments(mac: &Macro) -> Option<Vec<Expr>> {
    let name = mac.path.segments.last()?.ident.to_string();
    if !KNOWN.contains(&name.as_str()) {
        return None;
    }
    if name == "vec"
        && let Ok([value, count]) = (|input: syn::parse::ParseStream<'_>| {
            let value: Expr = input.parse()?;
            input.parse::<Token![;]>()?;
            Ok([value, input.parse()?])
        })
        .parse2(mac.tokens.clone())
    {
        return Some(vec![value, count]);
    }
    Punctuated::<Expr, Token![,]>::parse_terminated.parse2(mac.tokens.clone()).ok().map(|all| all.into_iter().collect())
}

/// Looks through a piece of program.
pub(crate) struct Scan<'a> {
    pub(crate) names: &'a Names,
    pub(crate) functions: &'a Functions,
    pub(crate) around: Vec<Visiting>,
    pub(crate) uses: Uses,
    has_ref_mut: bool,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(names: &'a Names, functions: &'a Functions) -> Self {
        Self { names, functions, around: Vec::new(), uses: Uses::default(), has_ref_mut: false }
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
        let array = self.array(name);
        match (is_section, is_own && !is_added) {
            (true, _) => array.section_writes += 1,
            (false, true) => array.own_writes += 1,
            (false, false) if is_added => array.adds.push(span),
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
            if self.dist(base).is_some()
                && let Some((name, at)) = field_of_element(place)
            {
                // A field of an element: the element is read, changed and written.
                self.read(name, &at);
                self.write(name, &at, false);
                return;
            }
            self.mention(base, true);
        }
        if name_of(place).is_none() {
            visit::visit_expr(self, place);
        }
    }
}

/// The element that a field belongs to.
pub(crate) fn field_of_element(place: &Expr) -> Option<(&Ident, Vec<&Expr>)> {
    match place {
        Expr::Field(field) => element(&field.base).or_else(|| field_of_element(&field.base)),
        Expr::Paren(inner) => field_of_element(&inner.expr),
        _ => None,
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
                    self.array(&Ident::new(&visiting.array, Span::call_site()));
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
                let jumps = self.uses.jumps;
                visit::visit_expr_closure(self, closure);
                self.uses.jumps = jumps;
            }
            _ => visit::visit_expr(self, expr),
        }
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
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

/// All words of some tokens.
pub(crate) fn collect_words(tokens: TokenStream, words: &mut Vec<Ident>) {
    for token in tokens {
        match token {
            TokenTree::Ident(word) => words.push(word),
            TokenTree::Group(group) => collect_words(group.stream(), words),
            _ => {}
        }
    }
}

/// The names that a pattern binds.
pub(crate) fn bound(pattern: &Pat) -> Vec<Ident> {
    struct Bound(Vec<Ident>);
    impl<'ast> Visit<'ast> for Bound {
        fn visit_pat_ident(&mut self, pattern: &'ast PatIdent) {
            self.0.push(pattern.ident.clone());
            visit::visit_pat_ident(self, pattern);
        }
    }
    let mut names = Bound(Vec::new());
    names.visit_pat(pattern);
    names.0
}

/// The tokens of a section for the library.
pub(crate) fn section_parts(section: &Section<'_>) -> (TokenStream, bool) {
    use quote::quote;
    match section {
        Section::Range(range) => (quote!(#range), false),
        Section::Colons(parts) => {
            let first = parts.first().copied().flatten();
            let last = parts.get(1).copied().flatten();
            let by = parts.get(2).copied().flatten();
            let is_down =
                by.is_some_and(|by| matches!(by, Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Neg(_))));
            let range = match (first, last) {
                (first, None) => quote!(#first ..),
                // `n - 1` is below zero where there is nothing; the end is `n`.
                (first, Some(Expr::Binary(binary)))
                    if matches!(binary.op, BinOp::Sub(_)) && text(&binary.right) == "1" && !is_down =>
                {
                    let end = &binary.left;
                    quote!(#first .. #end)
                }
                (Some(first), Some(last)) => quote!(::core::ops::RangeInclusive::new(#first, #last)),
                (None, Some(last)) => quote!(..= #last),
            };
            match by {
                Some(by) => (quote!(::superstep::sections::strided(#range, #by)), true),
                None => (range, false),
            }
        }
    }
}
