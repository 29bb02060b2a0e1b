//! What the names of a function stand for.

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use std::collections::HashMap;
use syn::{Attribute, Error, Expr, Meta, Result, Type};

/// How copies, or writes to an element, are combined.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Any,
    Leader,
    Same,
    Sum,
    Product,
    And,
    Or,
    Xor,
    Min,
    Max,
    Function(TokenStream),
}

impl Op {
    fn parse(tokens: &TokenStream) -> Self {
        match tokens.to_string().as_str() {
            "" | "?" => Self::Any,
            "0" => Self::Leader,
            "=" => Self::Same,
            "+" => Self::Sum,
            "*" => Self::Product,
            "&" => Self::And,
            "|" => Self::Or,
            "^" => Self::Xor,
            "min" => Self::Min,
            "max" => Self::Max,
            _ => Self::Function(tokens.clone()),
        }
    }

    /// The operator of the library, for values of this type.
    pub(crate) fn tokens(&self, of: &TokenStream) -> TokenStream {
        let name = match self {
            Self::Any => "Any",
            Self::Leader => "Leader",
            Self::Same => "Same",
            Self::Sum => "Sum",
            Self::Product => "Product",
            Self::And => "And",
            Self::Or => "Or",
            Self::Xor => "Xor",
            Self::Min => "Min",
            Self::Max => "Max",
            Self::Function(path) => {
                return quote!(::superstep::operators::Fold({
                    fn combine(all: &mut #of, next: &#of) {
                        *all = #path(::core::clone::Clone::clone(all), ::core::clone::Clone::clone(next));
                    }
                    combine
                }));
            }
        };
        let name = Ident::new(name, Span::call_site());
        quote!(::superstep::operators::#name)
    }

    /// Whether it combines what several assign, and does not choose one of them.
    pub(crate) fn combines(&self) -> bool {
        !matches!(self, Self::Any | Self::Leader | Self::Same)
    }
}

/// An operator, and where what the ranks below contribute goes.
#[derive(Clone, Debug)]
pub(crate) struct Strategy {
    pub(crate) op: Op,
    pub(crate) prefix: Option<TokenStream>,
}

impl Strategy {
    /// Reads `+ : k`; NestStep-C has `;` for the colon in one place.
    pub(crate) fn parse(tokens: TokenStream) -> Self {
        let (mut op, mut prefix, mut is_behind) = (Vec::new(), Vec::new(), false);
        let all: Vec<TokenTree> = tokens.into_iter().collect();
        let is_path = |at: usize| {
            let colon =
                |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Punct(mark)) if mark.as_char() == ':');
            colon(all.get(at)) && (colon(all.get(at + 1)) || at > 0 && colon(all.get(at - 1)))
        };
        for (at, token) in all.iter().enumerate() {
            match token {
                TokenTree::Punct(mark) if !is_behind && matches!(mark.as_char(), ':' | ';') && !is_path(at) => {
                    is_behind = true;
                }
                token if is_behind => prefix.push(token.clone()),
                token => op.push(token.clone()),
            }
        }
        let prefix = is_behind.then(|| prefix.into_iter().collect());
        Self { op: Op::parse(&op.into_iter().collect()), prefix }
    }
}

/// A distributed array.
#[derive(Clone, Debug)]
pub(crate) struct Dist {
    pub(crate) element: TokenStream,
    pub(crate) extents: Vec<TokenStream>,
    /// How many leading dimensions are distributed.
    pub(crate) spread: usize,
    pub(crate) is_cyclic: bool,
    pub(crate) op: Op,
}

impl Dist {
    pub(crate) fn dims(&self) -> usize {
        self.extents.len()
    }

    pub(crate) fn op_tokens(&self) -> TokenStream {
        self.op.tokens(&self.element)
    }

    fn distribution(&self) -> TokenStream {
        let name = Ident::new(if self.is_cyclic { "Cyclic" } else { "Block" }, Span::call_site());
        let spread = self.spread;
        quote!(::superstep::distributions::#name::<#spread>)
    }

    /// The type of a parameter.
    pub(crate) fn parameter(&self) -> TokenStream {
        let (element, dims, distribution) = (&self.element, self.dims(), self.distribution());
        let span = element.clone().into_iter().next().map_or_else(Span::call_site, |token| token.span());
        quote_spanned!(span=> &::superstep::Array<#element, #distribution, #dims>)
    }

    /// Makes the array.
    pub(crate) fn make(&self, group: &Ident) -> TokenStream {
        let (element, dims, distribution) = (&self.element, self.dims(), self.distribution());
        let extents = &self.extents;
        let combining = self.op.combines().then(|| {
            let op = self.op_tokens();
            quote!(.combining(#op))
        });
        quote!(&#group.array_with::<#element, _, #dims>([#(#extents),*], #distribution)#combining)
    }
}

/// A replicated variable or array; of an array `ty` is the element's type.
#[derive(Clone, Debug)]
pub(crate) struct Replica {
    pub(crate) ty: TokenStream,
    pub(crate) strategy: Strategy,
    pub(crate) len: Option<TokenStream>,
    pub(crate) is_array: bool,
    pub(crate) is_parameter: bool,
    /// In how many nesting steps of the function it was declared.
    pub(crate) level: usize,
}

/// Types that a register holds.
const NUMBERS: [&str; 16] = [
    "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64", "bool",
    "char",
];

impl Replica {
    /// Whether it is a single number.
    pub(crate) fn is_number(&self) -> bool {
        !self.is_array && NUMBERS.contains(&self.ty.to_string().as_str())
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Dist(Dist),
    Replica(Replica),
    /// A volatile variable, or an array of them, with its owner.
    Volatile {
        ty: TokenStream,
        len: Option<TokenStream>,
        owner: TokenStream,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) kind: Kind,
    /// In how many loops of the function it was declared.
    pub(crate) loops: usize,
    /// And in how many nesting steps.
    pub(crate) level: usize,
}

pub(crate) type Names = HashMap<String, Name>;

/// A function of NestStep, as its callers see it: which of its parameters are shared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signature {
    pub(crate) shared: Vec<Option<Kind>>,
}

pub(crate) type Functions = HashMap<String, Signature>;

/// The attribute of this name, without its tokens being looked at.
pub(crate) fn attribute<'a>(attributes: &'a [Attribute], name: &str) -> Option<&'a Attribute> {
    attributes.iter().find(|attribute| attribute.path().is_ident(name))
}

/// What an attribute has in its parentheses.
pub(crate) fn arguments(attribute: &Attribute) -> TokenStream {
    match &attribute.meta {
        Meta::List(list) => list.tokens.clone(),
        _ => TokenStream::new(),
    }
}

/// Types that everybody has, and that are no elements.
const NO_ELEMENTS: [&str; 7] = ["bool", "char", "String", "Vec", "Option", "Box", "&"];

/// Reads the kind of a declaration from its attribute and its type.
pub(crate) fn kind(attribute: &Attribute, ty: &Type, is_parameter: bool, level: usize) -> Result<Kind> {
    let mut parts = arguments(attribute).into_iter();
    let mut part = || match parts.next() {
        Some(TokenTree::Group(group)) => group.stream(),
        _ => TokenStream::new(),
    };
    let (strategy, volatile) = (Strategy::parse(part()), part());
    let Type::Macro(ty) = ty else { return Err(Error::new_spanned(ty, "a shared variable needs its type")) };
    let all: Vec<TokenTree> = ty.mac.tokens.clone().into_iter().collect();
    let whole: TokenStream = all.iter().cloned().collect();
    let mut volatile = volatile.into_iter();
    if volatile.next().is_some() {
        let owner = volatile.collect();
        let array = if let [TokenTree::Group(group)] = &all[..] { array(group) } else { None };
        let (ty, len) = array.unwrap_or((whole, None));
        return Ok(Kind::Volatile { ty, len, owner });
    }
    let replica = |ty: TokenStream, len: Option<TokenStream>, is_array: bool| {
        Kind::Replica(Replica { ty, strategy: strategy.clone(), len, is_array, is_parameter, level })
    };
    let brackets = all.iter().filter_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => Some(group),
        _ => None,
    });
    let brackets: Vec<_> = brackets.collect();
    let Some(TokenTree::Group(first)) = all.first() else { return Ok(replica(whole, None, false)) };
    let Some((element, extent)) = array(first) else { return Ok(replica(whole, None, false)) };
    let Some(open) = all.iter().position(|token| is_mark(token, '<')) else {
        if brackets.len() > 1 {
            return Err(Error::new_spanned(whole, "a replicated array has one dimension; let its elements be arrays"));
        }
        return Ok(replica(element, extent, true));
    };
    let is_cyclic = match all.get(open + 1) {
        Some(token) if is_mark(token, '%') => true,
        Some(token) if is_mark(token, '/') => false,
        other => {
            let span = other.map_or_else(Span::call_site, TokenTree::span);
            return Err(Error::new(span, "an array lies in blocks, `</>`, or is dealt, `<%>`"));
        }
    };
    if let Some(first) = element.clone().into_iter().next()
        && NO_ELEMENTS.contains(&first.to_string().as_str())
    {
        let message =
            "elements are numbers, arrays and structs of them, and this is none; a `u8` of 0 or 1 is a `bool`";
        return Err(Error::new(first.span(), message));
    }
    let spread = all[..open].iter().filter(|token| matches!(token, TokenTree::Group(_))).count();
    if spread > 3 {
        return Err(Error::new_spanned(whole, "at most three dimensions are distributed"));
    }
    if let Some(target) = &strategy.prefix {
        return Err(Error::new_spanned(target, "there is no prefix of the elements of a distributed array"));
    }
    let mut extents = vec![extent.unwrap_or_default()];
    extents.extend(brackets[1..].iter().map(|group| group.stream()));
    if !is_parameter && let Some(at) = extents.iter().position(TokenStream::is_empty) {
        // An import has no lengths of its own; whoever declares an array otherwise gives them all.
        if extents.len() > 1 {
            return Err(Error::new_spanned(whole, format!("dimension {at} needs its length")));
        }
    }
    Ok(Kind::Dist(Dist { element, extents, spread, is_cyclic, op: strategy.op }))
}

fn is_mark(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == mark)
}

/// The element type and the length of `[T; n]` or `[T]`.
fn array(group: &proc_macro2::Group) -> Option<(TokenStream, Option<TokenStream>)> {
    if group.delimiter() != Delimiter::Bracket {
        return None;
    }
    let (mut element, mut extent, mut is_behind) = (TokenStream::new(), TokenStream::new(), false);
    for token in group.stream() {
        if is_mark(&token, ';') && !is_behind {
            is_behind = true;
        } else if is_behind {
            extent.extend([token]);
        } else {
            element.extend([token]);
        }
    }
    Some((element, is_behind.then_some(extent)))
}

/// A name by its word, which may be a raw one.
pub(crate) fn named(word: &str, span: Span) -> Ident {
    match word.strip_prefix("r#") {
        Some(raw) => Ident::new_raw(raw, span),
        None => Ident::new(word, span),
    }
}

/// The name that an expression is, if it is one.
pub(crate) fn name_of(expr: &Expr) -> Option<&Ident> {
    match expr {
        Expr::Path(path) if path.qself.is_none() => path.path.get_ident(),
        Expr::Paren(inner) => name_of(&inner.expr),
        Expr::Group(inner) => name_of(&inner.expr),
        _ => None,
    }
}

/// The variable that a place is part of: `v` of `v[i].x`.
pub(crate) fn base_of(expr: &Expr) -> Option<&Ident> {
    match expr {
        Expr::Index(index) => base_of(&index.expr),
        Expr::Field(field) => base_of(&field.base),
        Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => base_of(&unary.expr),
        Expr::Paren(inner) => base_of(&inner.expr),
        Expr::Group(inner) => base_of(&inner.expr),
        other => name_of(other),
    }
}

/// `a` and `i`, `j` of `a[i][j]`.
pub(crate) fn element(expr: &Expr) -> Option<(&Ident, Vec<&Expr>)> {
    match expr {
        Expr::Index(index) => {
            let (name, mut at) = match name_of(&index.expr) {
                Some(name) => (name, Vec::new()),
                None => element(&index.expr)?,
            };
            at.push(&*index.index);
            Some((name, at))
        }
        Expr::Paren(inner) => element(&inner.expr),
        Expr::Group(inner) => element(&inner.expr),
        _ => None,
    }
}

/// The parts of a section, if an index is one: first, last and stride, as they were written, or a range.
pub(crate) enum Section<'a> {
    Colons(Vec<Option<&'a Expr>>),
    Range(&'a Expr),
}

/// The section that an index is, if it is one.
pub(crate) fn section(index: &Expr) -> Option<Section<'_>> {
    match index {
        Expr::Call(call) if name_of(&call.func).is_some_and(|name| name == "__section") => {
            let part = |part| if name_of(part).is_some_and(|name| name == "__none") { None } else { Some(part) };
            Some(Section::Colons(call.args.iter().map(part).collect()))
        }
        Expr::Range(_) => Some(Section::Range(index)),
        Expr::Call(call) if name_of(&call.func).is_some_and(|name| name == "strided") => Some(Section::Range(index)),
        _ => None,
    }
}

/// The text of tokens, to be compared.
pub(crate) fn text(tokens: &impl ToTokens) -> String {
    tokens.to_token_stream().to_string()
}
