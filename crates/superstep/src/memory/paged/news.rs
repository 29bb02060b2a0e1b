//! What members of a set tell each other in a coherence call.
//!
//! Every member cuts the section into the same pieces. A letter has the values of the pieces that its sender owns, in
//! their order and with nothing in between; which of them it wrote; and what it wrote of others' pieces, with values.
//! Between members that share memory, long pieces are lent and the rest moves in one buffer; elsewhere all of a letter
//! is one string of bytes.

use super::{
    channel::{open_letter, opened},
    layout::Piece,
    limit::lent_from,
};
use crate::{
    engine::{Element, damaged, read_words},
    error::Result,
    memory::section::Span,
};
use fabric::{Lent, Pages, Tray, wire::Writer as _};
use std::{ops::Range, panic::Location};

/// A coherence call: what must be the same on all members of its set.
#[derive(Clone, Debug)]
pub(super) struct Call<const N: usize> {
    pub(super) number: u32,
    pub(super) spans: [Span; N],
    /// Rising, each once.
    pub(super) ranks: Vec<usize>,
}

impl<const N: usize> Call<N> {
    /// Which indices are meant, and not how they were named: an order means nothing to coherence.
    fn indices(&self) -> [Span; N] {
        self.spans.map(Span::upwards)
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.put([u64::from(self.number), N as u64, self.ranks.len() as u64]);
        for span in self.indices() {
            out.put([span.first as u64, span.step as u64, span.count as u64]);
        }
        self.ranks.iter().for_each(|&rank| out.put([rank as u64]));
    }

    /// Whether a letter is about this call, and what follows then; else what it is about, in words.
    fn read(&self, bytes: &mut &[u8]) -> Result<Result<(), String>> {
        let mut mine = Vec::new();
        self.write(&mut mine);
        if let Some(rest) = bytes.strip_prefix(mine.as_slice()) {
            *bytes = rest;
            return Ok(Ok(()));
        }
        let [number, dimensions, count] = read_words(bytes)?;
        let mut spans = Vec::new();
        for _ in 0..dimensions.min(3) {
            let [first, step, count] = read_words(bytes)?;
            spans.push(Span { first: first as usize, step: step as isize, count: count as usize });
        }
        let mut ranks = Vec::new();
        for _ in 0..count {
            let [rank] = read_words(bytes)?;
            ranks.push(rank as usize);
        }
        Ok(Err(in_words(number as u32, &spans, &ranks)))
    }

    pub(super) fn in_words(&self) -> String {
        in_words(self.number, &self.indices(), &self.ranks)
    }
}

fn in_words(number: u32, spans: &[Span], ranks: &[usize]) -> String {
    let span = |span: &Span| match span {
        Span { first, count: 0, .. } => format!("{first}..{first}"),
        Span { first, step: 1, count } => format!("{first}..{}", first.saturating_add(*count)),
        Span { first, step, count } => format!("{first}..={} by {step}", span.index(count - 1)),
    };
    let section: Vec<String> = spans.iter().map(span).collect();
    format!("section ({}) of array {number} among ranks {ranks:?}", section.join(", "))
}

/// Elements of a piece that were written: the piece's number, an offset in it, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) piece: u32,
    pub(super) at: u32,
    pub(super) len: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Writes<T> {
    /// Of its own pieces.
    pub(super) own: Vec<Mark>,
    /// Of others', with their values.
    pub(super) foreign: Vec<Mark>,
    pub(super) values: Vec<T>,
}

/// What moves between members that share memory.
struct MovedNews<T> {
    writes: Writes<T>,
    /// Long pieces, if the sender waits until they are read.
    lent: Option<Lent<T>>,
    /// The rest.
    values: Vec<T>,
}

/// What a letter is made of.
pub(super) struct NewsWriter<'a, T, const N: usize> {
    pub(super) pages: &'a Pages<T>,
    pub(super) call: &'a Call<N>,
    pub(super) site: &'a Location<'a>,
    pub(super) pieces: &'a [Piece],
    pub(super) rank: usize,
    pub(super) writes: &'a Writes<T>,
    /// Whether pieces may be lent.
    pub(super) lends: bool,
}

impl<T: Element, const N: usize> NewsWriter<'_, T, N> {
    fn own(&self) -> impl Iterator<Item = &Piece> {
        self.pieces.iter().filter(|piece| piece.owner == self.rank)
    }

    fn is_lent(&self, piece: &Piece) -> bool {
        self.lends && is_long::<T>(piece)
    }

    /// A letter, written into one that is empty; `None` if a page is lent for writing.
    pub(super) fn letter(&self, shares: bool, mut letter: Tray) -> Option<Tray> {
        letter.bytes.reserve(128 + 8 * self.call.ranks.len());
        open_letter(self.site, &mut letter.bytes);
        self.call.write(&mut letter.bytes);
        if !shares {
            return self.in_bytes(letter);
        }
        let (mut runs, mut values) = (Vec::new(), Vec::new());
        for piece in self.own() {
            if self.is_lent(piece) {
                runs.push((piece.page, piece.offset, piece.len));
            } else if !self.pages.copy_out(piece.page, piece.range(), &mut values) {
                return None;
            }
        }
        let lent = if self.lends { Some(self.pages.lend(&runs)?) } else { None };
        letter.moved.push(Box::new(MovedNews { writes: self.writes.clone(), lent, values }));
        Some(letter)
    }

    fn in_bytes(&self, mut letter: Tray) -> Option<Tray> {
        let elements: usize = self.own().map(|piece| piece.len).sum();
        let marks = self.writes.own.len() + self.writes.foreign.len();
        letter.make_room(16 + 12 * marks + (elements + self.writes.values.len()) * size_of::<T>());
        let bytes = &mut letter.bytes;
        bytes.put([self.writes.own.len() as u64, self.writes.foreign.len() as u64]);
        for mark in self.writes.own.iter().chain(&self.writes.foreign) {
            for word in [mark.piece, mark.at, mark.len] {
                bytes.extend_from_slice(&word.to_le_bytes());
            }
        }
        bytes.extend_from_slice(bytemuck::cast_slice(&self.writes.values));
        for piece in self.own() {
            if !self.pages.copy_bytes_out(piece.page, piece.range(), bytes) {
                return None;
            }
        }
        Some(letter)
    }
}

fn is_long<T>(piece: &Piece) -> bool {
    piece.len * size_of::<T>() >= lent_from()
}

enum Values<T> {
    /// All of it, and where the values begin.
    Bytes(Vec<u8>, usize),
    Moved(Option<Lent<T>>, Vec<T>),
}

/// A letter that has come, about the call that was made here.
pub(super) struct News<T> {
    pub(super) from: usize,
    pub(super) writes: Writes<T>,
    values: Values<T>,
}

/// A letter about another call: what it is about, and where it was made.
pub(super) struct Other {
    pub(super) call: String,
    pub(super) site: String,
}

impl<T: Element> News<T> {
    /// Reads a letter, of which nothing is believed, and gives back its room.
    pub(super) fn read<const N: usize>(
        from: usize,
        letter: Tray,
        call: &Call<N>,
        pieces: &[Piece],
    ) -> Result<Result<(Self, Tray), Other>> {
        let Tray { mut bytes, mut moved } = letter;
        let (site, mut rest) = opened(&bytes)?;
        if let Err(call) = call.read(&mut rest)? {
            return Ok(Err(Other { call, site: site.to_string() }));
        }
        let (writes, values) = if let Some(moved_news) = moved.pop() {
            let moved = moved_news.downcast::<MovedNews<T>>().map_err(|_| damaged())?;
            let MovedNews { writes, lent, values } = *moved;
            bytes.clear();
            (writes, Values::Moved(lent, values))
        } else {
            let writes = read_writes(&mut rest)?;
            let start = bytes.len() - rest.len();
            (writes, Values::Bytes(std::mem::take(&mut bytes), start))
        };
        let received = Self { from, writes, values };
        received.check(pieces)?;
        moved.clear();
        Ok(Ok((received, Tray { bytes, moved })))
    }

    /// Checks that marks and values are as many as the pieces have.
    fn check(&self, pieces: &[Piece]) -> Result {
        let fits = |mark: &Mark, is_own: bool| {
            pieces.get(mark.piece as usize).is_some_and(|piece| {
                (piece.owner == self.from) == is_own && mark.at as usize + mark.len as usize <= piece.len
            })
        };
        let are_fit = self.writes.own.iter().all(|mark| fits(mark, true));
        let count: usize = self.writes.foreign.iter().map(|mark| mark.len as usize).sum();
        let own = pieces.iter().filter(|piece| piece.owner == self.from);
        let are_all = match &self.values {
            Values::Bytes(bytes, start) => {
                let elements: usize = own.map(|piece| piece.len).sum();
                bytes.len() - start == elements * size_of::<T>()
            }
            Values::Moved(lent, values) => {
                let is_lent = |piece: &&Piece| lent.is_some() && is_long::<T>(piece);
                let short: usize = own.clone().filter(|piece| !is_lent(piece)).map(|piece| piece.len).sum();
                let long = own.filter(is_lent).map(|piece| piece.len);
                values.len() == short && lent.iter().flat_map(Lent::lens).eq(long)
            }
        };
        let is_whole = are_all && are_fit && self.writes.values.len() == count;
        if is_whole && self.writes.foreign.iter().all(|mark| fits(mark, false)) { Ok(()) } else { Err(damaged()) }
    }

    /// Hands `put` the values of each piece that the sender owns.
    pub(super) fn unpack(&self, pieces: &[Piece], mut put: impl FnMut(&Piece, NewValues<'_, T>) -> Result) -> Result {
        let own = pieces.iter().filter(|piece| piece.owner == self.from);
        match &self.values {
            Values::Bytes(bytes, start) => {
                let mut rest = &bytes[*start..];
                for piece in own {
                    let (head, tail) = rest.split_at_checked(piece.len * size_of::<T>()).ok_or_else(damaged)?;
                    put(piece, NewValues::Bytes(head))?;
                    rest = tail;
                }
            }
            Values::Moved(lent, values) => {
                let (mut runs, mut rest) = (lent.iter().flat_map(Lent::runs), values.as_slice());
                for piece in own {
                    if lent.is_some() && is_long::<T>(piece) {
                        put(piece, NewValues::Values(runs.next().ok_or_else(damaged)?))?;
                    } else {
                        let (head, tail) = rest.split_at_checked(piece.len).ok_or_else(damaged)?;
                        put(piece, NewValues::Values(head))?;
                        rest = tail;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Values on their way into a page.
#[derive(Clone, Copy)]
pub(super) enum NewValues<'a, T> {
    Bytes(&'a [u8]),
    Values(&'a [T]),
}

impl<T> NewValues<'_, T> {
    /// The values of some of its elements.
    pub(super) fn part(&self, range: Range<usize>) -> Self {
        match self {
            Self::Bytes(bytes) => Self::Bytes(&bytes[range.start * size_of::<T>()..range.end * size_of::<T>()]),
            Self::Values(values) => Self::Values(&values[range]),
        }
    }
}

fn read_writes<T: Element>(bytes: &mut &[u8]) -> Result<Writes<T>> {
    let [own, foreign] = read_words(bytes)?;
    let mut marks = |count: u64| -> Result<Vec<Mark>> {
        let count = usize::try_from(count).ok().filter(|&count| count <= bytes.len() / 12).ok_or_else(damaged)?;
        let (head, rest) = bytes.split_at(12 * count);
        *bytes = rest;
        let word =
            |chunk: &[u8; 12], at: usize| u32::from_le_bytes([chunk[at], chunk[at + 1], chunk[at + 2], chunk[at + 3]]);
        let mark = |chunk: &[u8; 12]| Mark { piece: word(chunk, 0), at: word(chunk, 4), len: word(chunk, 8) };
        Ok(head.as_chunks::<12>().0.iter().map(mark).collect())
    };
    let (own, foreign) = (marks(own)?, marks(foreign)?);
    let count: usize = foreign.iter().map(|mark| mark.len as usize).sum();
    let len = count.checked_mul(size_of::<T>()).ok_or_else(damaged)?;
    let (head, rest) = bytes.split_at_checked(len).ok_or_else(damaged)?;
    *bytes = rest;
    let mut values = vec![T::zeroed(); count];
    bytemuck::cast_slice_mut::<T, u8>(&mut values).copy_from_slice(head);
    Ok(Writes { own, foreign, values })
}

#[cfg(test)]
mod tests {
    use super::{
        super::{layout::Layout, part::Part},
        *,
    };
    use crate::error::ErrorKind;

    fn span(first: usize, step: isize, count: usize) -> Span {
        Span { first, step, count }
    }

    #[test]
    fn a_call_is_told_by_the_indices_that_it_means() {
        let words = |spans| Call { number: 3, spans, ranks: vec![0, 2] }.in_words();
        assert_eq!(words([span(2, 1, 5), span(4, 1, 0)]), "section (2..7, 4..4) of array 3 among ranks [0, 2]");
        assert_eq!(
            words([span(1, 3, 3), span(9, -2, 4)]),
            "section (1..=7 by 3, 3..=9 by 2) of array 3 among ranks [0, 2]"
        );
        // In whatever order they were named, it is the same call.
        let call = |number, first, step, ranks: &[usize]| Call {
            number,
            spans: [span(first, step, 4)],
            ranks: ranks.to_vec(),
        };
        let mine = call(1, 2, 3, &[0, 1]);
        let read = |other: &Call<1>| {
            let mut bytes = Vec::new();
            other.write(&mut bytes);
            bytes.extend([7, 8]);
            let mut rest = &bytes[..];
            let about = mine.read(&mut rest).expect("it was written");
            about.map(|()| rest.to_vec())
        };
        assert_eq!(read(&mine), Ok(vec![7, 8]));
        assert_eq!(read(&call(1, 11, -3, &[0, 1])), Ok(vec![7, 8]));
        for other in [call(2, 2, 3, &[0, 1]), call(1, 3, 3, &[0, 1]), call(1, 2, 2, &[0, 1]), call(1, 2, 3, &[0, 1, 2])]
        {
            assert_eq!(read(&other), Err(other.in_words()));
        }
        let other = Call { number: 1, spans: [span(0, 1, 2), span(5, 1, 1)], ranks: vec![1] };
        let mut bytes = Vec::new();
        other.write(&mut bytes);
        let about = mine.read(&mut &bytes[..]).expect("it was written");
        assert_eq!(about, Err("section (0..2, 5..6) of array 1 among ranks [1]".to_owned()));
        for cut in 0..bytes.len() {
            assert_eq!(mine.read(&mut &bytes[..cut]).unwrap_err().kind(), ErrorKind::Damaged);
        }
    }

    #[test]
    fn a_piece_is_long_from_as_many_bytes_on_as_are_lent() {
        let long = |len| is_long::<u64>(&Piece { page: 0, offset: 0, len, owner: 0 });
        let limit = lent_from() / size_of::<u64>();
        assert_eq!([limit - 1, limit, limit + 1].map(long), [false, true, true]);
    }

    #[test]
    fn news_come_as_they_were_sent_and_no_byte_makes_other_ones_of_them() {
        let layout = Layout::new([64], [16], 2).unwrap();
        let part = Part::<u16, 1>::new(layout, 0, Location::caller()).expect("there is memory");
        let call = Call { number: 0, spans: [span(3, 1, 50)], ranks: vec![0, 1] };
        let mut pieces = Vec::new();
        layout.pieces(&call.spans, |piece| pieces.push(piece));
        let owned: Vec<&Piece> = pieces.iter().filter(|piece| piece.owner == 0).collect();
        assert_eq!(owned.iter().map(|piece| piece.len).collect::<Vec<_>>(), [13, 16]);
        for piece in &owned {
            let values: Vec<u16> = piece.range().map(|offset| (100 * piece.page + offset) as u16).collect();
            assert!(part.pages.fill(piece.page, piece.offset, &values));
        }
        let mark = |piece, at, len| Mark { piece, at, len };
        let writes =
            Writes { own: vec![mark(0, 2, 11)], foreign: vec![mark(1, 0, 1), mark(3, 3, 2)], values: vec![7, 8, 9] };
        let letter = |writes: &Writes<u16>, shares| {
            let (pages, site) = (&part.pages, Location::caller());
            let writer = NewsWriter { pages, call: &call, site, pieces: &pieces, rank: 0, writes, lends: false };
            writer.letter(shares, Tray::default()).expect("nothing is lent for writing")
        };
        let read = |from, letter| match News::<u16>::read(from, letter, &call, &pieces) {
            Ok(Ok((news, _))) => Ok(news),
            Ok(Err(_)) => panic!("it is about this call"),
            Err(error) => Err(error.kind()),
        };
        for shares in [false, true] {
            assert_eq!(letter(&writes, shares).moved.is_empty(), !shares);
            let news = read(0, letter(&writes, shares)).unwrap();
            assert_eq!(news.writes.own, writes.own);
            assert_eq!(news.writes.foreign, writes.foreign);
            assert_eq!(news.writes.values, writes.values);
            let mut seen = Vec::new();
            let put = |piece: &Piece, values: NewValues<'_, u16>| {
                let values: Vec<u16> = match values.part(1..piece.len) {
                    NewValues::Values(values) => values.to_vec(),
                    NewValues::Bytes(bytes) => bytemuck::pod_collect_to_vec(bytes),
                };
                seen.push((piece.page, values));
                Ok(())
            };
            news.unpack(&pieces, put).unwrap();
            let of =
                |piece: &&Piece| (piece.page, piece.range().skip(1).map(|at| (100 * piece.page + at) as u16).collect());
            assert_eq!(seen, owned.iter().map(of).collect::<Vec<_>>());
            // Nobody else owns as much, and a letter is about what its sender owns.
            assert_eq!(read(1, letter(&writes, shares)).err(), Some(ErrorKind::Damaged));
        }
        // What was written must lie in a piece, of the sender or of others, and have a value if it is another's.
        let whole = |own: &[Mark], foreign: &[Mark], values: &[u16]| {
            let writes = Writes { own: own.to_vec(), foreign: foreign.to_vec(), values: values.to_vec() };
            [false, true].map(|shares| read(0, letter(&writes, shares)).is_ok())
        };
        assert_eq!(whole(&[mark(0, 0, 13)], &[mark(1, 15, 1)], &[1]), [true; 2]);
        assert_eq!(whole(&[mark(0, 1, 13)], &[], &[]), [false; 2]);
        assert_eq!(whole(&[mark(1, 0, 1)], &[], &[]), [false; 2]);
        assert_eq!(whole(&[mark(4, 0, 1)], &[], &[]), [false; 2]);
        assert_eq!(whole(&[], &[mark(0, 0, 1)], &[1]), [false; 2]);
        assert_eq!(whole(&[], &[mark(1, 15, 2)], &[1, 2]), [false; 2]);
        assert!(!whole(&[], &[mark(1, 0, 2)], &[1])[1] && !whole(&[], &[mark(1, 0, 1)], &[1, 2])[1]);
        let bytes = letter(&writes, false).bytes;
        for cut in 0..bytes.len() {
            let cut = News::<u16>::read(0, Tray::from(bytes[..cut].to_vec()), &call, &pieces);
            assert!(cut.is_err(), "a shorter letter is none");
        }
    }
}
