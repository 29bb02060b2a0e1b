//! Reads and writes of elements, sections and variables.

use crate::{
    forms::{contribution, is_own_op, is_plain, is_visited, redistribution, section_parts},
    lower::{Lower, at, call, with},
    names::{Dist, Kind, element, name_of, section},
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{
    Expr,
    spanned::Spanned,
    visit_mut::{self, VisitMut},
};

/// A value that is lent, where it stands.
pub(crate) fn lent(value: &TokenStream, span: Span) -> TokenStream {
    quote_spanned!(at(span)=> &(#value))
}

impl Lower<'_> {
    pub(crate) fn place(&mut self, name: &Ident, dist: &Dist, at: &[&Expr]) -> TokenStream {
        if at.len() != dist.dims() {
            let message = format!("`{name}` has {} dimensions, and this names {}", dist.dims(), at.len());
            self.error(name.span(), message);
        }
        let parts: Vec<TokenStream> = at.iter().map(|at| self.lowered(at)).collect();
        if let [one] = &parts[..] { quote!(#one) } else { quote!([#(#parts),*]) }
    }

    /// The value of an element, as a place that can only be read.
    pub(crate) fn read(&mut self, name: &Ident, at: &[&Expr], span: Span) -> TokenStream {
        let Some(dist) = self.dist(name) else { return TokenStream::new() };
        let (spot, word) = (self::at(span), name.to_string());
        let is_visited = is_visited(&self.around, name, at);
        if let Some(part) = at.iter().find_map(|at| section(at)) {
            return self.read_section(name, dist, &part, span, None);
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
        let (port, fetched, next) = (with(name, "port"), with(name, "in"), with(name, "next"));
        if is_visited {
            // It is here, and nobody has asked for it.
            let read = if array.stores() {
                call(port, "get", span, quote!(#name, #place, #op))
            } else {
                call(name, "get", span, place)
            };
            return quote_spanned!(spot=> (*&#read));
        }
        let is_fetched = leaf.inspector.as_ref().is_some_and(|inspector| inspector.arrays.contains(&word));
        // A place that can only be read.
        let value = |read: TokenStream| quote_spanned!(spot=> (*&#read));
        match (is_fetched, array.tracks()) {
            (true, true) => value(call(fetched, "get_own", span, quote!(&mut #next, #name, &#port, #place, #op))),
            (true, false) => value(call(fetched, "get", span, quote!(&mut #next, #name, &#port, #place))),
            (false, _) => value(call(port, "get", span, quote!(#name, #place, #op))),
        }
    }

    /// Reads a section, as a vector or into the slice that the last tokens are.
    fn read_section(
        &mut self,
        name: &Ident,
        dist: &Dist,
        part: &crate::names::Section<'_>,
        span: Span,
        into: Option<&TokenStream>,
    ) -> TokenStream {
        let part = self.section_tokens(part);
        let op = dist.op_tokens();
        let leaf = self.leaf.and_then(|leaf| self.plan.leaves.get(&leaf)).filter(|_| !self.inspects);
        let Some(leaf) = leaf else {
            self.error(span, "a section is read outside of any step; read it in a step's body");
            return TokenStream::new();
        };
        let (port, fetched) = (with(name, "port"), with(name, "in"));
        let is_fetched = leaf.inspector.as_ref().is_some_and(|inspector| inspector.arrays.contains(&name.to_string()));
        let fetched = if is_fetched { quote!(#fetched) } else { quote!(::superstep::neststep::Fetched::none()) };
        match into {
            None => call(fetched, "section", span, quote!(#name, &#port, #part, #op)),
            Some(into) => call(fetched, "copy_section", span, quote!(#name, &#port, #part, #op, #into)),
        }
    }

    pub(crate) fn section_tokens(&mut self, part: &crate::names::Section<'_>) -> TokenStream {
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
    pub(crate) fn write(
        &mut self,
        name: &Ident,
        at: &[&Expr],
        value: &TokenStream,
        is_added: bool,
        span: Span,
    ) -> TokenStream {
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
            return call(port, "assign_section", span, quote!(#name, #part, #value));
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
            (true, _) => call(name, "set", span, quote!(#place, #value)),
            (false, true) => {
                let op = dist.op_tokens();
                let by = if leaf.uses.arrays[&word].counts() { with(name, "adding") } else { port };
                call(by, "add", span, quote!(#name, #place, #value, #op))
            }
            (false, false) => call(port, "assign", span, quote!(#name, #place, #value)),
        }
    }

    /// Rewrites a place that is written, which is no element of a distributed array.
    pub(crate) fn target(&mut self, place: &mut Expr) {
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

    pub(crate) fn visit_index(&mut self, index: &mut Expr) {
        if let Some(part) = section(index) {
            let part = self.section_tokens(&part);
            *index = Expr::Verbatim(part);
        } else {
            self.visit_expr_mut(index);
        }
    }

    pub(crate) fn assign(&mut self, expr: &mut Expr) {
        let span = expr.span();
        let Expr::Assign(assign) = expr else { return };
        if let Some((target, source)) = redistribution(&self.plan.names, &assign.left, &assign.right)
            && self.leaf.is_some()
        {
            let port = with(target, "port");
            *expr = Expr::Verbatim(call(port, "assign_all", span, quote!(#target, #source)));
            return;
        }
        if let Some((name, at)) = element(&assign.left)
            && let Some(dist) = self.dist(name)
        {
            let added = contribution(&dist.op, &assign.left, &assign.right);
            let value = added.unwrap_or(&assign.right);
            // As in Rust, what is assigned is evaluated before the place; a section is handed over where it lies.
            let is_section = at.iter().any(|at| section(at).is_some());
            let is_first = !is_plain(value) || !at.iter().all(|at| is_plain(at));
            let value = self.lowered(value);
            let (name, at): (_, Vec<Expr>) = (name.clone(), at.into_iter().cloned().collect());
            let at: Vec<&Expr> = at.iter().collect();
            let tokens = if is_first && is_section {
                let write = self.write(&name, &at, &quote!(__value), false, span);
                let value = lent(&value, assign.right.span());
                quote_spanned!(self::at(span)=> match #value { __value => #write })
            } else if is_first {
                let write = self.write(&name, &at, &quote!(__value), added.is_some(), span);
                quote_spanned!(self::at(span)=> { let __value = #value; #write; })
            } else {
                let value = if is_section { lent(&value, assign.right.span()) } else { value };
                self.write(&name, &at, &value, added.is_some(), span)
            };
            *expr = Expr::Verbatim(tokens);
            return;
        }
        if let Expr::Index(index) = &mut *assign.left
            && let Some(part @ crate::names::Section::Colons(_)) = section(&index.index)
        {
            let part = self.section_tokens(&part);
            self.target(&mut index.expr);
            let base = &index.expr;
            if let Some((name, at)) = element(&assign.right)
                && let Some(dist) = self.dist(name)
                && let Some(read) = at.iter().find_map(|at| section(at))
            {
                // It is copied once, from where it lies.
                let into = quote!(&mut #base[#part]);
                let tokens = self.read_section(name, dist, &read, assign.right.span(), Some(&into));
                *expr = Expr::Verbatim(tokens);
                return;
            }
            let value = self.lowered(&assign.right);
            let value = lent(&value, assign.right.span());
            *expr = Expr::Verbatim(quote_spanned!(at(span)=> ::superstep::neststep::copy(&mut #base[#part], #value)));
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

    /// Indices that may be named twice: what has an effect is evaluated once, by the first tokens.
    fn bound(&mut self, at: &[&Expr]) -> (TokenStream, Vec<Expr>) {
        if at.iter().all(|at| is_plain(at)) {
            return (TokenStream::new(), at.iter().map(|&at| at.clone()).collect());
        }
        let mut lets = TokenStream::new();
        let mut names = Vec::new();
        for (number, at) in at.iter().enumerate() {
            let (name, value) = (format_ident!("__at_{number}", span = Span::call_site()), self.lowered(at));
            lets.extend(quote_spanned!(self::at(at.span())=> let #name = #value;));
            names.push(syn::parse_quote!(#name));
        }
        (lets, names)
    }

    pub(crate) fn assign_op(&mut self, expr: &mut Expr) {
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
            } else if is_own_op(&dist.op, sign) && at.iter().all(|at| is_plain(at)) {
                self.write(&name, &at, &value, true, span)
            } else if is_own_op(&dist.op, sign) {
                let write = self.write(&name, &at, &quote!(__value), true, span);
                quote_spanned!(self::at(span)=> { let __value = #value; #write; })
            } else {
                let (lets, at) = self.bound(&at);
                let at: Vec<&Expr> = at.iter().collect();
                let read = self.read(&name, &at, span);
                let write = self.write(&name, &at, &quote!(__changed), false, span);
                quote_spanned!(self::at(span)=> {
                    let __value = #value; #lets let mut __changed = #read; __changed #sign __value; #write;
                })
            };
            *expr = Expr::Verbatim(tokens);
            return;
        }
        if let Some(name) = self.volatile(&binary.left) {
            let value = self.lowered(&binary.right);
            *expr = Expr::Verbatim(if matches!(sign, syn::BinOp::AddAssign(_)) {
                quote_spanned!(at(span)=> { __epoch.fetch_add(#name, #value); })
            } else {
                quote_spanned!(at(span)=> {
                    let mut __changed = __epoch.load(#name);
                    __changed #sign #value;
                    __epoch.store(#name, __changed);
                })
            });
            return;
        }
        self.visit_expr_mut(&mut binary.right);
        self.target(&mut binary.left);
    }

    /// A volatile variable, or an element of a volatile array, by reference.
    pub(crate) fn volatile(&mut self, expr: &Expr) -> Option<TokenStream> {
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
}
