//! The words of a line.

use std::str::FromStr;

pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// A number without a sign.
pub(super) fn number(word: &[u8]) -> Option<u64> {
    let add = |all: u64, &digit: &u8| {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 { None } else { all.checked_mul(10)?.checked_add(u64::from(digit)) }
    };
    if word.is_empty() { None } else { word.iter().try_fold(0, add) }
}

/// A value of the type that was asked for.
pub(super) fn value<T: FromStr>(word: Option<&[u8]>) -> Result<T, String> {
    let word = word.ok_or("there is no value")?;
    let text = std::str::from_utf8(word).ok();
    text.and_then(|text| text.parse().ok())
        .ok_or_else(|| format!("{} is no {}", String::from_utf8_lossy(word), std::any::type_name::<T>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_and_nothing_else_is() {
        assert_eq!(number(b"18446744073709551615"), Some(u64::MAX));
        for word in ["", "-1", "+1", "1.0", "18446744073709551616", "0x1", "1e3"] {
            assert_eq!(number(word.as_bytes()), None, "{word}");
        }
        assert_eq!(words(b"  a\tb \r").collect::<Vec<_>>(), [b"a", b"b"]);
        assert_eq!(value::<f64>(Some(b"1e-3")), Ok(1e-3));
        assert_eq!(value::<i64>(Some(b"1.5")), Err("1.5 is no i64".into()));
    }
}
