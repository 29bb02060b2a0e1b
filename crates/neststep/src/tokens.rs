//! Turns NestStep's notation into Rust that `syn` can read, token by token, and leaves every token where it stands.
//!
//! Statements become blocks, loops and declarations with an attribute that says what they are:
//!
//! | NestStep | Rust |
//! |---|---|
//! | `step<k> s combine (c)` | `#[__step(k)] #[__combine(c)] { s }` |
//! | `seq s` | `#[__seq] { s }` |
//! | `forall (i, a) s` | `#[__forall(i, a)] for i in __forall { s }` |
//! | `epoch { s }` | `#[__epoch] { s }` |
//! | `sh<+> x: T = e;` | `#[__sh({+} {})] let x: __sh!{T} = e;` |
//! | `a[lo:hi:by]` | `a[__section(lo, hi, by)]` |
//! | `$`, `#`, `@` | `__group.rank()`, `__group.size()`, `__group.id()` |

use crate::reader::Reader;
use proc_macro2::{Delimiter, Group, Ident, Spacing, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::{Error, Result};

/// The name of the group in the generated code: no name of the program is meant by it.
pub(crate) fn group(span: Span) -> Ident {
    Ident::new("__group", Span::call_site().located_at(span))
}

/// Words that may stand before an operand.
const BEFORE_OPERAND: [&str; 10] = ["if", "match", "while", "in", "return", "else", "break", "move", "mut", "as"];

/// Words that begin a statement which ends with a block.
const WITH_BLOCK: [&str; 5] = ["for", "while", "if", "match", "loop"];

/// Translates what stands in braces, or all of the program.
pub(crate) fn statements(tokens: TokenStream) -> Result<TokenStream> {
    translate(tokens, true)
}

/// Translates what stands elsewhere.
pub(crate) fn expression(tokens: TokenStream) -> Result<TokenStream> {
    translate(tokens, false)
}

fn translate(tokens: TokenStream, mut is_start: bool) -> Result<TokenStream> {
    let mut reader = Reader::new(tokens);
    let mut out = TokenStream::new();
    let mut last: Option<TokenTree> = None;
    let mut is_signature = false;
    let mut is_arm = false;
    while let Some(token) = reader.peek(0).cloned() {
        if is_start && let Some(statement) = statement(&mut reader)? {
            // An arm of a `match` takes an expression.
            out.extend(if is_arm { quote!({ #statement }) } else { statement });
            (last, is_start, is_arm) = (None, true, false);
            continue;
        }
        reader.at += 1;
        let ends_operand = last.as_ref().is_some_and(ends_operand);
        match &token {
            TokenTree::Ident(word) if *word == "fn" => is_signature = true,
            TokenTree::Ident(word)
                if *word == "step" && is_assigned(&out) && reader.group(0, Delimiter::Brace).is_some() =>
            {
                return Err(Error::new(
                    word.span(),
                    "a step is a statement and has no value; assign to a variable in it",
                ));
            }
            TokenTree::Group(parameters) if is_signature && parameters.delimiter() == Delimiter::Parenthesis => {
                out.extend([TokenTree::Group(regroup(parameters, self::parameters(parameters.stream())?))]);
                (is_signature, is_start, is_arm) = (false, false, false);
                last = Some(token);
                continue;
            }
            TokenTree::Group(group) => {
                let inner = group.stream();
                let inner = match group.delimiter() {
                    Delimiter::Brace => statements(inner)?,
                    Delimiter::Bracket if ends_operand => section(inner)?,
                    _ => expression(inner)?,
                };
                out.extend([TokenTree::Group(regroup(group, inner))]);
                let is_attribute = matches!(&last, Some(TokenTree::Punct(punct)) if punct.as_char() == '#');
                is_start = group.delimiter() == Delimiter::Brace || is_start && is_attribute;
                is_arm = false;
                last = Some(token);
                continue;
            }
            TokenTree::Punct(punct) => {
                let span = punct.span();
                let symbol = match punct.as_char() {
                    '$' => Some("rank"),
                    '#' if !is_attribute(&reader) => Some("size"),
                    '@' if !ends_operand => Some("id"),
                    _ => None,
                };
                if let Some(query) = symbol {
                    let (group, query) = (self::group(span), Ident::new(query, span));
                    out.extend(quote_spanned!(span=> #group.#query()));
                    // It is an operand.
                    last = Some(TokenTree::Ident(Ident::new("__operand", span)));
                    (is_start, is_arm) = (false, false);
                    continue;
                }
                let was_equal = last.as_ref().is_some_and(|last| is_joint(last, '='));
                is_arm = punct.as_char() == '>' && was_equal;
                is_start = punct.as_char() == ';' || is_arm || is_start && punct.as_char() == '#';
                out.extend([token.clone()]);
                last = Some(token);
                continue;
            }
            _ => {}
        }
        (is_start, is_arm) = (false, false);
        out.extend([token.clone()]);
        last = Some(token);
    }
    Ok(out)
}

/// Whether what follows a `#` makes it an attribute.
fn is_attribute(reader: &Reader) -> bool {
    reader.group(0, Delimiter::Bracket).is_some()
        || reader.is_punct(0, '!') && reader.group(1, Delimiter::Bracket).is_some()
}

/// Whether an operand ends here, so that an operator has to follow.
fn ends_operand(token: &TokenTree) -> bool {
    match token {
        TokenTree::Ident(word) => !BEFORE_OPERAND.iter().any(|before| word == before),
        TokenTree::Literal(_) => true,
        TokenTree::Group(group) => group.delimiter() != Delimiter::Brace,
        TokenTree::Punct(_) => false,
    }
}

/// Whether an assignment sign has just been read, and not one that compares.
fn is_assigned(before: &TokenStream) -> bool {
    let before: Vec<TokenTree> = before.clone().into_iter().collect();
    let joins = |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.spacing() == Spacing::Joint);
    match &before[..] {
        [.., one, TokenTree::Punct(sign)] => sign.as_char() == '=' && !joins(one),
        _ => false,
    }
}

/// Whether a mark belongs to the one behind it.
fn is_joint(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == mark && punct.spacing() == Spacing::Joint)
}

fn regroup(group: &Group, stream: TokenStream) -> Group {
    let mut new = Group::new(group.delimiter(), stream);
    new.set_span(group.span());
    new
}

/// Whether a word at the beginning of a statement is one of NestStep's, and not a variable of this name.
fn begins(reader: &Reader) -> bool {
    match reader.peek(1) {
        Some(TokenTree::Punct(punct)) => matches!(punct.as_char(), '$' | '*' | '&'),
        Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Brace,
        Some(_) => true,
        None => false,
    }
}

/// Reads a statement of NestStep, if here is one.
fn statement(reader: &mut Reader) -> Result<Option<TokenStream>> {
    let mut at = 0;
    let mut dynamic = TokenStream::new();
    if reader.is_punct(0, '#')
        && let Some(attribute) = reader.group(1, Delimiter::Bracket)
        && attribute.stream().to_string() == "dynamic"
    {
        at = 2;
        dynamic.extend([reader.peek(0).cloned(), reader.peek(1).cloned()].into_iter().flatten());
    }
    let Some(TokenTree::Ident(word)) = reader.peek(at).cloned() else { return Ok(None) };
    let was = reader.at;
    reader.at += at;
    let found = match word.to_string().as_str() {
        "step" if begins(reader) || reader.is_punct(1, '<') => Some(step(reader, &word)?),
        "neststep" if reader.group(1, Delimiter::Parenthesis).is_some() => Some(step(reader, &word)?),
        "seq" if begins(reader) => {
            reader.at += 1;
            let body = statements(whole(reader)?)?;
            Some(attributed(&word, "__seq", None, body))
        }
        "epoch" if reader.group(1, Delimiter::Brace).is_some() => {
            reader.at += 1;
            let body = statements(whole(reader)?)?;
            Some(attributed(&word, "__epoch", None, body))
        }
        "forall" | "forall2" | "forall3" if reader.group(1, Delimiter::Parenthesis).is_some() => {
            Some(forall(reader, &word)?)
        }
        "sh" if reader.is_punct(1, '<') || matches!(reader.peek(1), Some(TokenTree::Ident(_))) => {
            Some(declaration(reader, &word)?)
        }
        _ => None,
    };
    if found.is_none() {
        reader.at = was;
    }
    Ok(found.map(|found| quote!(#dynamic #found)))
}

/// `#[name(with)] { body }`, where the name stands at the word of the program.
fn attributed(word: &Ident, name: &str, with: Option<TokenStream>, body: TokenStream) -> TokenStream {
    let name = Ident::new(name, word.span());
    let with = with.map(|with| quote!((#with)));
    quote_spanned!(word.span()=> #[#name #with] { #body })
}

fn step(reader: &mut Reader, word: &Ident) -> Result<TokenStream> {
    reader.at += 1;
    let how = if let Some(how) = reader.group(0, Delimiter::Parenthesis) {
        reader.at += 1;
        header(how.stream())?
    } else if reader.is_punct(0, '<') {
        header(angle(reader, word)?)?
    } else {
        TokenStream::new()
    };
    let body = statements(whole(reader)?)?;
    let mut combine = TokenStream::new();
    if reader.is_word(0, "combine")
        && let Some(list) = reader.group(1, Delimiter::Parenthesis)
    {
        let (name, list) = (Ident::new("__combine", list.span()), list.stream());
        let list = expression(list)?;
        combine = quote!(#[#name(#list)]);
        reader.at += 2;
    }
    let name = Ident::new("__step", word.span());
    Ok(quote_spanned!(word.span()=> #[#name(#how)] #combine { #body }))
}

/// What stands between `<` and `>`. A `>` in the head of an `if`, `match` or `while` compares.
fn angle(reader: &mut Reader, word: &Ident) -> Result<TokenStream> {
    reader.at += 1;
    let (mut tokens, mut depth, mut is_head) = (Vec::new(), 0, false);
    while let Some(token) = reader.next() {
        match &token {
            TokenTree::Ident(word) if ["if", "match", "while"].iter().any(|head| word == head) => is_head = true,
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => is_head = false,
            TokenTree::Punct(punct) if punct.as_char() == '<' && ends_with_colon(&tokens) => depth += 1,
            TokenTree::Punct(punct) if punct.as_char() == '>' => {
                let compares = punct.spacing() == Spacing::Joint && reader.is_punct(0, '=');
                // `=>` is an arrow, except in `sh<=>`.
                let is_arrow =
                    tokens.len() > 1 && tokens.last().is_some_and(|last| is_joint(last, '-') || is_joint(last, '='));
                if depth == 0 && !is_head && !compares && !is_arrow {
                    return Ok(tokens.into_iter().collect());
                }
                depth -= i32::from(depth > 0 && !is_arrow);
            }
            _ => {}
        }
        tokens.push(token);
    }
    Err(Error::new(word.span(), "this `<` is never closed by `>`"))
}

fn ends_with_colon(tokens: &[TokenTree]) -> bool {
    matches!(tokens.last(), Some(TokenTree::Punct(punct)) if punct.as_char() == ':')
}

/// The parameters of a nesting step: `k`, then nothing, `{every}`, `{by e}` or `{weights e}`.
fn header(tokens: TokenStream) -> Result<TokenStream> {
    let mut reader = Reader::new(tokens);
    let (count, _) = reader.until(|mark| mark == ',' || mark == ';');
    let count = expression(count)?;
    let Some(first) = reader.peek(0).cloned() else { return Ok(quote!({ #count })) };
    if reader.is_punct(0, '#') && reader.is_punct(1, '>') {
        return Ok(quote_spanned!(first.span()=> { #count } every {}));
    }
    if reader.is_punct(0, '@') && reader.is_punct(1, '=') && !reader.is_punct(2, '=') {
        reader.at += 2;
        let (choice, _) = reader.until(|_| false);
        let choice = expression(choice)?;
        return Ok(quote_spanned!(first.span()=> { #count } by { #choice }));
    }
    let (weights, _) = reader.until(|_| false);
    let weights = expression(weights)?;
    Ok(quote_spanned!(first.span()=> { #count } weights { #weights }))
}

/// The tokens of one statement, not yet translated; of a block, what is in it.
fn whole(reader: &mut Reader) -> Result<TokenStream> {
    let start = reader.at;
    if let Some(block) = reader.group(0, Delimiter::Brace) {
        reader.at += 1;
        return Ok(block.stream());
    }
    advance(reader)?;
    Ok(reader.tokens[start..reader.at.min(reader.tokens.len())].iter().cloned().collect())
}

fn advance(reader: &mut Reader) -> Result<()> {
    let block = |reader: &mut Reader| {
        while let Some(token) = reader.next() {
            if matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace) {
                return;
            }
        }
    };
    let first = reader.peek(0).cloned();
    match &first {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => reader.at += 1,
        Some(TokenTree::Ident(word)) if WITH_BLOCK.iter().any(|with| word == with) => {
            block(reader);
            while reader.is_word(0, "else") {
                block(reader);
            }
        }
        Some(TokenTree::Ident(word)) if ["forall", "forall2", "forall3"].iter().any(|loops| word == loops) => {
            reader.at += 2;
            advance(reader)?;
        }
        Some(TokenTree::Ident(word)) if ["seq", "epoch"].iter().any(|one| word == one) && begins(reader) => {
            reader.at += 1;
            advance(reader)?;
        }
        Some(TokenTree::Ident(word)) if word == "step" && (begins(reader) || reader.is_punct(1, '<')) => {
            let word = word.clone();
            step(reader, &word)?;
        }
        Some(_) => drop(reader.until(|mark| mark == ';')),
        None => return Err(Error::new(Span::call_site(), "a statement is missing at the end")),
    }
    Ok(())
}

fn forall(reader: &mut Reader, word: &Ident) -> Result<TokenStream> {
    let list = reader.group(1, Delimiter::Parenthesis).expect("it was seen");
    reader.at += 2;
    let body = statements(whole(reader)?)?;
    let count = match word.to_string().as_str() {
        "forall2" => 2,
        "forall3" => 3,
        _ => 1,
    };
    let mut rest = Reader::new(list.stream());
    let mut names = Vec::new();
    for _ in 0..count {
        match rest.next() {
            Some(TokenTree::Ident(name)) => names.push(name),
            _ => return Err(Error::new(list.span(), format!("`{word}` takes {count} names, then an array"))),
        }
        rest.at += 1;
    }
    let (others, _) = rest.until(|_| false);
    let others = expression(others)?;
    let name = Ident::new("__forall", word.span());
    let pattern = if let [one] = &names[..] { quote!(#one) } else { quote!([#(#names),*]) };
    Ok(quote_spanned!(word.span()=> #[#name(#(#names)* , #others)] for #pattern in __forall { #body }))
}

/// `sh<op> a, b: T = e;` as declarations with an attribute.
fn declaration(reader: &mut Reader, word: &Ident) -> Result<TokenStream> {
    reader.at += 1;
    let op = if reader.is_punct(0, '<') { angle(reader, word)? } else { TokenStream::new() };
    let op = expression(op)?;
    let mut volatile = TokenStream::new();
    if reader.is_word(0, "volatile") && !reader.is_punct(1, ':') && !reader.is_punct(1, ',') {
        let name = reader.next().expect("it was seen");
        let owner = if reader.is_punct(0, '<') { expression(angle(reader, word)?)? } else { quote!(0) };
        volatile = quote_spanned!(name.span()=> volatile #owner);
    }
    let mut names = Vec::new();
    loop {
        match reader.next() {
            Some(TokenTree::Ident(name)) => names.push(name),
            other => {
                let span = other.map_or(word.span(), |token| token.span());
                return Err(Error::new(span, "a declaration is `sh name: type = value;`"));
            }
        }
        match reader.next() {
            Some(TokenTree::Punct(punct)) if punct.as_char() == ',' => {}
            Some(TokenTree::Punct(punct)) if punct.as_char() == ':' => break,
            other => {
                let span = other.map_or(word.span(), |token| token.span());
                return Err(Error::new(span, "a shared variable needs its type: `sh name: type;`"));
            }
        }
    }
    let (kind, end) = reader.until(|mark| mark == '=' || mark == ';');
    let kind = expression(kind)?;
    let init = match end {
        Some(end) if end.as_char() == '=' => {
            let (init, _) = reader.until(|mark| mark == ';');
            let init = expression(init)?;
            quote!(= #init)
        }
        _ => TokenStream::new(),
    };
    let name = Ident::new("__sh", word.span());
    Ok(quote_spanned!(word.span()=> #(#[#name({ #op } { #volatile })] let #names: #name!{ #kind } #init;)*))
}

/// The parameters of a function: `sh<op> a: T` gets an attribute.
fn parameters(tokens: TokenStream) -> Result<TokenStream> {
    let mut out = TokenStream::new();
    let mut reader = Reader::new(tokens);
    while reader.peek(0).is_some() {
        let mut prefix = TokenStream::new();
        let mut is_shared = false;
        if let Some(TokenTree::Ident(word)) = reader.peek(0).cloned()
            && word == "sh"
            && !reader.is_punct(1, ':')
        {
            reader.at += 1;
            let op = if reader.is_punct(0, '<') { angle(&mut reader, &word)? } else { TokenStream::new() };
            let name = Ident::new("__sh", word.span());
            prefix = quote_spanned!(word.span()=> #[#name({ #op } {})]);
            is_shared = true;
        }
        let (mut one, mut depth) = (Vec::new(), 0);
        while let Some(token) = reader.next() {
            match &token {
                TokenTree::Punct(punct) if punct.as_char() == '<' => depth += 1,
                TokenTree::Punct(punct) if punct.as_char() == '>' => depth -= 1,
                TokenTree::Punct(punct) if punct.as_char() == ',' && depth == 0 => break,
                _ => {}
            }
            one.push(token);
        }
        if is_shared {
            let mut parts = Reader { tokens: one, at: 0 };
            let (name, colon) = parts.until(|mark| mark == ':');
            let (kind, _) = parts.until(|_| false);
            if colon.is_none() {
                return Err(Error::new_spanned(name, "a shared parameter needs its type: `sh name: type`"));
            }
            let kind = expression(kind)?;
            out.extend(quote!(#prefix #name: __sh!{ #kind },));
        } else {
            let one = expression(one.into_iter().collect())?;
            out.extend(quote!(#one,));
        }
    }
    Ok(out)
}

/// An index, or a section in NestStep's notation.
fn section(tokens: TokenStream) -> Result<TokenStream> {
    let all: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let is_colon = |at: usize| {
        let colon = |at: usize| matches!(all.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
        let joint = |at: usize| all.get(at).is_some_and(|token| is_joint(token, ':'));
        colon(at) && !(joint(at) && colon(at + 1)) && !(at > 0 && joint(at - 1))
    };
    let marks: Vec<usize> = (0..all.len()).filter(|&at| is_colon(at)).collect();
    let Some(&first) = marks.first() else { return expression(tokens) };
    if marks.len() > 2 {
        return Err(Error::new(all[marks[2]].span(), "a section is `[first:last]` or `[first:last:stride]`"));
    }
    let span = all[first].span();
    let mut ends = marks.clone();
    ends.push(all.len());
    let mut parts = Vec::new();
    let mut from = 0;
    for end in ends {
        let part: TokenStream = all[from.min(end)..end].iter().cloned().collect();
        parts.push(if part.is_empty() { quote_spanned!(span=> __none) } else { expression(part)? });
        from = end + 1;
    }
    let name = Ident::new("__section", span);
    Ok(quote_spanned!(span=> #name(#(#parts),*)))
}
