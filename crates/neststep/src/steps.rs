//! Steps: what comes before the body, the body, and the boundary.

use crate::{
    access::Scan,
    combining::Combine,
    forms::collect_words,
    lower::{Lower, at, call, is_call, with},
    names::{Kind, Name, Replica, Section, arguments, attribute, element, named, section},
    plan::{Leaf, how, number},
    tokens::group,
};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use std::collections::BTreeSet;
use syn::{
    Block, Expr, ExprBlock, Pat, Stmt,
    spanned::Spanned,
    visit::Visit,
    visit_mut::{self, VisitMut},
};

/// What a boundary is handed, and what is done with what comes of it.
#[derive(Default)]
struct Boundary {
    /// Each with the pattern that its value is bound to.
    sends: Vec<(TokenStream, TokenStream)>,
    settles: TokenStream,
}

impl Boundary {
    fn add(&mut self, pattern: TokenStream, send: TokenStream) {
        self.sends.push((pattern, send));
    }

    /// As pairs in pairs: the library takes tuples of a few.
    fn nested(parts: &[TokenStream]) -> TokenStream {
        match parts {
            [] => quote!(()),
            [first, rest @ ..] => {
                let rest = Self::nested(rest);
                quote!((#first, #rest))
            }
        }
    }

    fn tokens(&self, span: Span) -> TokenStream {
        let (group, spot) = (group(span), at(span));
        let (patterns, sends): (Vec<_>, Vec<_>) = self.sends.iter().cloned().unzip();
        let (patterns, sends, settles) = (Self::nested(&patterns), Self::nested(&sends), &self.settles);
        let step = call(group, "step", span, quote_spanned!(spot=> |__s| #sends));
        quote_spanned!(spot=> let #patterns = #step; #settles)
    }
}

fn flag(number: usize) -> Ident {
    format_ident!("__open_{}", number, span = Span::call_site())
}

fn name(word: &str) -> Ident {
    named(word, Span::call_site())
}

impl Lower<'_> {
    pub(crate) fn step(&mut self, mut step: ExprBlock) -> TokenStream {
        match (number(&step), how(&step)) {
            (Some(number), None) => self.leaf(number, &mut step),
            (Some(_), Some(how)) => self.nest(how, &mut step),
            (None, _) => TokenStream::new(),
        }
    }

    fn span_of(step: &ExprBlock) -> Span {
        attribute(&step.attrs, "__step").map_or_else(Span::call_site, |attribute| attribute.path().span())
    }

    /// Variables that tell whether a step is still open.
    pub(crate) fn flags(&self) -> TokenStream {
        let mut open: Vec<usize> = self.plan.behind.values().flatten().copied().collect();
        open.sort_unstable();
        let flags = open.into_iter().map(flag);
        quote!(#(let mut #flags = false;)*)
    }

    fn is_flagged(&self, number: usize) -> bool {
        self.plan.behind.values().flatten().any(|other| *other == number)
    }

    /// Holds the boundary of a step behind the loop that it is in.
    pub(crate) fn close_behind(&mut self, number: usize) -> TokenStream {
        let Some(leaf) = self.plan.leaves.get(&number) else { return TokenStream::new() };
        let mut boundary = Boundary::default();
        let ports = Self::ports(&leaf.uses.arrays.keys().cloned().collect());
        self.hand_over(leaf, &mut boundary);
        let (flag, tokens) = (flag(number), boundary.tokens(leaf.span));
        quote!(if #flag { #ports #tokens })
    }

    fn ports(arrays: &BTreeSet<String>) -> TokenStream {
        let mut ports = TokenStream::new();
        for word in arrays {
            let name = name(word);
            let port = with(&name, "port");
            ports.extend(quote!(#[allow(unused_variables)] let #port = ::superstep::neststep::port(#name, #word);));
        }
        ports
    }

    /// Everything that a step has written goes to its boundary.
    fn hand_over(&mut self, leaf: &Leaf, boundary: &mut Boundary) {
        for (word, array) in &leaf.uses.arrays {
            if array.mixes() {
                let name = name(word);
                let (port, marks) = (with(&name, "port"), with(&name, "marks"));
                boundary.add(quote!(#marks), quote!(#port.both(__s)));
                boundary.settles.extend(quote!(#port.check_both(&#marks);));
            }
            if array.stores() || array.is_mirrored {
                self.send_array(word, boundary, leaf.span);
            }
        }
        let combined: BTreeSet<String> = leaf.combine.iter().map(|one| one.name.to_string()).collect();
        for word in leaf.uses.written.keys().filter(|word| !combined.contains(*word)) {
            self.send_replica(word, None, boundary);
        }
        for one in &leaf.combine {
            self.send_replica(&one.name.to_string(), Some(one), boundary);
        }
        for word in &leaf.uses.replicas {
            if !combined.contains(word) && !leaf.uses.written.contains_key(word) {
                let (name, group) = (name(word), group(Span::call_site()));
                boundary.settles.extend(quote!(#name.check(#group);));
            }
        }
    }

    fn send_array(&self, word: &str, boundary: &mut Boundary, span: Span) {
        let Some(Name { kind: Kind::Dist(dist), .. }) = self.plan.names.get(word) else { return };
        let name = name(word);
        let (port, op) = (with(&name, "port"), dist.op_tokens());
        if dist.dims() > 1 {
            boundary.add(quote!(()), call(port, "send_places", span, quote!(__s, #name, #op)));
        } else {
            let got = with(&name, "mirrored");
            let send = call(&port, "send", span, quote!(__s, #name, #op));
            boundary.add(quote!(#got), send);
            boundary.settles.extend(quote!(#port.settle(#got);));
        }
    }

    fn send_replica(&mut self, word: &str, combine: Option<&Combine>, boundary: &mut Boundary) {
        let Some(Name { kind: Kind::Replica(replica), .. }) = self.plan.names.get(word) else { return };
        let (name, group) = (name(word), group(Span::call_site()));
        let strategy = combine.map_or(&replica.strategy, |combine| &combine.strategy);
        let op = strategy.op.tokens(&replica.ty);
        match &strategy.prefix {
            None if combine.is_none() => boundary.add(quote!(()), quote!(#name.send(__s))),
            None => boundary.add(quote!(()), quote!(#name.send_with(__s, #op))),
            Some(target) => {
                let below = with(&name, "below");
                boundary.add(quote!(#below), quote!(#name.send_prefix(__s, #op)));
                let span = target.clone().into_iter().next().map_or_else(Span::call_site, |token| token.span());
                let target = self.lowered_tokens(target.clone());
                let mut value = below.clone();
                value.set_span(at(span));
                if replica.is_array {
                    boundary.settles.extend(quote!(let #below = #name.prefix(#below, #op);));
                }
                boundary.settles.extend(quote_spanned!(span=> #target = #value;));
            }
        }
        boundary.settles.extend(quote!(#name.settle(#group);));
    }

    /// What is fetched before the body.
    fn fetch(&mut self, leaf: &Leaf, boundary: &mut Boundary) -> (TokenStream, TokenStream, TokenStream) {
        let (mut wanted, mut inspect, mut fetched) = (TokenStream::new(), TokenStream::new(), TokenStream::new());
        let Some(inspector) = &leaf.inspector else { return (wanted, inspect, fetched) };
        for word in &inspector.arrays {
            let Some(Name { kind: Kind::Dist(dist), .. }) = self.plan.names.get(word) else { continue };
            let name = name(word);
            let (list, port, found) = (with(&name, "wanted"), with(&name, "port"), with(&name, "in"));
            let got = with(&name, "got");
            wanted.extend(quote!(let #list = ::superstep::neststep::Wanted::new(&#port);));
            inspect.extend(quote!(#list.clear();));
            if dist.dims() > 1 {
                boundary.add(quote!(#got), quote!(#list.send_places(__s, #name, &#port)));
                fetched.extend(
                    quote!(let #found = ::superstep::neststep::Fetched::new(#list, (#got, ::std::vec::Vec::new()));),
                );
            } else {
                boundary.add(quote!(#got), quote!(#list.send(__s, #name, &#port)));
                fetched.extend(quote!(let #found = ::superstep::neststep::Fetched::new(#list, #got);));
            }
        }
        for word in &inspector.arrays {
            let name = name(word);
            let (found, next) = (with(&name, "in"), with(&name, "next"));
            fetched.extend(quote!(#[allow(unused_variables, unused_mut)] let mut #next = #found.cursor();));
        }
        let code = &inspector.code;
        match syn::parse2::<Block>(quote!({ #code })) {
            Ok(mut code) => {
                let before = (self.leaf.take(), std::mem::replace(&mut self.inspects, true));
                self.visit_block_mut(&mut code);
                (self.leaf, self.inspects) = before;
                inspect.extend(quote!(::superstep::neststep::inspect(|| #code);));
            }
            Err(error) => self.errors.push(error),
        }
        (wanted, inspect, fetched)
    }

    /// What comes before the body: the inspector, and a boundary for what it asks and for steps that are still open.
    fn enter(&mut self, leaf: &Leaf, span: Span) -> TokenStream {
        if leaf.inspector.is_none() && leaf.mirrored.is_empty() {
            return TokenStream::new();
        }
        let mut boundary = Boundary::default();
        let mut sent = BTreeSet::new();
        for number in &leaf.before {
            if let Some(before) = self.plan.leaves.get(number) {
                sent.extend(
                    before
                        .uses
                        .arrays
                        .iter()
                        .filter(|(_, array)| array.stores() || array.is_mirrored)
                        .map(|(word, _)| word.clone()),
                );
                sent.extend(before.uses.written.keys().cloned());
            }
        }
        sent.extend(leaf.mirrored.iter().cloned());
        for word in &sent {
            self.send_array(word, &mut boundary, span);
            self.send_replica(word, None, &mut boundary);
        }
        let closed: TokenStream = leaf
            .before
            .iter()
            .filter(|number| self.is_flagged(**number))
            .map(|number| {
                let flag = flag(*number);
                quote!(#flag = false;)
            })
            .collect();
        let mut names: BTreeSet<String> = sent
            .into_iter()
            .filter(|word| matches!(self.plan.names.get(word), Some(Name { kind: Kind::Dist(_), .. })))
            .collect();
        names.extend(leaf.inspector.iter().flat_map(|inspector| inspector.arrays.iter().cloned()));
        let ports = Self::ports(&names);
        let own = boundary.sends.len();
        let (wanted, inspect, fetched) = self.fetch(leaf, &mut boundary);
        let group = group(span);
        let asks = leaf.inspector.as_ref().is_some_and(|inspector| inspector.words.contains("__group"));
        let gots: Vec<TokenStream> = boundary.sends[own..].iter().map(|(pattern, _)| pattern.clone()).collect();
        let tokens = boundary.tokens(span);
        if asks {
            // Ranks change when somebody has left, and then the indices do.
            let gots = Boundary::nested(&gots);
            quote!(#ports #wanted let #gots = loop {
                #inspect
                let __size = #group.size();
                #tokens
                if #group.size() == __size { break #gots; }
            }; #closed #fetched)
        } else {
            quote!(#ports #wanted #inspect #tokens #closed #fetched)
        }
    }

    fn leaf(&mut self, number: usize, step: &mut ExprBlock) -> TokenStream {
        let Some(leaf) = self.plan.leaves.get(&number) else { return TokenStream::new() };
        let span = Self::span_of(step);
        let (group, spot) = (group(span), at(span));
        let enter = self.enter(leaf, span);
        let ports = Self::ports(&leaf.uses.arrays.keys().cloned().collect());
        let mut tracks = TokenStream::new();
        let mut give_back = TokenStream::new();
        for (word, array) in &leaf.uses.arrays {
            let name = name(word);
            let (port, fetched) = (with(&name, "port"), with(&name, "in"));
            let is_tracking = array.tracks();
            tracks.extend(quote!(#port.begin(#is_tracking);));
            if array.mixes() {
                tracks.extend(quote!(#port.mix();));
            }
            if array.counts() {
                let adding = with(&name, "adding");
                tracks
                    .extend(quote!(#[allow(unused_mut)] let mut #adding = ::superstep::neststep::Adding::new(&#port);));
                give_back.extend(quote!(#adding.end();));
            }
            if leaf.inspector.as_ref().is_some_and(|inspector| inspector.arrays.contains(word)) {
                give_back.extend(quote!(#fetched.give_back(&#port);));
            }
        }
        let mut lends = TokenStream::new();
        for word in leaf.uses.written.keys() {
            let name = name(word);
            tracks.extend(quote!(#name.begin(#group);));
            if !leaf.uses.calls && self.replica(&name).is_some_and(Replica::is_number) {
                let mine = with(&name, "mine");
                tracks.extend(quote!(let mut #mine = #name.lend();));
                lends.extend(quote!(#[allow(unused_variables)] let #name = &mut #mine;));
                give_back.extend(quote!(#name.take_back(#mine);));
            }
        }
        self.leaf = Some(number);
        self.visit_block_mut(&mut step.block);
        self.leaf = None;
        let inside = quote_spanned!(spot=> let __inside = ::superstep::neststep::inside(#group); #lends);
        let (body, value) = Self::body(step, &inside);
        let end = if leaf.is_open {
            let flag = self.is_flagged(number).then(|| {
                let flag = flag(number);
                quote!(#flag = true;)
            });
            quote!(#flag)
        } else {
            let mut boundary = Boundary::default();
            self.hand_over(leaf, &mut boundary);
            boundary.tokens(span)
        };
        quote_spanned!(spot=> { #enter #ports #tracks #body #give_back #end #value })
    }

    /// The body with its guard, and the value that says how it has ended.
    fn body(step: &ExprBlock, inside: &TokenStream) -> (TokenStream, TokenStream) {
        let block = &step.block;
        match (attribute(&step.attrs, "__flow"), &step.label) {
            (Some(flow), Some(label)) => {
                let value = arguments(flow);
                let body = quote! {
                    #[allow(unreachable_code)]
                    let __flow: ::superstep::neststep::Flow<#value> = #label {
                        #inside
                        { #block };
                        ::superstep::neststep::Flow::Next
                    };
                };
                (body, quote!(__flow))
            }
            _ => (quote!({ #inside #block }), TokenStream::new()),
        }
    }

    fn nest(&mut self, how: TokenStream, step: &mut ExprBlock) -> TokenStream {
        let span = Self::span_of(step);
        let (group, spot) = (group(span), at(span));
        let how = self.form(how, span);
        let mut scan = Scan::new(&self.plan.names, self.functions);
        scan.visit_block(&step.block);
        let uses = scan.finish();
        let combine = number(step).and_then(|number| self.plan.combines.get(&number)).cloned().unwrap_or_default();
        let outer: Vec<Ident> = uses
            .written
            .keys()
            .map(|word| name(word))
            .filter(|name| {
                self.replica(name).is_some_and(|replica| replica.level <= self.level)
                    && combine.iter().all(|one| one.name != *name)
            })
            .collect();
        let import = self.import(step);
        self.level += 1;
        self.visit_block_mut(&mut step.block);
        self.level -= 1;
        let inside = quote_spanned!(spot=> let __inside = ::superstep::neststep::within(#group););
        let (body, value) = Self::body(step, &inside);
        let value = if value.is_empty() { quote!(()) } else { value };
        let up = quote!(#(#outer.send_up();)*);
        let split = if let Some(Import { array, name, range, is_copied }) = import {
            let local = if is_copied {
                quote!(let #name = &::superstep::neststep::copied(#group, __part);)
            } else {
                quote!(let #name = __part;)
            };
            quote_spanned!(spot=> #group.split_on(#how, #array, |__id| #range, |#group, __part| {
                #local #body #up
                ::superstep::Local(#value)
            }))
        } else {
            let body = quote_spanned!(spot=> #how, |#group| { #body #up ::superstep::Local(#value) });
            call(&group, "split", span, body)
        };
        let mut boundary = Boundary::default();
        for one in &combine {
            self.send_replica(&one.name.to_string(), Some(one), &mut boundary);
        }
        let combined = (!combine.is_empty()).then(|| boundary.tokens(span));
        let settle = quote!(#(#outer.settle(#group);)*);
        let (keep, value) = if attribute(&step.attrs, "__flow").is_some() {
            (quote!(let __flow =), quote!(__flow.unwrap_or(::superstep::neststep::Flow::Next)))
        } else {
            (TokenStream::new(), TokenStream::new())
        };
        quote_spanned!(spot=> { #keep #split; #settle #combined #value })
    }

    /// The form of a split.
    fn form(&mut self, how: TokenStream, span: Span) -> TokenStream {
        let mut parts = how.into_iter();
        let mut part = || match parts.next() {
            Some(TokenTree::Group(group)) => group.stream(),
            Some(other) => TokenStream::from(other),
            None => TokenStream::new(),
        };
        let (count, form, value) = (part(), part(), part());
        let count = self.lowered_tokens(count);
        let spot = at(span);
        match form.to_string().as_str() {
            "every" => quote_spanned!(spot=> ::superstep::groups::Every(#count)),
            "by" => {
                let value = self.lowered_tokens(value);
                quote_spanned!(spot=> ::superstep::groups::By(#count, ::superstep::neststep::choice(#value)))
            }
            "weights" => {
                let value = self.lowered_tokens(value);
                quote_spanned!(spot=> ::superstep::groups::Weighted(&::superstep::neststep::weights(#count, &#value)))
            }
            _ => quote!(#count),
        }
    }

    /// Takes the import out of the body of a nesting step, if it begins with one.
    fn import(&mut self, step: &mut ExprBlock) -> Option<Import> {
        let Stmt::Local(local) = step.block.stmts.first()? else { return None };
        attribute(&local.attrs, "__sh")?;
        let init = &local.init.as_ref()?.expr;
        if !is_call(init, "import") {
            return None;
        }
        let Expr::Call(call) = &**init else { return None };
        let (Pat::Type(typed), Some((array, at))) = (&local.pat, call.args.first().and_then(element)) else {
            return None;
        };
        let Pat::Ident(name) = &*typed.pat else { return None };
        let (name, array) = (name.ident.clone(), array.clone());
        let [index] = at[..] else { return None };
        let range = if let Some(Section::Colons(parts)) = section(index) {
            let (first, last) = (parts.first().copied().flatten(), parts.get(1).copied().flatten());
            if let Some(stride) = parts.get(2).copied().flatten() {
                self.error(stride.span(), "what is imported lies in a row, without a stride");
            }
            let first = first.map_or_else(|| quote!(0), |first| quote!(#first));
            if let Some(last) = last { quote!(#first..(#last) + 1) } else { quote!(#first..#array.len()) }
        } else {
            quote!(#index)
        };
        let mut range = match syn::parse2::<Expr>(range) {
            Ok(range) => range,
            Err(error) => {
                self.errors.push(error);
                return None;
            }
        };
        Numbered.visit_expr_mut(&mut range);
        let range = {
            visit_mut::visit_expr_mut(self, &mut range);
            quote!(#range)
        };
        let exports = |stmt: &Stmt| matches!(stmt, Stmt::Expr(expr, _) if is_call(expr, "export"));
        let is_copied = !step.block.stmts.iter().any(exports);
        let mut words = Vec::new();
        let block = &step.block;
        collect_words(quote!(#block), &mut words);
        if is_copied && let Some(word) = words.iter().find(|word| *word == "export") {
            self.error(word.span(), "`export` stands at the end of the nesting step, and under no condition");
        }
        let span = name.span();
        if let Some(Name { kind: Kind::Dist(dist), .. }) = self.plan.names.get(&array.to_string())
            && dist.dims() != 1
        {
            self.error(span, "an array of one dimension is imported");
        }
        step.block.stmts.remove(0);
        Some(Import { array, name, range, is_copied })
    }
}

struct Import {
    array: Ident,
    name: Ident,
    range: TokenStream,
    /// Whether nothing is written back.
    is_copied: bool,
}

/// In the section of an import, `@` is the number of the subgroup that is asked about.
struct Numbered;

impl VisitMut for Numbered {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::MethodCall(call) = expr
            && call.method == "id"
            && crate::names::name_of(&call.receiver).is_some_and(|name| name == "__group")
        {
            let span = expr.span();
            *expr = Expr::Verbatim(quote_spanned!(at(span)=> __id));
            return;
        }
        visit_mut::visit_expr_mut(self, expr);
    }
}
