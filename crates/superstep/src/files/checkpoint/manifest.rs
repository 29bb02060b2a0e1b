//! What lies where in a generation, as JSON.
//!
//! The first line has the checksum of all that follows it, so the whole is JSON and still notices a flipped bit.

use super::json::Json;
use serde::{Deserialize, Serialize};

/// The newest format that is known, and the one that is written.
const FORMAT: u32 = 1;

/// Nobody has more processors.
const PROCESSORS_MAX: usize = 1 << 24;

/// All that a generation holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub(super) format: u32,
    /// The version of superstep that has written it.
    pub superstep: String,
    /// A number for the build of the program.
    pub build: String,
    /// How many processors have written it.
    pub processors: usize,
    /// The way from the root group to the one that has written it.
    pub group: String,
    /// What was kept, in the order in which the program named it.
    pub parts: Vec<Part>,
}

/// One thing that was kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// What the program calls it.
    pub name: String,
    /// What it is.
    pub what: What,
    /// The file that it is in.
    pub file: String,
    /// How many bytes that has.
    pub bytes: u64,
    /// Who has written which of them.
    pub pieces: Vec<Piece>,
}

/// What something is that is kept: an array, a value, a container.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct What {
    /// In a word.
    pub kind: String,
    /// What it holds, as Rust calls it.
    pub of: String,
    /// How many bytes each of its elements has; 0 if they differ, or if nobody has written it down.
    pub size: usize,
    /// How many elements it has in each dimension, where that must agree.
    pub shape: Vec<usize>,
    /// How it lay when it was written.
    pub distribution: String,
}

impl What {
    pub(super) fn in_words(&self) -> String {
        let article = if self.kind.starts_with('a') { "an" } else { "a" };
        format!("{article} {} of {}", self.kind, self.of)
    }
}

/// Bytes of a file that one processor has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    pub(super) rank: usize,
    pub(super) offset: u64,
    pub(super) len: u64,
    pub(super) crc32: u32,
}

/// Why a generation cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Flaw {
    /// Something in it is not what was written.
    Damaged(String),
    /// A newer superstep has written it.
    Newer(String),
}

impl std::fmt::Display for Flaw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::Damaged(what) | Self::Newer(what)) = self;
        f.write_str(what)
    }
}

impl Manifest {
    pub(super) fn new(processors: usize, group: String, parts: Vec<Part>) -> Self {
        let build = format!("{:016x}", fabric::code::program());
        Self { format: FORMAT, superstep: env!("CARGO_PKG_VERSION").into(), build, processors, group, parts }
    }

    /// The manifest as it stands in its file.
    pub(super) fn text(&self) -> String {
        let text = self.to_json().to_string();
        let body = text.strip_prefix('{').expect("it is an object").trim_start();
        format!("{}{body}\n", head(&format!("{body}\n")))
    }

    fn to_json(&self) -> Json {
        Json::object([
            ("format", Json::Number(self.format.into())),
            ("superstep", Json::text(&self.superstep)),
            ("build", Json::text(&self.build)),
            ("processors", Json::Number(self.processors as u64)),
            ("group", Json::text(&self.group)),
            ("parts", Json::list(&self.parts, Part::to_json)),
        ])
    }

    /// Reads what [`text`](Self::text) has written.
    pub(super) fn parse(text: &[u8]) -> Result<Self, Flaw> {
        let damaged = |what: String| Flaw::Damaged(format!("its manifest {what}"));
        let text = std::str::from_utf8(text).map_err(|_| damaged("is no text".into()))?;
        let body = text.split_once('\n').map_or("", |(_, body)| body);
        if body.is_empty() || !text.starts_with(&head(body)) {
            return Err(damaged("does not have its checksum".into()));
        }
        let is_none = |what: String| damaged(format!("is not one: {what}"));
        let json = Json::parse(text).map_err(is_none)?;
        let format = json.number("format").map_err(is_none)?;
        if format == 0 {
            return Err(is_none("there is no format 0".into()));
        }
        if format > FORMAT.into() {
            let what = format!("it has format {format}, and this superstep knows formats up to {FORMAT}");
            return Err(Flaw::Newer(what));
        }
        let manifest = Self::from_json(&json).map_err(is_none)?;
        manifest.check().map_err(damaged)?;
        Ok(manifest)
    }

    fn from_json(json: &Json) -> Result<Self, String> {
        Ok(Self {
            format: FORMAT,
            superstep: json.string("superstep")?,
            build: json.string("build")?,
            processors: json.number("processors")? as usize,
            group: json.string("group")?,
            parts: json.each("parts", Part::from_json)?,
        })
    }

    /// Refuses what no save writes: files elsewhere, and pieces that do not make up their file.
    pub(super) fn check(&self) -> Result<(), String> {
        if !(1..=PROCESSORS_MAX).contains(&self.processors) {
            return Err(format!("is of {} processors", self.processors));
        }
        for part in &self.parts {
            if part.file.contains(['/', '\\']) || part.file.starts_with('.') {
                return Err(format!("names the file {:?}", part.file));
            }
            let mut pieces: Vec<&Piece> = part.pieces.iter().collect();
            pieces.sort_by_key(|piece| (piece.offset, piece.len));
            let mut end = 0u64;
            for piece in pieces {
                if piece.offset != end || piece.rank >= self.processors {
                    return Err(format!("has pieces of {:?} that do not fit together", part.name));
                }
                end = end.checked_add(piece.len).ok_or("has a length that nothing has")?;
            }
            if end != part.bytes {
                return Err(format!("has pieces of {:?} that do not fit together", part.name));
            }
        }
        Ok(())
    }
}

/// What stands before the rest of a manifest.
fn head(body: &str) -> String {
    format!("{{\"crc32\": \"{:08x}\",\n", crc32fast::hash(body.as_bytes()))
}

impl Part {
    fn to_json(&self) -> Json {
        let What { kind, of, size, shape, distribution } = &self.what;
        let piece = |piece: &Piece| {
            Json::object([
                ("rank", Json::Number(piece.rank as u64)),
                ("offset", Json::Number(piece.offset)),
                ("len", Json::Number(piece.len)),
                ("crc32", Json::Number(piece.crc32.into())),
            ])
        };
        Json::object([
            ("name", Json::text(&self.name)),
            ("kind", Json::text(kind)),
            ("type", Json::text(of)),
            ("element", Json::Number(*size as u64)),
            ("shape", Json::list(shape, |&extent| Json::Number(extent as u64))),
            ("distribution", Json::text(distribution)),
            ("file", Json::text(&self.file)),
            ("bytes", Json::Number(self.bytes)),
            ("pieces", Json::list(&self.pieces, piece)),
        ])
    }

    fn from_json(json: &Json) -> Result<Self, String> {
        let piece = |json: &Json| {
            let crc32 = u32::try_from(json.number("crc32")?).map_err(|_| "a checksum has 32 bits")?;
            let rank = json.number("rank")? as usize;
            Ok(Piece { rank, offset: json.number("offset")?, len: json.number("len")?, crc32 })
        };
        let extent = |json: &Json| json.as_number().map(|extent| extent as usize).ok_or("an extent is a number".into());
        let shape = json.each("shape", extent)?;
        Ok(Self {
            name: json.string("name")?,
            what: What {
                kind: json.string("kind")?,
                of: json.string("type")?,
                // The first manifests do not have it.
                size: json.number("element").unwrap_or(0) as usize,
                shape,
                distribution: json.string("distribution")?,
            },
            file: json.string("file")?,
            bytes: json.number("bytes")?,
            pieces: json.each("pieces", piece)?,
        })
    }

    /// The pieces of one writer, in the order in which they lie in the file.
    pub(super) fn of_writer(&self, rank: usize) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = self.pieces.iter().copied().filter(|piece| piece.rank == rank).collect();
        pieces.sort_by_key(|piece| piece.offset);
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Manifest {
        let what =
            What { kind: "array".into(), of: "f64".into(), size: 8, shape: vec![3], distribution: "Block".into() };
        let pieces = [(1, 16, 8), (0, 0, 16)].map(|(rank, offset, len)| Piece { rank, offset, len, crc32: 7 });
        let part = Part { name: "u".into(), what, file: "0-u".into(), bytes: 24, pieces: pieces.into() };
        Manifest::new(2, "0".into(), vec![part])
    }

    #[test]
    fn a_manifest_is_json_and_comes_back() {
        let text = some().text();
        assert_eq!(Manifest::parse(text.as_bytes()).unwrap(), some());
        let parts = Json::parse(&text).unwrap().each("parts", |part| part.string("type"));
        assert_eq!(parts, Ok(vec!["f64".to_owned()]));
    }

    #[test]
    fn a_flipped_bit_and_a_missing_end_are_noticed() {
        let text = some().text().into_bytes();
        for at in 0..text.len() {
            let mut bad = text.clone();
            bad[at] ^= 1;
            assert!(matches!(Manifest::parse(&bad), Err(Flaw::Damaged(_))), "byte {at}");
            assert!(matches!(Manifest::parse(&text[..at]), Err(Flaw::Damaged(_))), "{at} bytes");
        }
    }

    #[test]
    fn what_no_save_writes_is_refused_and_a_newer_format_by_name() {
        let change = |change: fn(&mut Manifest)| {
            let mut manifest = some();
            change(&mut manifest);
            Manifest::parse(manifest.text().as_bytes()).unwrap_err().to_string()
        };
        assert!(change(|m| m.parts[0].file = "../u".into()).contains("names the file"));
        assert!(change(|m| m.parts[0].bytes = 25).contains("do not fit together"));
        assert!(change(|m| m.parts[0].pieces[0].offset = 17).contains("do not fit together"));
        assert!(change(|m| m.processors = 1).contains("do not fit together"));
        assert!(change(|m| m.processors = usize::MAX).contains("is of 18446744073709551615 processors"));
        assert!(change(|m| m.format = 0).contains("there is no format 0"));
        assert!(change(|m| m.format = 2).contains("format 2, and this superstep knows formats up to 1"));
    }
}
