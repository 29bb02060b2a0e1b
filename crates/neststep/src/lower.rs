//! Rewrites a function: reads and writes of shared names become calls of the library.

use crate::{
    access::{
        Scan, Visiting, assigns, collect_words, contribution, field_of_element, is_own_op, is_pure, is_visited,
        macro_arguments, redistribution, section_parts, visiting,
    },
    names::{Dist, Functions, Kind, Replica, attribute, base_of, element, name_of, section},
    plan::{Plan, loop_number, step_of},
    tokens::group,
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{
    Block, Error, Expr, ExprForLoop, Local, Pat, Stmt, Token,
    parse::Parser,
    punctuated::Punctuated,
    spanned::Spanned,
    visit::Visit,
    visit_mut::{self, VisitMut},
};

/// Generated tokens stand where the program's are, and name nothing of the program by accident.
pub(crate) fn at(span: Span) -> Span {
    Span::call_site().located_at(span)
}

/// A name of the generated code that goes with a name of the program.
pub(crate) fn with(name: &Ident, what: &str) -> Ident {
    format_ident!("__{}_{}", name, what, span = Span::call_site())
}

pub(crate) struct Lower<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) functions: &'a Functions,
    pub(crate) errors: Vec<Error>,
    /// The plain step that is rewritten.
    pub(crate) leaf: Option<usize>,
    /// In how many nesting steps it is.
    pub(crate) level: usize,
    pub(crate) around: Vec<Visiting>,
    /// Arrays whose visited element is at hand, and by which name.
    fast: Vec<(String, Ident)>,
    in_epoch: bool,
    /// Whether this is an inspector.
    pub(crate) inspects: bool,
}

impl<'a> Lower<'a> {
    pub(crate) fn new(plan: &'a Plan, functions: &'a Functions) -> Self {
        Self {
            plan,
            functions,
            errors: Vec::new(),
            leaf: None,
            level: 0,
            around: Vec::new(),
            fast: Vec::new(),
            in_epoch: false,
            inspects: false,
        }
    }

    pub(crate) fn error(&mut self, span: Span, message: impl std::fmt::Display) {
        self.errors.push(Error::new(span, message));
    }

    pub(crate) fn dist(&self, name: &Ident) -> Option<&'a Dist> {
        match self.plan.names.get(&name.to_string()).map(|name| &name.kind) {
            Some(Kind::Dist(dist)) => Some(dist),
            _ => None,
        }
    }

    pub(crate) fn replica(&self, name: &Ident) -> Option<&'a Replica> {
        match self.plan.names.get(&name.to_string()).map(|name| &name.kind) {
            Some(Kind::Replica(replica)) => Some(replica),
            _ => None,
        }
    }

    fn place(&mut self, name: &Ident, dist: &Dist, at: &[&Expr]) -> TokenStream {
        if at.len() != dist.dims() {
            let message = format!("`{name}` has {} dimensions, and this names {}", dist.dims(), at.len());
            self.error(name.span(), message);
        }
        let parts: Vec<TokenStream> = at.iter().map(|at| self.lowered(at)).collect();
        if let [one] = &parts[..] { quote!(#one) } else { quote!([#(#parts),*]) }
    }

    pub(crate) fn lowered(&mut self, expr: &Expr) -> TokenStream {
        let mut expr = expr.clone();
        self.visit_expr_mut(&mut expr);
        quote!(#expr)
    }

    /// The value of an element, as a place that can only be read.
    fn read(&mut self, name: &Ident, at: &[&Expr], span: Span) -> TokenStream {
        let Some(dist) = self.dist(name) else { return TokenStream::new() };
        let (spot, word) = (self::at(span), name.to_string());
        let is_visited = is_visited(&self.around, name, at);
        if let Some(part) = at.iter().find_map(|at| section(at)) {
            return self.read_section(name, dist, &part, span);
        }
        if is_visited
            && at.len() == 1
            && let Some((_, element)) = self.fast.iter().rev().find(|(array, _)| *array == word)
        {
            return quote_spanned!(spot=> (*#element));
        }
        let place = self.place(name, dist, at);
        let op = dist.op_tokens();
        let leaf = self.leaf.and_then(|leaf| self.plan.leaves.get(&leaf)).filter(|_| !self.inspects);
        let Some(leaf) = leaf else {
            return quote_spanned!(spot=> (*&::superstep::neststep::port(#name, #word).get(#name, #place, #op)));
        };
        let array = &leaf.uses.arrays[&word];
        if is_visited && array.is_in_place() {
            return quote_spanned!(spot=> (*&#name.get(#place)));
        }
        let (port, fetched) = (with(name, "port"), with(name, "in"));
        let is_fetched = leaf.inspector.as_ref().is_some_and(|inspector| inspector.arrays.contains(&word));
        match (is_fetched, array.tracks()) {
            (true, true) => quote_spanned!(spot=> (*&#fetched.get_own(#name, &#port, #place, #op))),
            (true, false) => quote_spanned!(spot=> (*&#fetched.get(#name, &#port, #place))),
            (false, _) => quote_spanned!(spot=> (*&#port.get(#name, #place, #op))),
        }
    }

    fn read_section(&mut self, name: &Ident, dist: &Dist, part: &crate::names::Section<'_>, span: Span) -> TokenStream {
        let spot = at(span);
        let part = self.section_tokens(part);
        let op = dist.op_tokens();
        let leaf = self.leaf.and_then(|leaf| self.plan.leaves.get(&leaf)).filter(|_| !self.inspects);
        let Some(leaf) = leaf else {
            self.error(span, "a section is read outside of any step; read it in a step's body");
            return TokenStream::new();
        };
        let (port, fetched) = (with(name, "port"), with(name, "in"));
        if leaf.inspector.as_ref().is_some_and(|inspector| inspector.arrays.contains(&name.to_string())) {
            quote_spanned!(spot=> #fetched.section(#name, &#port, #part, #op))
        } else {
            quote_spanned!(spot=> ::superstep::neststep::Fetched::none().section(#name, &#port, #part, #op))
        }
    }

    fn section_tokens(&mut self, part: &crate::names::Section<'_>) -> TokenStream {
        let (tokens, _) = section_parts(part);
        match syn::parse2::<Expr>(tokens) {
            Ok(mut range) => {
                // It is a range now, and no section any more.
                visit_mut::visit_expr_mut(self, &mut range);
                quote!(#range)
            }
            Err(error) => {
                self.errors.push(error);
                TokenStream::new()
            }
        }
    }

    /// Writes an element.
    fn write(&mut self, name: &Ident, at: &[&Expr], value: &TokenStream, is_added: bool, span: Span) -> TokenStream {
        let Some(dist) = self.dist(name) else { return TokenStream::new() };
        let (spot, word) = (self::at(span), name.to_string());
        let is_visited = is_visited(&self.around, name, at);
        let leaf = self.leaf.and_then(|leaf| self.plan.leaves.get(&leaf));
        let port = with(name, "port");
        if let Some(part) = at.iter().find_map(|at| section(at)) {
            let part = self.section_tokens(&part);
            if leaf.is_none() {
                self.error(span, "a section is written outside of any step; write it in a step's body");
            }
            return quote_spanned!(spot=> #port.assign_section(#name, #part, &(#value)[..]));
        }
        if is_visited
            && at.len() == 1
            && let Some((_, element)) = self.fast.iter().rev().find(|(array, _)| *array == word)
        {
            return quote_spanned!(spot=> *#element = #value);
        }
        let place = self.place(name, dist, at);
        let Some(leaf) = leaf else {
            let op = dist.op_tokens();
            return if is_added {
                quote_spanned!(spot=> ::superstep::neststep::add(#name, #word, #place, #value, #op))
            } else {
                quote_spanned!(spot=> ::superstep::neststep::store(#name, #word, #place, #value))
            };
        };
        match (is_visited && leaf.uses.arrays[&word].is_in_place(), is_added) {
            (true, _) => quote_spanned!(spot=> #name.set(#place, #value)),
            (false, true) => quote_spanned!(spot=> #port.add(#name, #place, #value)),
            (false, false) => quote_spanned!(spot=> #port.assign(#name, #place, #value)),
        }
    }

    /// Rewrites a place that is written, which is no element of a distributed array.
    fn target(&mut self, place: &mut Expr) {
        let span = place.span();
        if let Some((name, at)) = element(place)
            && self.replica(name).is_some_and(|replica| replica.is_array)
            && at.len() == 1
            && section(at[0]).is_none()
        {
            self.check_written(name);
            let (name, index) = (name.clone(), self.lowered(at[0]));
            *place = Expr::Verbatim(quote_spanned!(self::at(span)=> (*#name.at(#index))));
            return;
        }
        match place {
            Expr::Index(index) => {
                self.target(&mut index.expr);
                self.visit_index(&mut index.index);
            }
            Expr::Field(field) => self.target(&mut field.base),
            Expr::Paren(inner) => self.target(&mut inner.expr),
            Expr::Path(_) => {
                if let Some(name) = name_of(place).cloned()
                    && self.replica(&name).is_some()
                {
                    self.check_written(&name);
                }
                self.visit_expr_mut(place);
            }
            _ => self.visit_expr_mut(place),
        }
    }

    /// Refuses a write to a replicated variable where no step is around.
    fn check_written(&mut self, name: &Ident) {
        let Some(replica) = self.replica(name) else { return };
        if self.leaf.is_none() && self.level <= replica.level && !replica.is_parameter {
            let message = format!("`{name}` is shared and written outside of any step: write `step {{ {name} = …; }}`");
            self.error(name.span(), message);
        }
    }

    fn visit_index(&mut self, index: &mut Expr) {
        if let Some(part) = section(index) {
            let part = self.section_tokens(&part);
            *index = Expr::Verbatim(part);
        } else {
            self.visit_expr_mut(index);
        }
    }

    fn assign(&mut self, expr: &mut Expr) {
        let span = expr.span();
        let Expr::Assign(assign) = expr else { return };
        if let Some((target, source)) = redistribution(&self.plan.names, &assign.left, &assign.right)
            && self.leaf.is_some()
        {
            let port = with(target, "port");
            *expr = Expr::Verbatim(quote_spanned!(at(span)=> #port.assign_all(#target, #source)));
            return;
        }
        if let Some((name, at)) = element(&assign.left)
            && let Some(dist) = self.dist(name)
        {
            let added = contribution(&dist.op, &assign.left, &assign.right);
            let value = self.lowered(added.unwrap_or(&assign.right));
            let (name, at): (_, Vec<Expr>) = (name.clone(), at.into_iter().cloned().collect());
            let at: Vec<&Expr> = at.iter().collect();
            let tokens = self.write(&name, &at, &value, added.is_some(), span);
            *expr = Expr::Verbatim(tokens);
            return;
        }
        if let Some((name, at)) = field_of_element(&assign.left)
            && self.dist(name).is_some()
        {
            let value = self.lowered(&assign.right);
            let tokens = self.change_field(&assign.left, name, &at, |field| quote!(#field = #value), span);
            *expr = Expr::Verbatim(tokens);
            return;
        }
        if let Expr::Index(index) = &mut *assign.left
            && let Some(part @ crate::names::Section::Colons(_)) = section(&index.index)
        {
            let part = self.section_tokens(&part);
            let value = self.lowered(&assign.right);
            self.target(&mut index.expr);
            let base = &index.expr;
            *expr = Expr::Verbatim(quote_spanned!(at(span)=> #base[#part].copy_from_slice(&(#value)[..])));
            return;
        }
        if let Some(name) = self.volatile(&assign.left) {
            let value = self.lowered(&assign.right);
            *expr = Expr::Verbatim(quote_spanned!(at(span)=> __epoch.store(#name, #value)));
            return;
        }
        self.visit_expr_mut(&mut assign.right);
        self.target(&mut assign.left);
    }

    /// Reads an element, changes a field of it, and writes it back.
    fn change_field(
        &mut self,
        field: &Expr,
        name: &Ident,
        at: &[&Expr],
        change: impl FnOnce(TokenStream) -> TokenStream,
        span: Span,
    ) -> TokenStream {
        let read = self.read(name, at, span);
        let mut path = Vec::new();
        let mut part = field;
        while let Expr::Field(inner) = part {
            path.push(&inner.member);
            part = &inner.base;
        }
        path.reverse();
        let changed = change(quote!(__changed #(.#path)*));
        let write = self.write(name, at, &quote!(__changed), false, span);
        quote_spanned!(self::at(span)=> { let mut __changed = #read; #changed; #write; })
    }

    fn assign_op(&mut self, expr: &mut Expr) {
        let span = expr.span();
        let Expr::Binary(binary) = expr else { return };
        let sign = &binary.op;
        if let Some((name, at)) = element(&binary.left)
            && let Some(dist) = self.dist(name)
        {
            let value = self.lowered(&binary.right);
            let (name, at): (_, Vec<Expr>) = (name.clone(), at.into_iter().cloned().collect());
            let at: Vec<&Expr> = at.iter().collect();
            let is_fast = at.len() == 1
                && is_visited(&self.around, &name, &at)
                && self.fast.iter().any(|(array, _)| name == array);
            let tokens = if is_fast {
                let place = self.read(&name, &at, span);
                quote_spanned!(self::at(span)=> #place #sign #value)
            } else if is_own_op(&dist.op, sign) {
                self.write(&name, &at, &value, true, span)
            } else {
                let read = self.read(&name, &at, span);
                let write = self.write(&name, &at, &quote!(__changed), false, span);
                quote_spanned!(self::at(span)=> { let mut __changed = #read; __changed #sign #value; #write; })
            };
            *expr = Expr::Verbatim(tokens);
            return;
        }
        if let Some((name, at)) = field_of_element(&binary.left)
            && self.dist(name).is_some()
        {
            let value = self.lowered(&binary.right);
            let tokens = self.change_field(&binary.left, name, &at, |field| quote!(#field #sign #value), span);
            *expr = Expr::Verbatim(tokens);
            return;
        }
        if let Some(name) = self.volatile(&binary.left) {
            let value = self.lowered(&binary.right);
            *expr = Expr::Verbatim(if matches!(sign, syn::BinOp::AddAssign(_)) {
                quote_spanned!(at(span)=> { __epoch.fetch_add(#name, #value); })
            } else {
                quote_spanned!(at(span)=> { let mut __changed = __epoch.load(#name); __changed #sign #value; __epoch.store(#name, __changed); })
            });
            return;
        }
        self.visit_expr_mut(&mut binary.right);
        self.target(&mut binary.left);
    }

    /// A volatile variable, or an element of a volatile array, by reference.
    fn volatile(&mut self, expr: &Expr) -> Option<TokenStream> {
        let (name, index) = match element(expr) {
            Some((name, at)) if at.len() == 1 => (name, Some(at[0])),
            _ => (name_of(expr)?, None),
        };
        let Some(Kind::Volatile { .. }) = self.plan.names.get(&name.to_string()).map(|name| &name.kind) else {
            return None;
        };
        if !self.in_epoch {
            self.error(name.span(), format!("`{name}` is volatile: it is read and written in an `epoch {{ … }}`"));
        }
        Some(if let Some(index) = index {
            let index = self.lowered(index);
            quote!(&#name.at(#index))
        } else {
            quote!(&#name)
        })
    }

    fn call(&mut self, expr: &mut Expr) {
        let span = expr.span();
        let Expr::Call(call) = expr else { return };
        let word = name_of(&call.func).map(ToString::to_string).unwrap_or_default();
        let first = call.args.first().cloned();
        let of_array = first.as_ref().and_then(element).filter(|(name, _)| self.dist(name).is_some());
        let spot = at(span);
        match (word.as_str(), of_array) {
            ("owner" | "owned", Some((name, at))) if call.args.len() == 1 => {
                let dist = self.dist(name).expect("it is one");
                let place = self.place(name, dist, &at);
                let query = Ident::new(if word == "owner" { "owner" } else { "is_owned" }, call.func.span());
                *expr = Expr::Verbatim(quote_spanned!(spot=> #name.#query(#place)));
            }
            ("mirror", Some((name, at))) => {
                let Some(part) = at.iter().find_map(|at| section(at)) else {
                    self.error(span, "`mirror` takes a section, such as `a[lo:hi]` or `a[..]`");
                    return;
                };
                let (part, word) = (self.section_tokens(&part), name.to_string());
                *expr = Expr::Verbatim(
                    quote_spanned!(spot=> ::superstep::neststep::port(#name, #word).mirror(#name, #part)),
                );
            }
            ("update", Some((name, at))) if call.args.len() == 2 => {
                let value = self.lowered(&call.args[1]);
                let tokens = self.write(name, &at, &value, false, span);
                *expr = Expr::Verbatim(tokens);
            }
            ("fetch_add", _)
                if call.args.len() == 2 && first.as_ref().is_some_and(|first| self.volatile(first).is_some()) =>
            {
                let variable = first.as_ref().and_then(|first| self.volatile(first));
                let value = self.lowered(&call.args[1]);
                *expr = Expr::Verbatim(quote_spanned!(spot=> __epoch.fetch_add(#variable, #value)));
            }
            ("permute", _)
                if call.args.len() == 3
                    && self.leaf.is_some()
                    && first.as_ref().and_then(name_of).is_some_and(|name| self.dist(name).is_some()) =>
            {
                let (target, source, to) = (&call.args[0], &call.args[1], &call.args[2]);
                let port = with(name_of(target).expect("it is one"), "port");
                *expr = Expr::Verbatim(quote_spanned!(spot=> #port.permute(#target, #source, #to)));
            }
            ("len", _) if call.args.len() == 1 && first.as_ref().and_then(name_of).is_some() => {
                let name = name_of(&call.args[0]).cloned().expect("it is one");
                if self.plan.names.contains_key(&name.to_string()) {
                    *expr = Expr::Verbatim(quote_spanned!(spot=> #name.len()));
                } else {
                    visit_mut::visit_expr_mut(self, expr);
                }
            }
            _ if self.functions.contains_key(&word) => self.call_function(expr, &word),
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }

    fn call_function(&mut self, expr: &mut Expr, word: &str) {
        let span = expr.span();
        let Expr::Call(call) = expr else { return };
        let signature = self.functions[word].clone();
        let mut arguments = Vec::new();
        for (number, argument) in call.args.iter().enumerate() {
            let shared = signature.shared.get(number).and_then(Option::as_ref);
            let name = name_of(argument).cloned();
            arguments.push(match (shared, name) {
                (Some(Kind::Dist(_)), Some(name)) => quote!(#name),
                (Some(Kind::Replica(_)), Some(name)) if self.replica(&name).is_some() => quote!(&mut *#name),
                (Some(Kind::Replica(_)), _) => {
                    self.error(argument.span(), format!("`{word}` takes a shared variable here, by its name"));
                    TokenStream::new()
                }
                _ => self.lowered(argument),
            });
        }
        let (function, group) = (&call.func, group(span));
        *expr = Expr::Verbatim(quote_spanned!(at(span)=> #function(#group, #(#arguments),*)));
    }

    fn forall(&mut self, looping: &mut ExprForLoop) -> TokenStream {
        let span = attribute(&looping.attrs, "__forall").map_or_else(Span::call_site, |found| found.path().span());
        let Some((visiting, bounds)) = visiting(looping) else {
            self.error(span, "`forall (i, a)` takes a name and an array, and may take bounds and a stride");
            return TokenStream::new();
        };
        let array = collect(looping).into_iter().find(|word| *word == visiting.array);
        let array = array.unwrap_or_else(|| Ident::new(&visiting.array, span));
        let Some(dist) = self.dist(&array) else {
            self.error(array.span(), format!("`{array}` is no distributed array"));
            return TokenStream::new();
        };
        if visiting.names.len() != dist.spread {
            let message = format!(
                "`{array}` is distributed over {} dimensions, and the loop has {} names",
                dist.spread,
                visiting.names.len()
            );
            self.error(array.span(), message);
        }
        let (pattern, spot, label) = (looping.pat.clone(), at(span), looping.label.clone());
        let names = crate::access::bound(&pattern);
        let is_fast = bounds.is_empty()
            && dist.dims() == 1
            && !self.inspects
            && label.is_none()
            && self.is_fast(&looping.body, &visiting, &array);
        self.around.push(visiting);
        let tokens = if is_fast {
            let uses = self.uses_in(&looping.body);
            let is_written =
                uses.arrays.get(&array.to_string()).is_some_and(|array| array.own_writes + array.adds.len() > 0);
            let element = with(&array, "here");
            self.fast.push((array.to_string(), element.clone()));
            self.visit_block_mut(&mut looping.body);
            self.fast.pop();
            let body = &looping.body;
            if is_written {
                quote_spanned!(spot=> { #array.forall_mut(|#pattern, #element| { let _ = (#(&#names,)* &#element); #body }); })
            } else {
                quote_spanned!(spot=> { #array.forall(|#pattern, #element| { let #element = &#element; let _ = (#(&#names,)* #element); #body }); })
            }
        } else {
            let hidden = std::mem::take(&mut self.fast);
            let bounds: Vec<TokenStream> = bounds.iter().map(|bound| self.lowered(bound)).collect();
            self.visit_block_mut(&mut looping.body);
            self.fast = hidden;
            let indices = match &bounds[..] {
                _ if dist.spread > 1 || dist.dims() > 1 => {
                    let (dims, spread) = (dist.dims(), dist.spread);
                    quote_spanned!(spot=> ::superstep::neststep::owned_places::<_, _, #dims, #spread>(#array))
                }
                [] => quote_spanned!(spot=> ::superstep::neststep::owned(#array)),
                [low, high] => quote_spanned!(spot=> ::superstep::neststep::owned_in(#array, #low, #high, 1)),
                [low, high, by] => quote_spanned!(spot=> ::superstep::neststep::owned_in(#array, #low, #high, #by)),
                _ => {
                    self.error(span, "a `forall` takes a lower bound, an upper bound and a stride");
                    TokenStream::new()
                }
            };
            let body = &looping.body;
            let pattern = if dist.dims() > 1 && dist.spread == 1 { quote!([#pattern]) } else { quote!(#pattern) };
            quote_spanned!(spot=> #label for #pattern in #indices { let _ = (#(&#names,)*); #body })
        };
        self.around.pop();
        tokens
    }

    fn uses_in(&self, body: &Block) -> crate::access::Uses {
        let mut scan = Scan::new(&self.plan.names, self.functions);
        scan.around.clone_from(&self.around);
        scan.visit_block(body);
        scan.finish()
    }

    /// Whether a loop can run on the owner's slice: it uses nothing of the array but the element that it visits.
    fn is_fast(&self, body: &Block, visiting: &Visiting, array: &Ident) -> bool {
        let mut scan = Scan::new(&self.plan.names, self.functions);
        scan.around.clone_from(&self.around);
        scan.around.push(visiting.clone());
        scan.visit_block(body);
        let uses = scan.finish();
        let mut words = Vec::new();
        collect_words(quote!(#body), &mut words);
        let leads_out = words.iter().any(|word| word.to_string().starts_with("__step_"));
        let is_nested = words.iter().filter(|word| *word == "__forall").count() > 0;
        let is_alone = uses.arrays.get(&array.to_string()).is_none_or(|array| {
            let others =
                array.reads + array.section_reads + array.section_writes + array.assigns.len() + array.adds.len();
            others == 0 && array.passed.is_none() && !array.is_mirrored
        });
        let in_place = match self.leaf.and_then(|leaf| self.plan.leaves.get(&leaf)) {
            Some(leaf) => leaf.uses.arrays.get(&array.to_string()).is_none_or(crate::access::ArrayUse::is_in_place),
            // A function that is called in a step must not write in place.
            None => uses.arrays.get(&array.to_string()).is_none_or(|array| array.own_writes == 0),
        };
        // Its methods may look at the whole array.
        let mentions = words.iter().filter(|word| *word == array).count();
        let elements = count_elements(body, array);
        is_alone
            && in_place
            && !uses.jumps
            && !uses.calls
            && !leads_out
            && !is_nested
            && uses.steps.is_none()
            && mentions == elements
    }

    /// A warning of a step under a condition that may differ between processors. A macro has no warnings of its own, so
    /// it is the use of something that is deprecated.
    fn warning(&self, condition: &Expr, whole: &Expr) -> Option<TokenStream> {
        let mut scan = Scan::new(&self.plan.names, self.functions);
        scan.visit_expr(whole);
        let step = scan.finish().steps?;
        let mut words = Vec::new();
        collect_words(quote!(#condition), &mut words);
        let differs = |word: &Ident| {
            word == "rank" && words.iter().any(|other| other == "__group")
                || self.plan.differing.contains(&word.to_string())
        };
        words.iter().find(|word| differs(word))?;
        let spot = at(step);
        let name = Ident::new("step", step);
        Some(quote_spanned!(spot=> {
            #[deprecated(note = "this condition may differ between processors, and who does not come to the step is waited for; write `step<2, @ = if condition { 1 } else { 0 }> { if @ == 1 { … } }`")]
            #[allow(non_upper_case_globals)]
            const #name: () = ();
            #name
        }))
    }

    fn declare(&mut self, local: &Local) -> Option<TokenStream> {
        let attribute = attribute(&local.attrs, "__sh")?;
        let Pat::Type(typed) = &local.pat else { return None };
        let Pat::Ident(name) = &*typed.pat else { return None };
        let (name, span) = (&name.ident, attribute.path().span());
        let (group, spot, word) = (group(span), at(span), name.to_string());
        let init = local.init.as_ref().map(|init| self.lowered(&init.expr));
        Some(match &self.plan.names.get(&word)?.kind {
            Kind::Dist(dist) => {
                if dist.extents.iter().any(TokenStream::is_empty) {
                    self.error(
                        name.span(),
                        format!("`{name}` needs its length, `[T; n]</>`, or is imported first in a nesting step"),
                    );
                }
                let mut dist = dist.clone();
                dist.extents = dist.extents.iter().map(|extent| self.lowered_tokens(extent.clone())).collect();
                let make = dist.make(&group);
                let fill = init.map(|init| quote_spanned!(spot=> #name.local_mut().fill(#init);));
                quote_spanned!(spot=> let #name = #make; #fill)
            }
            Kind::Replica(replica) => {
                let ty = &replica.ty;
                let op = replica.strategy.op.tokens(ty);
                let default = quote!(<#ty as ::core::default::Default>::default());
                if replica.is_array {
                    let init = match (init, &replica.len) {
                        (Some(init), _) => quote!(::std::vec::Vec::from(#init)),
                        (None, Some(len)) => {
                            let len = self.lowered_tokens(len.clone());
                            quote!(::std::vec![#default; #len])
                        }
                        (None, None) => quote!(::std::vec::Vec::new()),
                    };
                    quote_spanned!(spot=> let #name = &mut ::superstep::neststep::Cells::<#ty>::new(#group, #init, #op, #word);)
                } else {
                    let init = init.unwrap_or(default);
                    quote_spanned!(spot=> let #name = &mut ::superstep::neststep::Var::<#ty>::new(#group, #init, #op, #word);)
                }
            }
            Kind::Volatile { ty, len, owner } => {
                let init = init.unwrap_or_else(|| quote!(<#ty as ::core::default::Default>::default()));
                if let Some(len) = len {
                    let len = self.lowered_tokens(len.clone());
                    quote_spanned!(spot=> let #name = #group.volatile_array::<#ty>(#owner, #len, #init);)
                } else {
                    quote_spanned!(spot=> let #name = #group.volatile::<#ty>(#owner, #init);)
                }
            }
        })
    }

    pub(crate) fn lowered_tokens(&mut self, tokens: TokenStream) -> TokenStream {
        match syn::parse2::<Expr>(tokens) {
            Ok(expr) => self.lowered(&expr),
            Err(error) => {
                self.errors.push(error);
                TokenStream::new()
            }
        }
    }
}

/// The words of a loop's attributes.
fn collect(looping: &ExprForLoop) -> Vec<Ident> {
    let mut words = Vec::new();
    for attribute in &looping.attrs {
        collect_words(quote!(#attribute), &mut words);
    }
    words
}

/// How often an array is named as the base of an element.
fn count_elements(body: &Block, array: &Ident) -> usize {
    struct Count<'a>(&'a Ident, usize);
    impl<'ast> Visit<'ast> for Count<'_> {
        fn visit_expr_index(&mut self, index: &'ast syn::ExprIndex) {
            self.1 += usize::from(name_of(&index.expr).is_some_and(|name| name == self.0));
            syn::visit::visit_expr_index(self, index);
        }

        fn visit_macro(&mut self, mac: &'ast syn::Macro) {
            macro_arguments(mac).unwrap_or_default().iter().for_each(|argument| {
                let mut inner = Count(self.0, 0);
                inner.visit_expr(argument);
                self.1 += inner.1;
            });
        }
    }
    let mut count = Count(array, 0);
    count.visit_block(body);
    count.1
}

impl VisitMut for Lower<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let mut stmts = Vec::new();
        for mut stmt in std::mem::take(&mut block.stmts) {
            match &mut stmt {
                Stmt::Local(local) if attribute(&local.attrs, "__sh").is_some() => {
                    let tokens = self.declare(local).unwrap_or_default();
                    stmts.push(Stmt::Expr(Expr::Verbatim(tokens), None));
                    continue;
                }
                Stmt::Expr(expr, _) if is_call(expr, "export") => continue,
                Stmt::Expr(expr, semi) if step_of(expr).is_some() => {
                    self.visit_expr_mut(expr);
                    *semi = None;
                }
                Stmt::Expr(expr, _) if loop_number(expr).is_some() => {
                    let number = loop_number(expr);
                    self.visit_expr_mut(expr);
                    let open = number.and_then(|number| self.plan.behind.get(&number)).cloned().unwrap_or_default();
                    stmts.push(stmt);
                    for step in open {
                        let tokens = self.close_behind(step);
                        stmts.push(Stmt::Expr(Expr::Verbatim(tokens), None));
                    }
                    continue;
                }
                Stmt::Macro(mac) if mac.mac.path.is_ident("__want") || mac.mac.path.is_ident("__want_section") => {
                    let is_section = mac.mac.path.is_ident("__want_section");
                    let parts = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(mac.mac.tokens.clone());
                    if let Ok(parts) = parts
                        && let [wanted, array, place] = &parts.into_iter().collect::<Vec<_>>()[..]
                    {
                        let spot = at(array.span());
                        let place = self.lowered(place);
                        let verb = Ident::new(if is_section { "want_section" } else { "want" }, spot);
                        let tokens = quote_spanned!(spot=> #wanted.#verb(#array, #place););
                        stmts.push(Stmt::Expr(Expr::Verbatim(tokens), None));
                    }
                    continue;
                }
                other => self.visit_stmt_mut(other),
            }
            stmts.push(stmt);
        }
        block.stmts = stmts;
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let span = expr.span();
        match expr {
            Expr::Block(step) if attribute(&step.attrs, "__step").is_some() => {
                let step = step.clone();
                *expr = Expr::Verbatim(self.step(step));
            }
            Expr::Block(block) if attribute(&block.attrs, "__seq").is_some() => {
                self.visit_block_mut(&mut block.block);
                let (group, block) = (group(span), &block.block);
                *expr = Expr::Verbatim(quote_spanned!(at(span)=> if #group.is_leader() #block));
            }
            Expr::Block(block) if attribute(&block.attrs, "__epoch").is_some() => {
                let mut words = Vec::new();
                let inner = &block.block;
                collect_words(quote!(#inner), &mut words);
                // In a step, jumps have been rewritten already.
                let was_jump = |word: &Ident| word.to_string().starts_with("__step_");
                if crate::jumps::lead_out(inner) || words.iter().any(was_jump) {
                    self.error(span, "a jump leads out of this epoch; it ends when all have ended it");
                }
                let before = std::mem::replace(&mut self.in_epoch, true);
                self.visit_block_mut(&mut block.block);
                self.in_epoch = before;
                let (group, block) = (group(span), &block.block);
                *expr = Expr::Verbatim(quote_spanned!(at(span)=> {
                    let __here = ::superstep::neststep::Here::of(#group);
                    #group.epoch(|__epoch| { #[allow(unused_variables)] let #group = &__here; #block });
                }));
            }
            Expr::ForLoop(looping) if attribute(&looping.attrs, "__forall").is_some() => {
                let mut looping = looping.clone();
                *expr = Expr::Verbatim(self.forall(&mut looping));
            }
            Expr::ForLoop(looping) => {
                looping.attrs.retain(|attribute| !attribute.path().is_ident("__loop"));
                visit_mut::visit_expr_mut(self, expr);
            }
            Expr::While(looping) => {
                looping.attrs.retain(|attribute| !attribute.path().is_ident("__loop"));
                let warning = self.warning(expr_condition(&looping.cond), &Expr::While(looping.clone()));
                visit_mut::visit_expr_mut(self, expr);
                if let Some(warning) = warning {
                    *expr = Expr::Verbatim(quote!({ #warning #expr }));
                }
            }
            Expr::If(branch) if self.leaf.is_none() => {
                let warning = self.warning(expr_condition(&branch.cond), &Expr::If(branch.clone()));
                visit_mut::visit_expr_mut(self, expr);
                if let Some(warning) = warning {
                    *expr = Expr::Verbatim(quote!({ #warning #expr }));
                }
            }
            Expr::Assign(_) => self.assign(expr),
            Expr::Binary(binary) if assigns(&binary.op) => self.assign_op(expr),
            Expr::Reference(reference) if reference.mutability.is_some() => self.target(&mut reference.expr),
            Expr::MethodCall(call) => {
                if is_pure(&call.method) || base_of(&call.receiver).is_none_or(|base| self.replica(base).is_none()) {
                    self.visit_expr_mut(&mut call.receiver);
                } else {
                    // Whether it writes is for the compiler to find out, so it is no error yet.
                    let level = std::mem::replace(&mut self.level, usize::MAX);
                    self.target(&mut call.receiver);
                    self.level = level;
                }
                call.args.iter_mut().for_each(|argument| self.visit_expr_mut(argument));
            }
            Expr::Index(_) => {
                if let Some((name, at)) = element(expr)
                    && self.dist(name).is_some()
                {
                    let (name, at): (_, Vec<Expr>) = (name.clone(), at.into_iter().cloned().collect());
                    let tokens = self.read(&name, &at.iter().collect::<Vec<_>>(), span);
                    *expr = Expr::Verbatim(tokens);
                } else if let Some(variable) = self.volatile(expr) {
                    *expr = Expr::Verbatim(quote_spanned!(at(span)=> __epoch.load(#variable)));
                } else if let Expr::Index(index) = expr {
                    self.visit_expr_mut(&mut index.expr);
                    self.visit_index(&mut index.index);
                }
            }
            Expr::Call(_) => self.call(expr),
            Expr::Path(_) => {
                let Some(name) = name_of(expr).cloned() else { return };
                if name == "thisgroup" {
                    let group = group(span);
                    *expr = Expr::Verbatim(quote!(#group));
                } else if self.replica(&name).is_some() {
                    *expr = Expr::Verbatim(quote_spanned!(at(span)=> (**#name)));
                } else if let Some(variable) = self.volatile(expr) {
                    *expr = Expr::Verbatim(quote_spanned!(at(span)=> __epoch.load(#variable)));
                }
            }
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        let Some(mut arguments) = macro_arguments(mac) else { return };
        for argument in &mut arguments {
            match argument {
                Expr::Assign(named) => self.visit_expr_mut(&mut named.right),
                other => self.visit_expr_mut(other),
            }
        }
        let mut top = mac.tokens.clone().into_iter();
        let is_filled = mac.path.is_ident("vec")
            && top.any(|token| matches!(token, proc_macro2::TokenTree::Punct(mark) if mark.as_char() == ';'));
        mac.tokens = if is_filled { quote!(#(#arguments);*) } else { quote!(#(#arguments),*) };
    }

    fn visit_pat_ident_mut(&mut self, pattern: &mut syn::PatIdent) {
        if self.plan.names.contains_key(&pattern.ident.to_string()) {
            let message = format!("`{}` is shared here; give the private one another name", pattern.ident);
            self.error(pattern.ident.span(), message);
        }
        visit_mut::visit_pat_ident_mut(self, pattern);
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

pub(crate) fn is_call(expr: &Expr, word: &str) -> bool {
    matches!(expr, Expr::Call(call) if name_of(&call.func).is_some_and(|name| name == word))
}

/// The value that a condition tests.
fn expr_condition(condition: &Expr) -> &Expr {
    match condition {
        Expr::Let(test) => &test.expr,
        other => other,
    }
}
