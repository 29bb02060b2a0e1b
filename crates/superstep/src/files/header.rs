//! What stands before the numbers of an `.npy` file: a few words of Python.
//!
//! Written out here, since the crates that read it bring a parser generator and a C compiler for these three words.

/// What every such file begins with.
const MAGIC: &[u8] = b"\x93NUMPY";
/// Numbers begin at a multiple of this.
const ALIGNED: usize = 64;
/// Nobody has longer headers; a length above is that of no header.
const LONGEST: usize = 1 << 16;
/// As many dimensions as arrays have at most.
const DIMENSIONS: usize = 5;

/// The shape of the array in a file, and how its numbers lie there.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Header {
    /// The type of the numbers, without the order of their bytes.
    pub(super) kind: String,
    /// Whether the highest byte comes first.
    pub(super) is_big: bool,
    pub(super) shape: Vec<usize>,
    /// Where the numbers begin.
    pub(super) begin: u64,
}

/// How many bytes of a file must be there before [`Header::parse`] can be asked: some first, and then more.
pub(super) fn needed(start: &[u8]) -> Result<usize, String> {
    if start.len() < 10 || !start.starts_with(MAGIC) {
        return Err("is no .npy file".into());
    }
    let len = match start[6] {
        1 => 10 + usize::from(u16::from_le_bytes([start[8], start[9]])),
        2 | 3 if start.len() >= 12 => 12 + u32::from_le_bytes([start[8], start[9], start[10], start[11]]) as usize,
        version => return Err(format!("has version {version} of the .npy format, which is not known")),
    };
    if len > LONGEST { Err(format!("has a header of {len} bytes")) } else { Ok(len) }
}

impl Header {
    /// Reads a header of which all bytes are there.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let from = if bytes.get(6) == Some(&1) { 10 } else { 12 };
        let text = bytes.get(from..).and_then(|text| std::str::from_utf8(text).ok()).ok_or("has a damaged header")?;
        let [mut descr, mut order, mut shape] = [None; 3];
        let mut rest = text.trim().strip_prefix('{').ok_or_else(|| no_header(text))?;
        loop {
            rest = rest.trim_start_matches([' ', ',', '\n']);
            if rest.starts_with('}') {
                break;
            }
            let (key, behind) = quoted(rest).ok_or_else(|| no_header(text))?;
            let behind = behind.trim_start().strip_prefix(':').ok_or_else(|| no_header(text))?.trim_start();
            let end = value_len(behind).ok_or_else(|| no_header(text))?;
            let value = Some(behind[..end].trim());
            match key {
                "descr" => descr = value,
                "fortran_order" => order = value,
                "shape" => shape = value,
                _ => return Err(no_header(text)),
            }
            rest = &behind[end..];
        }
        let (Some(descr), Some(order), Some(shape)) = (descr, order, shape) else { return Err(no_header(text)) };
        let (descr, _) = quoted(descr).ok_or_else(|| format!("has elements of several parts, {descr}"))?;
        let shape = numbers(shape).ok_or_else(|| no_header(text))?;
        if order != "False" && shape.len() > 1 {
            return Err("has the elements of a column beside each other (fortran_order); save it in C order".into());
        }
        if shape.len() > DIMENSIONS {
            return Err(format!("has {} dimensions, and arrays have at most {DIMENSIONS}", shape.len()));
        }
        Ok(Self {
            kind: descr.trim_start_matches(['<', '>', '|', '=']).into(),
            is_big: descr.starts_with('>'),
            shape,
            begin: bytes.len() as u64,
        })
    }

    /// How many elements there are.
    pub(super) fn elements(&self) -> Option<u64> {
        self.shape.iter().try_fold(1u64, |product, &extent| product.checked_mul(extent as u64))
    }
}

fn no_header(text: &str) -> String {
    format!("has a header that makes no sense: {:.60}", text.trim())
}

/// A word in quotes, and what comes behind.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    text[1..].split_once(quote)
}

/// How long the value is that a text begins with: up to a comma or brace that is not inside of brackets or quotes.
fn value_len(text: &str) -> Option<usize> {
    let (mut depth, mut quote) = (0usize, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '(' | '[') => depth += 1,
            (None, ')' | ']') => depth = depth.checked_sub(1)?,
            (None, ',' | '}') if depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

/// The numbers of a tuple.
fn numbers(text: &str) -> Option<Vec<usize>> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?.trim().trim_end_matches(',');
    if inner.trim().is_empty() {
        return Some(Vec::new());
    }
    inner.split(',').map(|number| number.trim().trim_end_matches('L').parse().ok()).collect()
}

/// The bytes before numbers of this type and shape.
pub(super) fn write(descr: &str, shape: &[usize]) -> Vec<u8> {
    let extents: Vec<String> = shape.iter().map(usize::to_string).collect();
    // A tuple of one has a comma, too.
    let extents = extents.join(", ") + if shape.len() == 1 { "," } else { "" };
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({extents}), }}");
    let len = (MAGIC.len() + 4 + text.len() + 1).next_multiple_of(ALIGNED);
    text.extend(std::iter::repeat_n(' ', len - MAGIC.len() - 4 - text.len() - 1));
    text.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> Result<Header, String> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        assert_eq!(needed(&bytes), Ok(bytes.len()));
        Header::parse(&bytes)
    }

    #[test]
    fn what_is_written_is_read() {
        for shape in [&[][..], &[7], &[3, 4], &[1, 2, 3, 4, 5]] {
            let bytes = write("<f8", shape);
            assert_eq!((bytes.len() % 64, needed(&bytes)), (0, Ok(bytes.len())));
            let read = Header::parse(&bytes).unwrap();
            assert_eq!((read.kind.as_str(), read.is_big, &read.shape[..]), ("f8", false, shape));
        }
    }

    #[test]
    fn the_words_may_come_in_any_order() {
        let found = header("{\"shape\": (2,3), 'fortran_order': False, 'descr': '>i4'}\n").unwrap();
        assert_eq!((found.kind.as_str(), found.is_big, found.shape), ("i4", true, vec![2, 3]));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let shaped = |shape: &str| format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}");
        for (text, says) in [
            (String::new(), "makes no sense"),
            ("{".into(), "makes no sense"),
            ("{'descr': '<f8'}".into(), "makes no sense"),
            (shaped("(1, x)"), "makes no sense"),
            (shaped("(1"), "makes no sense"),
            (shaped("(-1,)"), "makes no sense"),
            (shaped("(1,1,1,1,1,1)"), "6 dimensions"),
            ("{'descr': '<f8', 'fortran_order': True, 'shape': (2,2)}".into(), "save it in C order"),
            ("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (2,)}".into(), "several parts"),
        ] {
            let error = header(&text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
        assert!(needed(b"PK\x03\x04567890").unwrap_err().contains("no .npy"));
        assert!(needed(b"\x93NUMPY\x09\x00\x00\x00").unwrap_err().contains("version 9"));
        assert!(needed(b"\x93NUMPY\x02\x00\xff\xff\xff\xff").unwrap_err().contains("4294967307 bytes"));
    }
}
