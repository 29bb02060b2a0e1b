//! Reads tokens one by one, and looks ahead.

use proc_macro2::{Delimiter, Group, Punct, TokenStream, TokenTree};

/// Reads a stretch of tokens.
pub(crate) struct Reader {
    pub(crate) tokens: Vec<TokenTree>,
    pub(crate) at: usize,
}

impl Reader {
    pub(crate) fn new(tokens: TokenStream) -> Self {
        Self { tokens: tokens.into_iter().collect(), at: 0 }
    }

    pub(crate) fn peek(&self, ahead: usize) -> Option<&TokenTree> {
        self.tokens.get(self.at + ahead)
    }

    pub(crate) fn next(&mut self) -> Option<TokenTree> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token
    }

    pub(crate) fn is_punct(&self, ahead: usize, what: char) -> bool {
        matches!(self.peek(ahead), Some(TokenTree::Punct(punct)) if punct.as_char() == what)
    }

    pub(crate) fn is_word(&self, ahead: usize, what: &str) -> bool {
        matches!(self.peek(ahead), Some(TokenTree::Ident(word)) if word == what)
    }

    pub(crate) fn group(&self, ahead: usize, delimiter: Delimiter) -> Option<Group> {
        match self.peek(ahead) {
            Some(TokenTree::Group(group)) if group.delimiter() == delimiter => Some(group.clone()),
            _ => None,
        }
    }

    /// The tokens up to a punctuation mark outside of groups, and the mark.
    pub(crate) fn until(&mut self, is_end: impl Fn(char) -> bool) -> (TokenStream, Option<Punct>) {
        let mut tokens = Vec::new();
        while let Some(token) = self.next() {
            match token {
                TokenTree::Punct(punct) if is_end(punct.as_char()) => {
                    return (tokens.into_iter().collect(), Some(punct));
                }
                other => tokens.push(other),
            }
        }
        (tokens.into_iter().collect(), None)
    }
}
