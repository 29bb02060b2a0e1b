//! Rewrites a function: reads and writes of shared names become calls of the library.

use crate::{
    access::ArrayUse,
    forms::{Visiting, assigns, collect_words, is_pure, is_way_out, macro_arguments, set_macro_arguments},
    names::{Dist, Functions, Kind, Replica, attribute, base_of, element, name_of},
    plan::{Plan, loop_number, step_of},
    tokens::group,
    wants::WANTS,
};
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{
    Block, Error, Expr, ExprForLoop, Pat, Stmt, Token,
    parse::Parser,
    parse_quote,
    punctuated::Punctuated,
    spanned::Spanned,
    visit::Visit,
    visit_mut::{self, VisitMut},
};

/// Generated tokens stand where the program's are, and name nothing of the program by accident.
pub(crate) fn at(span: Span) -> Span {
    Span::call_site().located_at(span)
}

/// A call of a method. Its name and its arguments are the program's tokens as far as the compiler knows, so that errors
/// at run time name their line and not that of the macro.
pub(crate) fn call(receiver: impl ToTokens, method: &str, span: Span, arguments: TokenStream) -> TokenStream {
    let (method, mut arguments) = (Ident::new(method, span), Group::new(Delimiter::Parenthesis, arguments));
    arguments.set_span(span);
    quote!(#receiver.#method #arguments)
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
    pub(crate) fast: Vec<(String, Ident)>,
    pub(crate) in_epoch: bool,
    /// Whether this is an inspector.
    pub(crate) inspects: bool,
    /// Whether the function has steps behind the statement at hand, or around a loop.
    pub(crate) steps_follow: bool,
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
            steps_follow: false,
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

    pub(crate) fn lowered(&mut self, expr: &Expr) -> TokenStream {
        let mut expr = expr.clone();
        self.visit_expr_mut(&mut expr);
        quote!(#expr)
    }

    fn method(&mut self, call: &mut syn::ExprMethodCall) {
        let is_element = element(&call.receiver).is_some_and(|(name, _)| self.dist(name).is_some());
        if is_element && !is_pure(&call.method) {
            // Whoever changes it is told at the element.
            let (spot, value) = (call.receiver.span(), self.lowered(&call.receiver));
            *call.receiver = Expr::Verbatim(quote_spanned!(spot=> (*&#value)));
        } else if is_pure(&call.method) || base_of(&call.receiver).is_none_or(|base| self.replica(base).is_none()) {
            self.visit_expr_mut(&mut call.receiver);
        } else {
            // Whether it writes is for the compiler to find out, so it is no error yet.
            let level = std::mem::replace(&mut self.level, usize::MAX);
            self.target(&mut call.receiver);
            self.level = level;
        }
        call.args.iter_mut().for_each(|argument| self.visit_expr_mut(argument));
    }

    /// Whether a loop of a step contributes to elements, and has nothing to do between but to read what and where.
    fn contributes(&self, body: &Block) -> bool {
        let Some(leaf) = self.leaf.and_then(|leaf| self.plan.leaves.get(&leaf)) else { return false };
        let mut words = Vec::new();
        collect_words(quote!(#body), &mut words);
        let counts = |word: &Ident| leaf.uses.arrays.get(&word.to_string()).is_some_and(ArrayUse::counts);
        words.iter().any(counts)
    }

    /// Where the pattern of a loop takes a value from behind a reference, the loop reads a list: it asks for what
    /// comes, if it contributes.
    fn look_ahead(&self, looping: &mut ExprForLoop) {
        if !self.contributes(&looping.body) {
            return;
        }
        let mut names = Vec::new();
        let mut ask = |pattern: &mut Pat| {
            if let Pat::Reference(reference) = pattern
                && reference.mutability.is_none()
            {
                let name = format_ident!("__ahead_{}", names.len(), span = Span::call_site());
                *pattern = parse_quote!(#name @ #reference);
                names.push(name);
            }
        };
        match &mut *looping.pat {
            Pat::Tuple(tuple) => tuple.elems.iter_mut().for_each(&mut ask),
            pattern => ask(pattern),
        }
        for name in names.iter().rev() {
            looping.body.stmts.insert(0, parse_quote!(::superstep::neststep::ahead(#name);));
        }
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

impl VisitMut for Lower<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let mut stmts = Vec::new();
        let all = std::mem::take(&mut block.stmts);
        let last = all.iter().rposition(|stmt| self.has_steps(|scan| scan.visit_stmt(stmt)));
        let follow = self.steps_follow;
        for (number, mut stmt) in all.into_iter().enumerate() {
            self.steps_follow = follow || last.is_some_and(|last| last > number);
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
                Stmt::Macro(mac) if WANTS.iter().any(|want| mac.mac.path.is_ident(want)) => {
                    let verb = mac.mac.path.get_ident().map(ToString::to_string).unwrap_or_default();
                    let parts = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(mac.mac.tokens.clone());
                    if let Ok(parts) = parts
                        && let [wanted, array, place] = &parts.into_iter().collect::<Vec<_>>()[..]
                    {
                        let spot = at(array.span());
                        let place = self.lowered(place);
                        let verb = Ident::new(verb.trim_start_matches('_'), spot);
                        let tokens = quote_spanned!(spot=> {
                            #[allow(unused_variables)]
                            let __place = #place;
                            #wanted.#verb(#array, __place);
                        });
                        stmts.push(Stmt::Expr(Expr::Verbatim(tokens), None));
                    }
                    continue;
                }
                other => self.visit_stmt_mut(other),
            }
            stmts.push(stmt);
        }
        self.steps_follow = follow;
        block.stmts = stmts;
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let (span, follow) = (expr.span(), self.steps_follow);
        if matches!(expr, Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_)) && self.leaf.is_none() {
            self.steps_follow |= self.has_steps(|scan| scan.visit_expr(expr));
        }
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
                self.look_ahead(looping);
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
                let warning = warning.or_else(|| self.early(branch));
                visit_mut::visit_expr_mut(self, expr);
                if let Some(warning) = warning {
                    *expr = Expr::Verbatim(quote!({ #warning #expr }));
                }
            }
            Expr::Match(choice) if self.leaf.is_none() => {
                // What is chosen by may be a step itself, which everybody comes to.
                let warning = choice.arms.iter().find_map(|arm| self.warning(&choice.expr, &arm.body));
                visit_mut::visit_expr_mut(self, expr);
                if let Some(warning) = warning {
                    *expr = Expr::Verbatim(quote!({ #warning #expr }));
                }
            }
            // Where the step ends, its inspector does.
            Expr::Break(jump) if self.inspects && jump.label.as_ref().is_some_and(is_way_out) => {
                *expr = Expr::Verbatim(quote_spanned!(span=> return));
            }
            Expr::Assign(_) => self.assign(expr),
            Expr::Binary(binary) if assigns(&binary.op) => self.assign_op(expr),
            Expr::Reference(reference) if reference.mutability.is_some() => self.target(&mut reference.expr),
            Expr::MethodCall(call) => self.method(call),
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
        self.steps_follow = follow;
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        let Some(mut arguments) = macro_arguments(mac) else { return };
        for argument in &mut arguments {
            match argument {
                Expr::Assign(named) => self.visit_expr_mut(&mut named.right),
                other => self.visit_expr_mut(other),
            }
        }
        set_macro_arguments(mac, &arguments);
    }

    fn visit_field_value_mut(&mut self, field: &mut syn::FieldValue) {
        // The short form has no place for what becomes of a shared name.
        if name_of(&field.expr).is_some_and(|name| self.plan.names.contains_key(&name.to_string())) {
            field.colon_token.get_or_insert_default();
        }
        visit_mut::visit_field_value_mut(self, field);
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
