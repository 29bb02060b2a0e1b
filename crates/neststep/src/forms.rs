//! The forms in which shared names occur: what an expression, a loop or a macro stands for.

use crate::names::{Kind, Names, Op, Section, arguments, attribute, element, name_of, section, text};
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::quote;
use syn::{
    BinOp, Expr, ExprForLoop, Lifetime, Macro, Pat, PatIdent, Token,
    parse::Parser,
    punctuated::Punctuated,
    visit::{self, Visit},
};

/// Methods that change nothing.
const PURE: [&str; 84] = [
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
    "skip",
    "chain",
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

/// Whether an expression has no effect and gives the same whenever it is evaluated: names, numbers, and operators on
/// them.
pub(crate) fn is_plain(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(_) | Expr::Path(_) => true,
        Expr::Paren(inner) => is_plain(&inner.expr),
        Expr::Group(inner) => is_plain(&inner.expr),
        Expr::Cast(cast) => is_plain(&cast.expr),
        Expr::Field(field) => is_plain(&field.base),
        Expr::Unary(unary) => is_plain(&unary.expr),
        Expr::Binary(binary) => !assigns(&binary.op) && is_plain(&binary.left) && is_plain(&binary.right),
        Expr::Index(index) => is_plain(&index.expr) && is_plain(&index.index),
        Expr::MethodCall(call) => is_pure(&call.method) && is_plain(&call.receiver) && call.args.iter().all(is_plain),
        _ => false,
    }
}

/// Whether a method lends its receiver, or a part of it, to be changed.
pub(crate) fn is_lending(method: &Ident) -> bool {
    method.to_string().ends_with("_mut") || method == "entry" || method == "by_ref"
}

/// Whether a label is that of the step itself: what jumps there ends the step.
pub(crate) fn is_way_out(label: &Lifetime) -> bool {
    label.ident.to_string().starts_with("__step_")
}

/// Whether nothing but a jump ends a loop over this: `0..`, or what is repeated, and nothing that ends is beside it.
pub(crate) fn is_endless(expr: &Expr) -> bool {
    let mut words = Vec::new();
    collect_words(quote!(#expr), &mut words);
    let has = |names: &[&str]| words.iter().any(|word| names.iter().any(|name| word == name));
    let is_open = |expr: &Expr| {
        struct Open(bool);
        impl<'ast> Visit<'ast> for Open {
            fn visit_expr_range(&mut self, range: &'ast syn::ExprRange) {
                self.0 |= range.end.is_none();
                visit::visit_expr_range(self, range);
            }

            fn visit_expr_index(&mut self, _: &'ast syn::ExprIndex) {}
        }
        let mut open = Open(false);
        open.visit_expr(expr);
        open.0
    };
    (is_open(expr) || has(&["cycle", "repeat", "repeat_with", "successors", "from_fn"])) && !has(&["zip", "take"])
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
const KNOWN: [&str; 20] = [
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
    "debug_assert_ne",
    "vec",
    "unreachable",
    "todo",
    "unimplemented",
    "dbg",
    "matches",
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
    if name == "matches" {
        return subject(mac).map(|(subject, _)| vec![subject]);
    }
    Punctuated::<Expr, Token![,]>::parse_terminated.parse2(mac.tokens.clone()).ok().map(|all| all.into_iter().collect())
}

/// The value that `matches!` looks at, and the rest, which is a pattern.
fn subject(mac: &Macro) -> Option<(Expr, TokenStream)> {
    let parse = |input: syn::parse::ParseStream<'_>| Ok((input.parse()?, input.parse()?));
    parse.parse2(mac.tokens.clone()).ok()
}

/// Hands other arguments to such a macro.
pub(crate) fn set_macro_arguments(mac: &mut Macro, arguments: &[Expr]) {
    if mac.path.segments.last().is_some_and(|name| name.ident == "matches") {
        let rest = subject(mac).map(|(_, rest)| rest);
        mac.tokens = quote!(#(#arguments)* #rest);
        return;
    }
    let mut top = mac.tokens.clone().into_iter();
    let is_filled =
        mac.path.is_ident("vec") && top.any(|token| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ';'));
    mac.tokens = if is_filled { quote!(#(#arguments);*) } else { quote!(#(#arguments),*) };
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

/// The names in the braces of texts: `total` of `"{total:5}"`.
pub(crate) fn inline_names(tokens: TokenStream, names: &mut Vec<Ident>) {
    for token in tokens {
        match token {
            TokenTree::Literal(text) => {
                let (span, text) = (text.span(), text.to_string());
                let braces = text.split('{').skip(1).filter_map(|rest| rest.split('}').next());
                let words = braces.flat_map(|inner| inner.split(|c: char| !c.is_alphanumeric() && c != '_'));
                names.extend(
                    words.filter(|word| syn::parse_str::<Ident>(word).is_ok()).map(|word| Ident::new(word, span)),
                );
            }
            TokenTree::Group(group) => inline_names(group.stream(), names),
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
