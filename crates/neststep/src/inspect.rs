//! The inspector of a step: the loops and conditions of its body, cut down to the indices that it reads.
//!
//! It runs before the step. So an index must be *known*: built of values that the step does not take from elements it
//! reads or from variables it writes. What the inspector needs of the step's own variables it computes once more, on
//! copies. A condition that is not known is left out, and both ways are asked for: more is fetched, never less.

use crate::{
    access::Uses,
    forms::{
        assigns, bound, collect_words, contribution, is_own_op, is_pure, is_visited, macro_arguments, redistribution,
        section_parts, visiting,
    },
    known::{Bindings, Changed, Facts},
    names::{Functions, Names, attribute, base_of, element, name_of, section},
    private::Private,
    tokens::group,
};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use std::collections::{BTreeMap, BTreeSet};
use syn::{
    Block, Error, Expr, Stmt, Token,
    parse::Parser,
    punctuated::Punctuated,
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

/// What an inspector asks for: an element, one in each round of a loop, or a section.
pub(crate) const WANTS: [&str; 3] = ["__want", "__want_each", "__want_section"];

/// All words of an inspector, without the arrays whose elements it asks for.
fn looks(code: TokenStream, found: &mut BTreeSet<String>) {
    let mut is_request = false;
    for token in code {
        match token {
            TokenTree::Ident(word) => {
                is_request = WANTS.iter().any(|want| word == want);
                found.insert(word.to_string());
            }
            TokenTree::Group(group) if is_request => {
                let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ',');
                // The list, the array, and then where.
                let mut commas = 0;
                let place = group.stream().into_iter().filter(|token| {
                    commas += usize::from(is_comma(token));
                    commas >= 2
                });
                looks(place.collect(), found);
                is_request = false;
            }
            TokenTree::Group(group) => looks(group.stream(), found),
            _ => {}
        }
    }
}

/// The list, the array and the place, if all that a loop does is to ask for one element.
fn only_want(body: &TokenStream) -> Option<[TokenStream; 3]> {
    let tokens: Vec<TokenTree> = body.clone().into_iter().collect();
    let [TokenTree::Ident(want), TokenTree::Punct(_), TokenTree::Group(parts), TokenTree::Punct(_)] = &tokens[..]
    else {
        return None;
    };
    let parts = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(parts.stream()).ok()?;
    let parts: Vec<Expr> = parts.into_iter().collect();
    match &parts[..] {
        [list, array, place] if want == "__want" => Some([quote!(#list), quote!(#array), quote!(#place)]),
        _ => None,
    }
}

/// Code to which the step may never come.
fn perhaps(code: &TokenStream) -> TokenStream {
    if code.is_empty() { TokenStream::new() } else { quote!(::superstep::neststep::perhaps(|| { #code });) }
}

struct Slicer<'a> {
    facts: Facts<'a>,
    /// Arrays for which nothing is asked ahead: they are mirrored, or the step is dynamic.
    skipped: &'a BTreeSet<String>,
    needed: BTreeSet<String>,
    arrays: BTreeSet<String>,
    errors: Vec<Error>,
    /// Whether all conditions around are known, up to the loop around.
    is_certain: bool,
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
        facts: Facts::of(body, names, functions, uses, private),
        skipped,
        needed: BTreeSet::new(),
        arrays: BTreeSet::new(),
        errors: Vec::new(),
        is_certain: true,
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
            let copies = slicer.copies(body, &words);
            let mut looked = BTreeSet::new();
            looks(code.clone(), &mut looked);
            return Ok(Inspector { code: quote!(#copies #code), arrays: slicer.arrays, words, looks: looked });
        }
        slicer.needed.extend(words);
    }
}

impl Slicer<'_> {
    /// Variables that the inspector changes, as copies of what they are before the step.
    fn copies(&self, body: &Block, words: &BTreeSet<String>) -> TokenStream {
        let mut inner = Bindings(BTreeSet::new());
        inner.visit_block(body);
        let mut changed = Changed(BTreeMap::new());
        changed.visit_block(body);
        let mut copies = TokenStream::new();
        for (name, word) in &changed.0 {
            let is_shared = self.facts.names.contains_key(name);
            if words.contains(name) && !inner.0.contains(name) && !is_shared && !self.facts.unknown.contains_key(name) {
                copies.extend(if self.facts.private.is_changed(name) {
                    let copy = quote_spanned!(word.span()=> ::core::clone::Clone::clone(&#word));
                    quote!(#[allow(unused_mut)] let mut #word = #copy;)
                } else {
                    quote_spanned!(word.span()=> ::superstep::neststep::called_twice(&#word);)
                });
            }
        }
        copies
    }

    fn block(&mut self, block: &Block) -> TokenStream {
        block.stmts.iter().map(|stmt| self.stmt(stmt)).collect()
    }

    fn stmt(&mut self, stmt: &Stmt) -> TokenStream {
        match stmt {
            Stmt::Local(local) => {
                let sites = local.init.as_ref().map(|init| self.expr(&init.expr));
                let is_needed = bound(&local.pat).iter().any(|name| {
                    self.needed.contains(&name.to_string()) && !self.facts.unknown.contains_key(&name.to_string())
                });
                let keep = is_needed.then(|| quote!(#[allow(unused)] #local));
                quote!(#sites #keep)
            }
            Stmt::Expr(expr, _) => {
                let sites = self.expr(expr);
                let keep = self.keeps(expr).then(|| quote!(#expr;));
                quote!(#sites #keep)
            }
            Stmt::Macro(mac) => self.macro_sites(&mac.mac),
            Stmt::Item(_) => TokenStream::new(),
        }
    }

    /// Whether a statement changes a variable that the inspector needs.
    fn keeps(&self, expr: &Expr) -> bool {
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
        })
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
    fn expr(&mut self, expr: &Expr) -> TokenStream {
        match expr {
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
            Expr::ForLoop(looping) => self.looping(looping),
            Expr::While(looping) => {
                let condition = self.expr(&looping.cond);
                let is_known = self.facts.unknown(&looping.cond).is_none();
                let body = self.certainly(is_known, |slicer| slicer.block(&looping.body));
                let cond = &looping.cond;
                match (body.is_empty(), is_known) {
                    (true, _) => condition,
                    (false, true) => quote!(#condition while #cond { #body }),
                    (false, false) => {
                        let body = perhaps(&body);
                        quote!(#condition #body)
                    }
                }
            }
            Expr::Loop(looping) => {
                let body = self.certainly(false, |slicer| slicer.block(&looping.body));
                perhaps(&body)
            }
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
            Expr::Break(jump) if jump.label.is_none() && self.is_certain => quote!(break;),
            Expr::Continue(jump) if jump.label.is_none() && self.is_certain => quote!(continue;),
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

    /// `x && y` and `x || y`, whose second part may not be reached.
    fn lazy(&mut self, binary: &syn::ExprBinary) -> TokenStream {
        let left = self.expr(&binary.left);
        let is_known = self.facts.unknown(&binary.left).is_none();
        let right = self.certainly(is_known, |slicer| slicer.expr(&binary.right));
        if right.is_empty() {
            return left;
        }
        if !is_known {
            let right = perhaps(&right);
            return quote!(#left #right);
        }
        let condition = &binary.left;
        let condition =
            if matches!(binary.op, syn::BinOp::And(_)) { quote!(#condition) } else { quote!(!(#condition)) };
        quote!(#left if #condition { #right })
    }

    /// Where something is assigned: only the indices are evaluated.
    fn target(&mut self, place: &Expr) -> TokenStream {
        match element(place) {
            Some((name, at)) if self.facts.dist(name).is_some() => at.iter().map(|at| self.expr(at)).collect(),
            _ => self.expr(place),
        }
    }

    fn certainly<R>(&mut self, is_certain: bool, make: impl FnOnce(&mut Self) -> R) -> R {
        let before = self.is_certain;
        self.is_certain &= is_certain;
        let made = make(self);
        self.is_certain = before;
        made
    }

    fn branch(&mut self, branch: &syn::ExprIf) -> TokenStream {
        let condition = self.expr(&branch.cond);
        let is_known = self.facts.unknown(&branch.cond).is_none();
        let then = self.certainly(is_known, |slicer| slicer.block(&branch.then_branch));
        let other = branch.else_branch.as_ref();
        let other = other.map(|(_, other)| self.certainly(is_known, |slicer| slicer.expr(other))).unwrap_or_default();
        if then.is_empty() && other.is_empty() {
            return condition;
        }
        if !is_known {
            // What is known at the front of the condition still guards what comes behind it.
            let guard = self.known_front(&branch.cond).map(|front| quote!(if #front));
            let (then, other) = (perhaps(&then), perhaps(&other));
            return quote!(#condition #guard { #then } #other);
        }
        let cond = &branch.cond;
        let other = (!other.is_empty()).then(|| quote!(else { #other }));
        quote!(#condition if #cond { #then } #other)
    }

    /// The first parts of a condition `x && y && …`, as far as they are known.
    fn known_front(&self, condition: &Expr) -> Option<TokenStream> {
        match condition {
            _ if self.facts.unknown(condition).is_none() => Some(quote!(#condition)),
            Expr::Paren(inner) => self.known_front(&inner.expr),
            Expr::Binary(binary) if matches!(binary.op, syn::BinOp::And(_)) => {
                let front = self.known_front(&binary.left)?;
                let rest =
                    if self.facts.unknown(&binary.left).is_none() { self.known_front(&binary.right) } else { None };
                Some(rest.map_or_else(|| front.clone(), |rest| quote!(#front && #rest)))
            }
            _ => None,
        }
    }

    fn choice(&mut self, choice: &syn::ExprMatch) -> TokenStream {
        let subject = self.expr(&choice.expr);
        let is_known = self.facts.unknown(&choice.expr).is_none();
        let mut arms = Vec::new();
        for arm in &choice.arms {
            let is_known = is_known && self.facts.unknown_guard(&arm.pat).is_none();
            let body = self.certainly(is_known, |slicer| slicer.expr(&arm.body));
            let pattern = &arm.pat;
            arms.push((quote!(#pattern), body, is_known));
        }
        if arms.iter().all(|(_, body, _)| body.is_empty()) {
            return subject;
        }
        if arms.iter().any(|(_, _, is_known)| !is_known) {
            let bodies = arms.iter().map(|(_, body, _)| perhaps(body));
            return quote!(#subject #(#bodies)*);
        }
        let (expr, arms) = (&choice.expr, arms.iter().map(|(head, body, _)| quote!(#head => { #body })));
        quote!(#subject #[allow(unused_variables)] match #expr { #(#arms)* })
    }

    fn looping(&mut self, looping: &syn::ExprForLoop) -> TokenStream {
        let before = std::mem::replace(&mut self.is_certain, true);
        let made = if let Some((visiting, bounds)) = visiting(looping) {
            let is_known = bounds.iter().all(|bound| self.facts.unknown(bound).is_none());
            let sites: TokenStream = bounds.iter().map(|bound| self.expr(bound)).collect();
            self.facts.around.push(visiting);
            self.is_certain = is_known;
            let body = self.block(&looping.body);
            self.facts.around.pop();
            let (attributes, pattern) = (&looping.attrs, &looping.pat);
            match (body.is_empty(), is_known) {
                (true, _) => sites,
                (false, true) => quote!(#sites #(#attributes)* for #pattern in __forall { #body }),
                (false, false) => {
                    let body = perhaps(&body);
                    quote!(#sites #body)
                }
            }
        } else {
            let sites = self.expr(&looping.expr);
            let is_known = self.facts.unknown(&looping.expr).is_none();
            self.is_certain = is_known;
            let body = self.block(&looping.body);
            match (body.is_empty(), is_known) {
                (true, _) => sites,
                (false, true) => Self::repeated(&sites, looping, &body),
                (false, false) => {
                    let body = perhaps(&body);
                    quote!(#sites #body)
                }
            }
        };
        self.is_certain = before;
        made
    }

    /// A loop whose rounds are known.
    fn repeated(sites: &TokenStream, looping: &syn::ExprForLoop, body: &TokenStream) -> TokenStream {
        let (pattern, expr) = (&looping.pat, &looping.expr);
        if let Some([list, array, place]) = only_want(body) {
            let places = quote!(::core::iter::IntoIterator::into_iter(#expr), |#pattern| #place);
            return quote!(#sites __want_each!(#list, #array, ::core::iter::Iterator::map(#places)););
        }
        quote!(#sites #[allow(unused_variables)] for #pattern in #expr { #body })
    }

    /// An element, or a section, that is read.
    fn site(&mut self, name: &Ident, at: &[&Expr]) -> TokenStream {
        let inner: TokenStream = at.iter().map(|at| self.expr(at)).collect();
        let is_section = at.iter().any(|at| section(at).is_some());
        if self.skipped.contains(&name.to_string()) || !is_section && is_visited(&self.facts.around, name, at) {
            return inner;
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
            return quote_spanned!(span=> #inner __want_section!(#wanted, #name, #part););
        }
        let place = if let [one] = at { quote!(#one) } else { quote!([#(#at),*]) };
        quote_spanned!(span=> #inner __want!(#wanted, #name, #place);)
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
