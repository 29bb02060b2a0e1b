//! As much of JSON as a manifest needs: objects, lists, texts and whole numbers.
//!
//! Written out here, because the crate that everybody takes makes its values comparable to numbers, and then the
//! compiler cannot tell any more what `x == list.iter().sum()` means, in every program that uses superstep.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Json {
    Number(u64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// Nothing in a manifest lies deeper; what does is none, and takes no stack.
const DEEPEST: usize = 16;

impl Json {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub(super) fn list<T>(all: &[T], each: impl Fn(&T) -> Self) -> Self {
        Self::List(all.iter().map(each).collect())
    }

    pub(super) fn object<const N: usize>(entries: [(&str, Self); N]) -> Self {
        Self::Object(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    /// Reads one, all of the text.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut reader = Reader { text, at: 0 };
        let value = reader.value(0)?;
        reader.skip_space();
        if reader.at == text.len() { Ok(value) } else { Err(reader.unexpected()) }
    }

    /// What an object has under a name.
    pub(super) fn get(&self, key: &str) -> Result<&Self, String> {
        let Self::Object(entries) = self else { return Err(format!("{key:?} is asked of what is no object")) };
        let found = entries.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value).ok_or_else(|| format!("there is no {key:?}"))
    }

    pub(super) fn number(&self, key: &str) -> Result<u64, String> {
        self.get(key)?.as_number().ok_or_else(|| format!("{key:?} is no number"))
    }

    pub(super) fn as_number(&self) -> Option<u64> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }

    pub(super) fn string(&self, key: &str) -> Result<String, String> {
        match self.get(key)? {
            Self::Text(text) => Ok(text.clone()),
            _ => Err(format!("{key:?} is no text")),
        }
    }

    /// Each of a list under a name.
    pub(super) fn each<T>(&self, key: &str, read: impl Fn(&Self) -> Result<T, String>) -> Result<Vec<T>, String> {
        match self.get(key)? {
            Self::List(all) => all.iter().map(read).collect(),
            _ => Err(format!("{key:?} is no list")),
        }
    }

    /// Whether it fits on a line beside others.
    fn is_flat(&self) -> bool {
        let is_plain = |value: &Self| matches!(value, Self::Number(_) | Self::Text(_));
        match self {
            Self::Number(_) | Self::Text(_) => true,
            Self::List(all) => all.iter().all(is_plain),
            Self::Object(entries) => entries.len() <= 4 && entries.iter().all(|(_, value)| is_plain(value)),
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        let (open, close, len) = match self {
            Self::Number(number) => return write!(f, "{number}"),
            Self::Text(text) => return write_text(f, text),
            Self::List(all) => ('[', ']', all.len()),
            Self::Object(entries) => ('{', '}', entries.len()),
        };
        let is_flat = self.is_flat();
        let break_line = |f: &mut fmt::Formatter<'_>, depth: usize| {
            if is_flat { Ok(()) } else { write!(f, "\n{:1$}", "", 2 * depth) }
        };
        write!(f, "{open}")?;
        for at in 0..len {
            break_line(f, depth + 1)?;
            match self {
                Self::Object(entries) => {
                    write_text(f, &entries[at].0)?;
                    f.write_str(": ")?;
                    entries[at].1.write(f, depth + 1)?;
                }
                Self::List(all) => all[at].write(f, depth + 1)?,
                Self::Number(_) | Self::Text(_) => {}
            }
            if at + 1 < len {
                f.write_str(if is_flat { ", " } else { "," })?;
            }
        }
        if len > 0 {
            break_line(f, depth)?;
        }
        write!(f, "{close}")
    }
}

fn write_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for letter in text.chars() {
        match letter {
            '"' | '\\' => write!(f, "\\{letter}")?,
            letter if (letter as u32) < 0x20 => write!(f, "\\u{:04x}", letter as u32)?,
            letter => write!(f, "{letter}")?,
        }
    }
    f.write_str("\"")
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\n', '\r', '\t']).len();
    }

    fn unexpected(&self) -> String {
        match self.rest().chars().next() {
            Some(letter) => format!("{letter:?} at byte {} makes no sense", self.at),
            None => "it ends too early".into(),
        }
    }

    /// Whether this letter comes next; then it has been read.
    fn has(&mut self, letter: char) -> bool {
        self.skip_space();
        let has = self.rest().starts_with(letter);
        self.at += if has { letter.len_utf8() } else { 0 };
        has
    }

    fn expect(&mut self, letter: char) -> Result<(), String> {
        if self.has(letter) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn value(&mut self, depth: usize) -> Result<Json, String> {
        if depth > DEEPEST {
            return Err("it is too deep".into());
        }
        if self.has('{') {
            let read = |reader: &mut Self| {
                let key = reader.string()?;
                reader.expect(':')?;
                Ok((key, reader.value(depth + 1)?))
            };
            return self.several('}', read).map(Json::Object);
        }
        if self.has('[') {
            return self.several(']', |reader| reader.value(depth + 1)).map(Json::List);
        }
        if self.rest().starts_with('"') {
            return self.string().map(Json::Text);
        }
        let digits = self.rest().len() - self.rest().trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        let number = self.rest()[..digits].parse().map_err(|_| self.unexpected())?;
        self.at += digits;
        Ok(Json::Number(number))
    }

    /// What stands between commas, until the end.
    fn several<T>(&mut self, end: char, read: impl Fn(&mut Self) -> Result<T, String>) -> Result<Vec<T>, String> {
        let mut all = Vec::new();
        if self.has(end) {
            return Ok(all);
        }
        loop {
            all.push(read(self)?);
            if self.has(end) {
                return Ok(all);
            }
            self.expect(',')?;
        }
    }

    fn string(&mut self) -> Result<String, String> {
        self.expect('"')?;
        let mut text = String::new();
        loop {
            let letter = self.next()?;
            match letter {
                '"' => return Ok(text),
                '\\' => text.push(self.escaped()?),
                letter => text.push(letter),
            }
        }
    }

    fn next(&mut self) -> Result<char, String> {
        let letter = self.rest().chars().next().ok_or_else(|| self.unexpected())?;
        self.at += letter.len_utf8();
        Ok(letter)
    }

    /// What stands for a letter behind a backslash: those that are written here, and the others for one letter.
    fn escaped(&mut self) -> Result<char, String> {
        match self.next()? {
            'n' => Ok('\n'),
            't' => Ok('\t'),
            'r' => Ok('\r'),
            'u' => {
                let code = self.rest().get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok());
                let letter = code.and_then(char::from_u32).ok_or_else(|| self.unexpected())?;
                self.at += 4;
                Ok(letter)
            }
            letter @ ('"' | '\\' | '/') => Ok(letter),
            _ => Err(self.unexpected()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let value = Json::object([
            ("a \"name\" of\n\\ two lines", Json::text("grün \u{1}\t")),
            ("numbers", Json::list(&[0, u64::MAX], |&number| Json::Number(number))),
            ("none", Json::List(Vec::new())),
            ("deep", Json::List(vec![Json::object([("x", Json::List(vec![Json::Object(Vec::new())]))])])),
        ]);
        assert_eq!(Json::parse(&value.to_string()).unwrap(), value);
        assert_eq!(
            Json::parse(" [ 1 , {\"a\":\"\\u0041\\/\"} ] ").unwrap().to_string(),
            "[\n  1,\n  {\"a\": \"A/\"}\n]"
        );
    }

    #[test]
    fn what_is_none_is_refused() {
        let deep = "[".repeat(100);
        for text in [
            "",
            "{",
            "[1,]",
            "{\"a\"}",
            "-1",
            "1.5",
            "tru",
            "\"a",
            "\"\\x\"",
            "\"\\ud800\"",
            "1 2",
            "99999999999999999999",
            &deep,
        ] {
            assert!(Json::parse(text).is_err(), "{text}");
        }
        let value = Json::parse("{\"a\": 1}").unwrap();
        assert_eq!(value.number("a"), Ok(1));
        assert!(value.number("b").is_err() && value.string("a").is_err() && value.each("a", |_| Ok(())).is_err());
    }
}
