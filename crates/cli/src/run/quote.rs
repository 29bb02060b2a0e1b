//! Quoting words so that a shell reads them as they were.

use std::ffi::OsStr;

/// The word as a shell takes it; bytes that are no text are shown as well as they can be.
pub(super) fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:,=+@%^".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_a_quoted_word_as_it_was() {
        let cases = [
            ("plain-1.0/x:y=z", "plain-1.0/x:y=z"),
            ("", "''"),
            ("two words", "'two words'"),
            ("it's", r"'it'\''s'"),
            ("$HOME", "'$HOME'"),
            ("~", "'~'"),
            ("a;b&c|d", "'a;b&c|d'"),
            ("grüße", "'grüße'"),
        ];
        for (word, text) in cases {
            assert_eq!(quoted(OsStr::new(word)), text);
        }
    }
}
