//! The inspector of a step: the loops and conditions of its body, cut down to the indices that it reads.
//!
//! It runs before the step. So an index must be *known*: built of values that the step does not take from elements it
//! reads or from variables it writes. What the inspector needs of the step's own variables it computes once more, on
//! copies. A condition that is not known is left out, and both ways are asked for: more is fetched, never less.

use crate::{
    access::Uses,
    changed::{changed, given_away},
    forms::{
        assigns, bound, collect_words, contribution, is_own_op, is_pure, is_visited, macro_arguments, redistribution,
        section_parts,
    },
    known::Facts,
    names::{Functions, Names, attribute, base_of, element, name_of, section},
    private::Private,
    taint::facts,
    tokens::group,
    wants::{looks, perhaps},
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use std::collections::BTreeSet;
use syn::{
    Block, Error, Expr, ExprBlock, Local, Stmt,
    spanned::Spanned,
    visit::{self, Visit},
};

/// The inspector, not yet lowered, and the arrays that it asks for.
#[derive(Debug, Default)]
pub(crate) struct Inspector {
    pub(crate) code: TokenStream,
    pub(crate) arrays: BTreeSet<String>,
    /// All words in it.
    pub(crate) words: BTreeSet<String>,
    /// Those among them that it looks at, and does not only ask for.
    pub(crate) looks: BTreeSet<String>,
}

/// Cuts a step down.
pub(crate) struct Slicer<'a> {
    pub(crate) body: &'a Block,
    pub(crate) facts: Facts<'a>,
    /// Arrays for which nothing is asked ahead: they are mirrored, or the step is dynamic.
    skipped: &'a BTreeSet<String>,
    needed: BTreeSet<String>,
    arrays: BTreeSet<String>,
    errors: Vec<Error>,
    /// Whether all conditions around are known, up to the loop around.
    pub(crate) is_certain: bool,
    /// The loops and blocks with a label around, and whether the conditions around each are known.
    pub(crate) around: Vec<(Option<String>, bool)>,
}

/// Makes the inspector of a step.
pub(crate) fn inspector(
    body: &Block,
    names: &Names,
    functions: &Functions,
    uses: &Uses,
    private: &Private,
    skipped: &BTreeSet<String>,
) -> Result<Inspector, Vec<Error>> {
    let mut slicer = Slicer {
        body,
        facts: facts(body, Facts::new(names, functions, uses, private)),
        skipped,
        needed: BTreeSet::new(),
        arrays: BTreeSet::new(),
        errors: Vec::new(),
        is_certain: true,
        around: Vec::new(),
    };
    loop {
        slicer.errors.clear();
        let code = slicer.block(body);
        let mut words = Vec::new();
        collect_words(code.clone(), &mut words);
        let words: BTreeSet<String> = words.iter().map(ToString::to_string).collect();
        if words.is_subset(&slicer.needed) {
            if !slicer.errors.is_empty() {
                return Err(slicer.errors);
            }
            let copies = slicer.copies(body, &code, &words);
            let mut looked = BTreeSet::new();
            looks(code.clone(), &mut looked);
            return Ok(Inspector { code: quote!(#copies #code), arrays: slicer.arrays, words, looks: looked });
        }
        slicer.needed.extend(words);
    }
}

impl Slicer<'_> {
    /// Variables that the inspector changes or gives away, as copies of what they are before the step.
    fn copies(&self, body: &Block, code: &TokenStream, words: &BTreeSet<String>) -> TokenStream {
        let mut copies = TokenStream::new();
        let mut given = syn::parse2::<Block>(quote!({ #code })).map(|code| given_away(&code)).unwrap_or_default();
        given.retain(|name, _| self.facts.private.is_bound(name));
        let mut all = changed(body);
        all.extend(given.clone());
        for (name, word) in &all {
            let is_shared = self.facts.names.contains_key(name);
            if words.contains(name) && !is_shared && !self.facts.unknown.contains_key(name) {
                copies.extend(if self.facts.private.is_changed(name) || given.contains_key(name) {
                    let copy = quote_spanned!(word.span()=> ::core::clone::Clone::clone(&#word));
                    quote!(#[allow(unused_mut)] let mut #word = #copy;)
                } else {
                    quote_spanned!(word.span()=> ::superstep::neststep::called_twice(&#word);)
                });
            }
        }
        copies
    }

    pub(crate) fn block(&mut self, block: &Block) -> TokenStream {
        block.stmts.iter().map(|stmt| self.stmt(stmt)).collect()
    }

    fn stmt(&mut self, stmt: &Stmt) -> TokenStream {
        match stmt {
            Stmt::Local(local) => self.local(local),
            Stmt::Expr(expr, _) if self.keeps(expr, true) => quote!(let _ = #expr;),
            Stmt::Expr(expr, _) => self.expr(expr),
            Stmt::Macro(mac) => self.macro_sites(&mac.mac),
            Stmt::Item(_) => TokenStream::new(),
        }
    }

    /// A declaration. What is kept is known, so that it reads no elements.
    fn local(&mut self, local: &Local) -> TokenStream {
        let is_needed = bound(&local.pat)
            .iter()
            .any(|name| self.needed.contains(&name.to_string()) && !self.facts.unknown.contains_key(&name.to_string()));
        let Some(init) = &local.init else {
            return if is_needed { quote!(#[allow(unused)] #local) } else { TokenStream::new() };
        };
        let Some((_, otherwise)) = &init.diverge else {
            return if is_needed { quote!(#[allow(unused)] #local) } else { self.expr(&init.expr) };
        };
        let otherwise = self.expr(otherwise);
        if self.facts.unknown(&init.expr).is_some() {
            let (sites, otherwise) = (self.expr(&init.expr), perhaps(&otherwise));
            return quote!(#sites #otherwise);
        }
        let (pattern, init) = (&local.pat, &init.expr);
        quote!(#[allow(unused)] let #pattern = #init else { #otherwise #[allow(unreachable_code)] return; };)
    }

    /// Whether an expression changes a variable that the inspector needs. What is no statement, and declared without
    /// `mut`, is only looked at.
    fn keeps(&self, expr: &Expr, is_statement: bool) -> bool {
        let target = match expr {
            Expr::Assign(assign) => base_of(&assign.left),
            Expr::Binary(binary) if assigns(&binary.op) => base_of(&binary.left),
            Expr::MethodCall(call) if !is_pure(&call.method) => base_of(&call.receiver),
            _ => None,
        };
        target.is_some_and(|name| {
            let name = name.to_string();
            self.needed.contains(&name)
                && !self.facts.unknown.contains_key(&name)
                && !self.facts.names.contains_key(&name)
                && (is_statement || self.facts.private.is_changed(&name))
        })
    }

    /// What the guard in a pattern reads.
    pub(crate) fn guard(&mut self, pattern: &syn::Pat) -> TokenStream {
        let mut children = Children { slicer: self, code: TokenStream::new() };
        children.visit_pat(pattern);
        children.code
    }

    fn macro_sites(&mut self, mac: &syn::Macro) -> TokenStream {
        let arguments = macro_arguments(mac).unwrap_or_default();
        let arguments = arguments.iter().map(|argument| match argument {
            Expr::Assign(named) => &*named.right,
            other => other,
        });
        arguments.map(|argument| self.expr(argument)).collect()
    }

    /// What has to be asked for so that an expression can be evaluated.
    pub(crate) fn expr(&mut self, expr: &Expr) -> TokenStream {
        match expr {
            _ if self.keeps(expr, false) => quote!(let _ = #expr;),
            Expr::Index(_) => match element(expr) {
                Some((name, at)) if self.facts.dist(name).is_some() => self.site(name, &at),
                _ => self.children(expr),
            },
            Expr::Assign(assign) if redistribution(self.facts.names, &assign.left, &assign.right).is_some() => {
                TokenStream::new()
            }
            Expr::Assign(assign) => {
                let right = match element(&assign.left) {
                    Some((name, _)) => match self.facts.dist(name) {
                        // The contribution alone: what is there stays with its owner.
                        Some(dist) => contribution(&dist.op, &assign.left, &assign.right).unwrap_or(&assign.right),
                        None => &assign.right,
                    },
                    None => &assign.right,
                };
                let right = self.expr(right);
                let left = self.target(&assign.left);
                quote!(#right #left)
            }
            Expr::Binary(binary) if assigns(&binary.op) => {
                let right = self.expr(&binary.right);
                let is_added = element(&binary.left)
                    .and_then(|(name, _)| self.facts.dist(name))
                    .is_none_or(|dist| is_own_op(&dist.op, &binary.op));
                let left = if is_added { self.target(&binary.left) } else { self.expr(&binary.left) };
                quote!(#right #left)
            }
            Expr::Binary(binary) if matches!(binary.op, syn::BinOp::And(_) | syn::BinOp::Or(_)) => self.lazy(binary),
            Expr::If(branch) => self.branch(branch),
            Expr::Match(choice) => self.choice(choice),
            Expr::ForLoop(looping) => self.for_loop(looping),
            Expr::While(looping) => self.while_loop(looping),
            Expr::Loop(looping) => self.endless_loop(looping),
            Expr::Block(ExprBlock { label: Some(label), block, .. }) => self.labelled(label, block),
            Expr::Block(block) => {
                let is_seq = attribute(&block.attrs, "__seq").is_some();
                let body = self.block(&block.block);
                if body.is_empty() {
                    return body;
                }
                let group = group(block.span());
                let leader = is_seq.then(|| quote!(if #group.is_leader()));
                quote!(#leader { #body })
            }
            Expr::Break(jump) => {
                let value = jump.expr.as_ref().map(|value| self.expr(value));
                let jump = self.jump(jump.label.as_ref(), &quote!(break));
                quote!(#value #jump)
            }
            Expr::Continue(jump) => self.jump(jump.label.as_ref(), &quote!(continue)),
            Expr::Closure(closure) => {
                let sites = self.children(expr);
                if !sites.is_empty() {
                    let message = "an element is read in a closure, so nobody knows when; read it before";
                    self.errors.push(Error::new(closure.body.span(), message));
                }
                TokenStream::new()
            }
            Expr::Macro(mac) => self.macro_sites(&mac.mac),
            Expr::Call(call) => {
                let word = name_of(&call.func).map(ToString::to_string).unwrap_or_default();
                if matches!(word.as_str(), "owner" | "owned" | "mirror" | "permute")
                    || self.facts.functions.contains_key(&word)
                {
                    // These take the name of an element, and not its value.
                    let parts = call.args.iter().filter_map(element).flat_map(|(_, at)| at);
                    let parts: Vec<&Expr> = parts.collect();
                    return parts.into_iter().map(|at| self.expr(at)).collect();
                }
                if word == "update" && call.args.len() == 2 {
                    return self.expr(&call.args[1]);
                }
                self.children(expr)
            }
            _ => self.children(expr),
        }
    }

    /// Where something is assigned: only the indices are evaluated.
    fn target(&mut self, place: &Expr) -> TokenStream {
        match element(place) {
            Some((name, at)) if self.facts.dist(name).is_some() => at.iter().map(|at| self.expr(at)).collect(),
            _ => self.expr(place),
        }
    }

    /// An element, or a section, that is read.
    fn site(&mut self, name: &Ident, at: &[&Expr]) -> TokenStream {
        let is_section = at.iter().any(|at| section(at).is_some());
        if self.skipped.contains(&name.to_string()) || !is_section && is_visited(&self.facts.around, name, at) {
            return at.iter().map(|at| self.expr(at)).collect();
        }
        for at in at {
            if let Some(why) = self.facts.unknown(at) {
                let message = format!(
                    "this index is not known before the step: {why}\nwrite `mirror({name}[..]);` before the step, or \
                     `#[dynamic]` on it if the element is sure to be here"
                );
                self.errors.push(Error::new(at.span(), message));
            }
        }
        self.arrays.insert(name.to_string());
        let wanted = format_ident!("__{}_wanted", name, span = Span::call_site());
        let span = name.span();
        if let Some(part) = at.iter().find_map(|at| section(at)) {
            let (part, _) = section_parts(&part);
            return quote_spanned!(span=> __want_section!(#wanted, #name, #part););
        }
        let place = if let [one] = at { quote!(#one) } else { quote!([#(#at),*]) };
        quote_spanned!(span=> __want!(#wanted, #name, #place);)
    }

    fn children(&mut self, expr: &Expr) -> TokenStream {
        let mut children = Children { slicer: self, code: TokenStream::new() };
        visit::visit_expr(&mut children, expr);
        children.code
    }
}

/// Looks at what an expression is made of, in the order of evaluation.
struct Children<'a, 'b> {
    slicer: &'a mut Slicer<'b>,
    code: TokenStream,
}

impl<'ast> Visit<'ast> for Children<'_, '_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        let code = self.slicer.expr(expr);
        self.code.extend(code);
    }

    fn visit_block(&mut self, block: &'ast Block) {
        let code = self.slicer.block(block);
        if !code.is_empty() {
            self.code.extend(quote!({ #code }));
        }
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
