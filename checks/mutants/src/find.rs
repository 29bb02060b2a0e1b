//! Finds the places of a source that can be changed, and what stands there instead.
//!
//! Left alone is what is no code of a run: constants, types, patterns, attributes, what macros are given, and what is
//! not built here. So are constant functions, which cannot ask which mutant is on, and unsafe ones.

use crate::{built::is_built, values::values};
use std::ops::Range;
use syn::{
    Arm, Attribute, BinOp, Block, Expr, ExprBinary, ExprUnary, File, ImplItem, Item, ItemImpl, Pat, Safety, Signature,
    Stmt, TraitItem, UnOp, spanned::Spanned, visit, visit::Visit,
};

/// One change, and what it is called.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    /// As `12:5: replace == with != in name`.
    pub(crate) name: String,
    /// The function that it is in.
    pub(crate) function: String,
    /// What stands there instead; nothing for an arm, which is never taken instead.
    pub(crate) text: String,
}

/// How the changes of a site are told apart at run time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    /// An expression, which one of the others replaces.
    Expression,
    /// The start of a body, where a value is returned.
    Body,
    /// The end of a pattern, behind which a guard can stand.
    Arm,
    /// The guard of an arm that can be left out.
    Guard,
}

/// A place, and its changes.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) shape: Shape,
    pub(crate) bytes: Range<usize>,
    pub(crate) changes: Vec<Change>,
}

/// What was found in a file: its sites, each before those inside it, and the modules that are not built.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) sites: Vec<Site>,
    pub(crate) unbuilt: Vec<String>,
}

/// Finds the sites of a source.
pub(crate) fn find(source: &str) -> Result<Found, syn::Error> {
    let file: File = syn::parse_file(source)?;
    let mut finder = Finder { source, found: Found::default(), within: Vec::new(), owner: None };
    if is_built(&file.attrs) {
        finder.visit_file(&file);
    }
    Ok(finder.found)
}

struct Finder<'a> {
    source: &'a str,
    found: Found,
    /// The functions around this place.
    within: Vec<String>,
    /// How the implementation around this place is called.
    owner: Option<String>,
}

impl Finder<'_> {
    fn text(&self, what: &impl Spanned) -> &str {
        &self.source[what.span().byte_range()]
    }

    /// What a text looks like on one line.
    fn line(&self, what: &impl Spanned) -> String {
        self.text(what).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn add(&mut self, shape: Shape, bytes: Range<usize>, place: &impl Spanned, changes: Vec<(String, String)>) {
        let start = place.span().start();
        let function = self.within.join("::");
        let changes = changes.into_iter().map(|(what, text)| {
            let name = format!("{}:{}: {what}", start.line, start.column + 1);
            // The name of a body's change has that of the function already.
            let name = if shape == Shape::Body { name } else { format!("{name} in {function}") };
            Change { name, function: function.clone(), text }
        });
        let changes: Vec<Change> = changes.collect();
        if !changes.is_empty() && !self.within.is_empty() {
            self.found.sites.push(Site { shape, bytes, changes });
        }
    }

    fn function(&mut self, attributes: &[Attribute], signature: &Signature, block: &Block) {
        let skipped = signature.constness.is_some() || matches!(signature.safety, Safety::Unsafe(_));
        if skipped || !is_built(attributes) || attributes.iter().any(|a| a.path().is_ident("test")) {
            return;
        }
        let name = match (&self.owner, self.within.is_empty()) {
            (Some(owner), true) => format!("{owner}::{}", signature.ident),
            _ => signature.ident.to_string(),
        };
        self.within.push(name);
        let (end, full) = match &signature.output {
            syn::ReturnType::Default => (String::new(), self.within.join("::")),
            syn::ReturnType::Type(_, of) => (self.line(of), self.within.join("::")),
        };
        let result = if end.is_empty() { String::new() } else { format!(" -> {end}") };
        let braces = block.brace_token.span;
        let inside = self.source[braces.open().byte_range().end..braces.close().byte_range().start].trim().to_owned();
        let changes = values(&signature.output, &|what| self.line(&what)).into_iter();
        let changes = changes.filter(|value| inside != *value && !(value == "()" && block.stmts.is_empty()));
        let changes = changes.map(|value| (format!("replace {full}{result} with {value}"), value)).collect();
        let at = braces.open().byte_range().end;
        self.add(Shape::Body, at..at, &signature.ident, changes);
        visit::visit_block(self, block);
        self.within.pop();
    }
}

/// Whether a condition binds names, so that it cannot stand in parentheses.
fn binds(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(ExprBinary { op: BinOp::And(_), left, right, .. }) => binds(left) || binds(right),
        _ => false,
    }
}

fn assigns(operator: &str) -> bool {
    operator.ends_with('=') && !["==", "!=", "<=", ">="].contains(&operator)
}

/// An operator, and what stands there instead.
fn others(operator: &BinOp) -> (&'static str, &'static [&'static str]) {
    match operator {
        BinOp::Eq(_) => ("==", &["!="]),
        BinOp::Ne(_) => ("!=", &["=="]),
        BinOp::And(_) => ("&&", &["||"]),
        BinOp::Or(_) => ("||", &["&&"]),
        BinOp::Lt(_) => ("<", &["==", ">", "<="]),
        BinOp::Gt(_) => (">", &["==", "<", ">="]),
        BinOp::Le(_) => ("<=", &[">"]),
        BinOp::Ge(_) => (">=", &["<"]),
        BinOp::Add(_) => ("+", &["-", "*"]),
        BinOp::Sub(_) => ("-", &["+", "/"]),
        BinOp::Mul(_) => ("*", &["+", "/"]),
        BinOp::Div(_) => ("/", &["%", "*"]),
        BinOp::Rem(_) => ("%", &["/", "+"]),
        BinOp::Shl(_) => ("<<", &[">>"]),
        BinOp::Shr(_) => (">>", &["<<"]),
        BinOp::BitAnd(_) => ("&", &["|", "^"]),
        BinOp::BitOr(_) => ("|", &["&", "^"]),
        BinOp::BitXor(_) => ("^", &["|", "&"]),
        BinOp::AddAssign(_) => ("+=", &["-=", "*="]),
        BinOp::SubAssign(_) => ("-=", &["+=", "/="]),
        BinOp::MulAssign(_) => ("*=", &["+=", "/="]),
        BinOp::DivAssign(_) => ("/=", &["%=", "*="]),
        BinOp::RemAssign(_) => ("%=", &["/=", "+="]),
        BinOp::ShlAssign(_) => ("<<=", &[">>="]),
        BinOp::ShrAssign(_) => (">>=", &["<<="]),
        BinOp::BitAndAssign(_) => ("&=", &["|="]),
        BinOp::BitOrAssign(_) => ("|=", &["&="]),
        BinOp::BitXorAssign(_) => ("^=", &["|=", "&="]),
        _ => ("", &[]),
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Fn(item) => self.function(&item.attrs, &item.sig, &item.block),
            Item::Impl(item) if is_built(&item.attrs) => self.visit_item_impl(item),
            Item::Trait(item) if is_built(&item.attrs) => {
                let outer = self.owner.replace(item.ident.to_string());
                for part in &item.items {
                    if let TraitItem::Fn(part) = part
                        && let Some(block) = &part.default
                    {
                        self.function(&part.attrs, &part.sig, block);
                    }
                }
                self.owner = outer;
            }
            Item::Mod(item) if is_built(&item.attrs) => visit::visit_item_mod(self, item),
            Item::Mod(item) if item.content.is_none() => self.found.unbuilt.push(item.ident.to_string()),
            _ => {}
        }
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        let of = self.line(&item.self_ty);
        let name = match &item.trait_ {
            Some((name, _)) => format!("<impl {} for {of}>", self.line(name)),
            None => of,
        };
        let (outer, within) = (self.owner.replace(name), std::mem::take(&mut self.within));
        for part in &item.items {
            if let ImplItem::Fn(part) = part {
                self.function(&part.attrs, &part.sig, &part.block);
            }
        }
        (self.owner, self.within) = (outer, within);
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        let attributes: &[Attribute] = match statement {
            Stmt::Local(local) => &local.attrs,
            Stmt::Macro(call) => &call.attrs,
            Stmt::Item(_) => &[],
            Stmt::Expr(e, _) => match e {
                Expr::Block(e) => &e.attrs,
                Expr::Unsafe(e) => &e.attrs,
                Expr::If(e) => &e.attrs,
                Expr::Call(e) => &e.attrs,
                Expr::MethodCall(e) => &e.attrs,
                Expr::Return(e) => &e.attrs,
                Expr::ForLoop(e) => &e.attrs,
                _ => &[],
            },
        };
        if is_built(attributes) {
            visit::visit_stmt(self, statement);
        }
    }

    fn visit_expr_binary(&mut self, whole: &'ast ExprBinary) {
        let (operator, others) = others(&whole.op);
        let may = whole.attrs.is_empty() && !binds(&whole.left) && !binds(&whole.right);
        if may && !others.is_empty() {
            let (left, right) = (self.text(&whole.left), self.text(&whole.right));
            // The operands stay what they are where the other operator binds in another way. What is assigned to cannot
            // stand in parentheses in every place, and needs none.
            let left = if assigns(operator) { left.to_owned() } else { format!("({left})") };
            let change =
                |other: &&str| (format!("replace {operator} with {other}"), format!("{left} {other} ({right})"));
            let changes = others.iter().map(change).collect();
            self.add(Shape::Expression, whole.span().byte_range(), &whole.op, changes);
        }
        visit::visit_expr_binary(self, whole);
    }

    fn visit_expr_unary(&mut self, whole: &'ast ExprUnary) {
        let operator = match whole.op {
            UnOp::Not(_) => "!",
            UnOp::Neg(_) => "-",
            _ => "",
        };
        if !operator.is_empty() && whole.attrs.is_empty() {
            let changes = vec![(format!("delete {operator}"), self.text(&whole.expr).to_owned())];
            self.add(Shape::Expression, whole.span().byte_range(), &whole.op, changes);
        }
        visit::visit_expr_unary(self, whole);
    }

    fn visit_expr_match(&mut self, whole: &'ast syn::ExprMatch) {
        self.visit_expr(&whole.expr);
        // What an arm does is left to the one that takes everything.
        let rest = whole.arms.iter().any(|arm| matches!(arm.pat, Pat::Wild(_)) && is_built(&arm.attrs));
        for arm in whole.arms.iter().filter(|arm| is_built(&arm.attrs)) {
            self.arm(arm, rest);
        }
    }

    // None of these is code of a run.
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_expr_repeat(&mut self, whole: &'ast syn::ExprRepeat) {
        self.visit_expr(&whole.expr);
    }
    fn visit_attribute(&mut self, _: &'ast Attribute) {}
    fn visit_pat(&mut self, _: &'ast Pat) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_generics(&mut self, _: &'ast syn::Generics) {}
    fn visit_path(&mut self, _: &'ast syn::Path) {}
    fn visit_angle_bracketed_generic_arguments(&mut self, _: &'ast syn::AngleBracketedGenericArguments) {}
    fn visit_macro(&mut self, _: &'ast syn::Macro) {}
}

impl Finder<'_> {
    fn arm(&mut self, arm: &Arm, rest: bool) {
        let guard = match &arm.pat {
            Pat::Guard(pattern) => Some((&*pattern.pat, &*pattern.guard)),
            _ => None,
        };
        let pattern = guard.map_or(&arm.pat, |(pattern, _)| pattern);
        let delete = vec![(format!("delete match arm {}", self.line(pattern)), String::new())];
        let delete = if rest && !matches!(pattern, Pat::Wild(_)) { delete } else { Vec::new() };
        match guard {
            Some((_, guard)) if !binds(guard) => {
                self.add(Shape::Guard, guard.span().byte_range(), pattern, delete);
                let shown = self.line(guard);
                let fixed = |to: &str| (format!("replace match guard {shown} with {to}"), to.to_owned());
                let changes = vec![fixed("true"), fixed("false")];
                self.add(Shape::Expression, guard.span().byte_range(), guard, changes);
                self.visit_expr(guard);
            }
            Some((_, guard)) => self.visit_expr(guard),
            None => {
                let end = pattern.span().byte_range().end;
                self.add(Shape::Arm, end..end, pattern, delete);
            }
        }
        self.visit_expr(&arm.body);
    }
}
