//! What letters hold, and how they are written where they have to be bytes.
//!
//! A letter says how many letters of the other side were taken in, and holds items one after another. Between
//! processors that share memory items move as they are, unless they are plain numbers. Those, and everything between
//! other processors, are written: each item is a header of five numbers of 64 bits, little-endian, and its bytes. A
//! letter begins with one such number, how many were taken in.
//!
//! | item | number 0, beside the count | 1 | 2 | 3 |
//! |---|---|---|---|---|
//! | requests | 1 | the method's name | the object's | |
//! | questions | 2 | the method's name | the object's | the first one's number |
//! | answers | 3 | their type's | | the first one's number |
//! | failure | 4 | | | the question's number |
//! | note | 5 | its number | what it is about | |
//! | fault | 6 | | | |
//! | method | 7 | its name | its object of code | its place in it |
//!
//! The lowest 8 bits of number 0 say which item it is, the others how many there are in it; number 4 is the length of
//! its bytes.
//!
//! A single question or answer is waited for, and should fit into one cache line on its way. So an item that is the
//! only one of its letter, with one thing in it, has a header of three numbers: number 0 has 128 added and number 3 in
//! place of the count, and the bytes go up to the letter's end.
//!
//! A method is described before it is named for the first time in an epoch: its bytes are the rest of its
//! [description](fabric::code::Description). A failure answers a question. A fault belongs to none: it says that the
//! sender's part of the epoch has failed, to whoever may wait for what will not come.

use super::{
    book::Answers,
    work::{Absent, Arguments, Entrance},
};
use crate::{
    engine::damaged,
    error::{Error, Result},
};
use fabric::code::{Description, Refusal};
use std::{
    any::Any,
    cell::{Cell, RefCell},
    rc::Rc,
};

/// Requests that follow each other with the same method and object.
pub(super) struct Requests {
    pub(super) method: Entrance,
    pub(super) object: u64,
    /// The number of the first, if answers are asked for.
    pub(super) ticket: Option<u64>,
    /// How many questions there are.
    pub(super) count: u64,
    pub(super) arguments: Arguments,
    /// Whether the sender hears that its letter was taken in when this run begins.
    pub(super) is_last: bool,
}

/// One item of a letter.
pub(super) enum Item {
    Requests(Requests),
    Answers { first: u64, count: u64, answers: Answers },
    Note { number: u64, about: u64, note: Note },
    Fault(Error),
}

/// What a member tells another in a collective.
pub(super) enum Note {
    Moved(Box<dyn Any + Send>),
    Encoded { bytes: Rc<Vec<u8>>, at: std::ops::Range<usize> },
}

/// An item that moves.
pub(super) enum Moved {
    Requests {
        method: Entrance,
        object: u64,
        ticket: Option<u64>,
        count: u64,
        arguments: Box<dyn Any + Send>,
    },
    Answers {
        first: u64,
        count: u64,
        answers: Box<dyn Any + Send>,
    },
    Failure {
        ticket: u64,
        error: Error,
    },
    Note {
        number: u64,
        about: u64,
        note: Box<dyn Any + Send>,
    },
    Fault(Error),
    /// Items that are written, as a letter of their own.
    Written(Vec<u8>),
}

impl Moved {
    /// Hands what it holds to `take`.
    pub(super) fn unpack(self, methods: &Methods, mut take: impl FnMut(Item)) -> Result {
        take(match self {
            Self::Written(bytes) => return read(&Rc::new(bytes), methods, take).map(|_| ()),
            Self::Requests { method, object, ticket, count, arguments } => {
                let arguments = Arguments::Moved(arguments);
                Item::Requests(Requests { method, object, ticket, count, arguments, is_last: false })
            }
            Self::Answers { first, count, answers } => Item::Answers { first, count, answers: Answers::Moved(answers) },
            Self::Failure { ticket, error } => {
                Item::Answers { first: ticket, count: 1, answers: Answers::Failed(error) }
            }
            Self::Note { number, about, note } => Item::Note { number, about, note: Note::Moved(note) },
            Self::Fault(error) => Item::Fault(error),
        });
        Ok(())
    }
}

/// Methods that were found of late, by their names: the next one is often one of them.
#[derive(Default)]
pub(super) struct Methods {
    found: [Cell<Option<(u64, Entrance)>>; 16],
    /// Those that were described, and whose code is not here.
    absent: RefCell<Vec<u64>>,
}

impl Methods {
    #[inline]
    fn find(&self, name: u64) -> Result<Entrance> {
        // Two that are used in turn must not drive each other out.
        let places = [name, name >> 32].map(|hash| &self.found[hash as usize % self.found.len()]);
        match places.map(Cell::get) {
            [Some((known, method)), _] | [_, Some((known, method))] if known == name => Ok(method),
            [first, _] => {
                let method = self.look_up(name).ok_or_else(damaged)?;
                places[usize::from(first.is_some())].set(Some((name, method)));
                Ok(method)
            }
        }
    }

    #[cold]
    fn look_up(&self, name: u64) -> Option<Entrance> {
        let is_absent = || self.absent.borrow().contains(&name).then(|| Entrance::new::<Absent>(()));
        Entrance::find(name).or_else(is_absent)
    }

    /// Learns what another process has described.
    fn learn(&self, description: Description) -> Result {
        match Entrance::learn(description) {
            Ok(_) => Ok(()),
            Err(Refusal::Damaged) => Err(damaged()),
            Err(Refusal::Missing) => {
                self.absent.borrow_mut().push(description[0]);
                Ok(())
            }
        }
    }

    /// Begins an epoch: libraries may have been loaded since.
    pub(super) fn begin(&self) {
        if !self.absent.borrow().is_empty() {
            self.found.iter().for_each(|place| place.set(None));
            self.absent.borrow_mut().clear();
        }
    }
}

/// A letter between processors that share memory.
#[derive(Default)]
pub(super) struct Block {
    pub(super) taken: u64,
    pub(super) items: Vec<Moved>,
}

/// Which item a header begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    Requests = 1,
    Questions,
    Answers,
    Failure,
    Note,
    Fault,
    Method,
}

/// The header of an item that is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) tag: Tag,
    pub(super) names: [u64; 2],
    /// The number of the first.
    pub(super) first: u64,
}

const WORD: usize = size_of::<u64>();
const HEADER: usize = 5 * WORD;
/// The header of something that is alone in its letter, and what marks it.
const LONE_HEADER: usize = 3 * WORD;
const LONE: u64 = 0x80;
/// So many things are in one item at most: what has no size may be counted, but not without end.
const MOST: u64 = 1 << 20;
/// Up to so many bytes are moved up behind a shorter header.
const MOVED_UP: usize = 256;

/// A letter that is being written.
#[derive(Default)]
pub(super) struct Sheet {
    pub(super) bytes: Vec<u8>,
    /// The last item: its header, where that stands, and how many are in it.
    open: Option<(Header, usize, u64)>,
}

impl Sheet {
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Adds what another process has to know of a method that is named next.
    pub(super) fn describe(&mut self, description: Description) {
        let [name, code, place, rest @ ..] = description;
        let (bytes, _) = self.item(Header { tag: Tag::Method, names: [name, code], first: place });
        bytes.extend(rest.into_iter().flat_map(u64::to_le_bytes));
    }

    /// Goes on with the last item if that has just this header, or begins one; `first` may differ by how many there
    /// are. Returns where the bytes go, and whether it went on.
    #[inline]
    pub(super) fn item(&mut self, header: Header) -> (&mut Vec<u8>, bool) {
        match &mut self.open {
            Some((open, _, count))
                if (open.tag, open.names) == (header.tag, header.names)
                    && matches!(header.tag, Tag::Requests | Tag::Questions | Tag::Answers)
                    && (header.tag == Tag::Requests || open.first + *count == header.first)
                    && *count < MOST =>
            {
                *count += 1;
                (&mut self.bytes, true)
            }
            _ => {
                self.begin(header);
                (&mut self.bytes, false)
            }
        }
    }

    fn begin(&mut self, header: Header) {
        self.close();
        if self.bytes.is_empty() {
            self.bytes.extend_from_slice(&[0; WORD]);
        }
        self.open = Some((header, self.bytes.len(), 1));
        self.bytes.extend_from_slice(&[0; HEADER]);
    }

    /// Writes the header of the last item, whose length is known now.
    fn close(&mut self) {
        let Some((header, at, count)) = self.open.take() else { return };
        let len = self.bytes.len() - at - HEADER;
        let words = [header.tag as u64 | count << 8, header.names[0], header.names[1], header.first, len as u64];
        write_words(&mut self.bytes[at..at + HEADER], &words);
    }

    /// Takes the last item back: its bytes could not be written.
    pub(super) fn undo(&mut self, to: usize) {
        self.bytes.truncate(to);
        if let Some((_, at, count)) = &mut self.open {
            *count -= 1;
            if *count == 0 {
                // Where nothing else was written, there is no letter.
                let at = if *at == WORD { 0 } else { *at };
                self.bytes.truncate(at);
                self.open = None;
            }
        }
    }

    /// Gives what is alone in the letter the shorter header; says whether it is.
    fn shorten(&mut self) -> bool {
        let Some((header, WORD, 1)) = self.open else { return false };
        if self.bytes.len() > WORD + HEADER + MOVED_UP || header.first >> 56 != 0 {
            return false;
        }
        self.open = None;
        let words = [header.tag as u64 | LONE | header.first << 8, header.names[0], header.names[1]];
        write_words(&mut self.bytes[WORD..WORD + LONE_HEADER], &words);
        self.bytes.copy_within(WORD + HEADER.., WORD + LONE_HEADER);
        self.bytes.truncate(self.bytes.len() - HEADER + LONE_HEADER);
        true
    }

    /// Ends the letter and returns its bytes.
    pub(super) fn finish(&mut self, taken: u64) -> Vec<u8> {
        if !self.shorten() {
            self.close();
        }
        let mut bytes = std::mem::take(&mut self.bytes);
        if bytes.is_empty() {
            bytes.resize(WORD, 0);
        }
        bytes[..WORD].copy_from_slice(&taken.to_le_bytes());
        bytes
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.open = None;
    }
}

fn write_words(places: &mut [u8], words: &[u64]) {
    for (place, word) in places.as_chunks_mut().0.iter_mut().zip(words) {
        *place = word.to_le_bytes();
    }
}

fn word(bytes: &[u8], at: usize) -> Result<u64> {
    let bytes = bytes.get(at..).and_then(|bytes| bytes.first_chunk()).ok_or_else(damaged)?;
    Ok(u64::from_le_bytes(*bytes))
}

/// Whether a letter holds nothing.
pub(super) fn is_bare(bytes: &[u8]) -> bool {
    bytes.len() <= WORD
}

/// Reads a letter of which nothing is believed: hands every item to `take` and returns how many were taken in.
pub(super) fn read(bytes: &Rc<Vec<u8>>, methods: &Methods, mut take: impl FnMut(Item)) -> Result<u64> {
    let taken = word(bytes, 0)?;
    let mut at = WORD;
    while at < bytes.len() {
        let (kind, name, object) = (word(bytes, at)?, word(bytes, at + WORD)?, word(bytes, at + 2 * WORD)?);
        let (count, first, range);
        if kind & LONE != 0 {
            (count, first, range) = (1, kind >> 8, at + LONE_HEADER..bytes.len());
        } else {
            let (start, len) = (at + HEADER, word(bytes, at + 4 * WORD)?);
            let end = usize::try_from(len).ok().and_then(|len| start.checked_add(len)).ok_or_else(damaged)?;
            (count, first, range) = (kind >> 8, word(bytes, at + 3 * WORD)?, start..end);
        }
        let end = range.end;
        if end > bytes.len() || count > MOST {
            return Err(damaged());
        }
        let (tag, shared) = (kind & 0x7F, || Rc::clone(bytes));
        if tag == Tag::Method as u64 {
            methods.learn([name, object, first, word(bytes, range.start)?, word(bytes, range.start + WORD)?])?;
            at = end;
            continue;
        }
        take(match tag {
            1 | 2 => {
                let method = methods.find(name)?;
                let ticket = (tag == Tag::Questions as u64).then_some(first);
                let arguments = Arguments::Encoded { bytes: shared(), at: range, count };
                Item::Requests(Requests { method, object, ticket, count, arguments, is_last: false })
            }
            3 => Item::Answers { first, count, answers: Answers::Encoded { bytes: shared(), at: range } },
            4 => {
                let error = Error::read(0, &bytes[range]);
                Item::Answers { first, count: 1, answers: Answers::Failed(error) }
            }
            5 => Item::Note { number: name, about: object, note: Note::Encoded { bytes: shared(), at: range } },
            6 => Item::Fault(Error::read(0, &bytes[range])),
            _ => return Err(damaged()),
        });
        at = end;
    }
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Plain, work::Sent},
        *,
    };
    use crate::error::ErrorKind;
    use fabric::code::Three;

    fn letter() -> Vec<u8> {
        let method = Entrance::new::<Sent<Plain<u64, u64, ()>>>(Three(|sum, _, x| *sum += x)).describe().unwrap();
        let mut sheet = Sheet::default();
        sheet.describe(method);
        let requests = Header { tag: Tag::Requests, names: [method[0], 7], first: 0 };
        for x in 0..3u64 {
            sheet.item(requests).0.extend_from_slice(&x.to_le_bytes());
        }
        for ticket in [5, 6, 9] {
            let questions = Header { tag: Tag::Questions, first: ticket, ..requests };
            sheet.item(questions).0.push(1);
        }
        sheet.item(Header { tag: Tag::Answers, names: [1, 0], first: 3 }).0.extend_from_slice(&[1, 2]);
        let error = Error::new(ErrorKind::RemotePanic, "why");
        sheet.item(Header { tag: Tag::Failure, names: [0; 2], first: 4 }).0.extend_from_slice(&error.report());
        sheet.item(Header { tag: Tag::Note, names: [2, 3], first: 0 }).0.push(8);
        sheet.item(Header { tag: Tag::Fault, names: [0; 2], first: 0 }).0.extend_from_slice(&error.report());
        sheet.finish(11)
    }

    fn in_words(item: Item) -> String {
        match item {
            Item::Requests(Requests { object, ticket, count, .. }) => {
                format!("{count} requests to {object}, {ticket:?}")
            }
            Item::Answers { first, count, answers: Answers::Failed(error) } => format!("{first} of {count}: {error}"),
            Item::Answers { first, count, .. } => format!("answers {first} of {count}"),
            Item::Note { number, about, .. } => format!("note {number} about {about}"),
            Item::Fault(error) => format!("fault: {error}"),
        }
    }

    #[test]
    fn a_letter_is_read_as_it_was_written_and_runs_have_one_header() {
        let mut items = Vec::new();
        let taken = read(&Rc::new(letter()), &Methods::default(), |item| items.push(in_words(item))).unwrap();
        let expected = [
            "3 requests to 7, None",
            "2 requests to 7, Some(5)",
            "1 requests to 7, Some(9)",
            "answers 3 of 1",
            "4 of 1: why",
            "note 2 about 3",
            "fault: why",
        ];
        assert_eq!((taken, items), (11, expected.map(str::to_owned).to_vec()));
    }

    #[test]
    fn what_is_alone_in_its_letter_has_a_short_header() {
        let mut sheet = Sheet::default();
        for (len, header) in [(24, LONE_HEADER), (MOVED_UP + 1, HEADER)] {
            sheet.item(Header { tag: Tag::Answers, names: [1, 0], first: 300 }).0.resize(WORD + HEADER + len, 7);
            let bytes = sheet.finish(5);
            assert_eq!(bytes.len(), WORD + header + len);
            let mut found = None;
            let taken = read(&Rc::new(bytes), &Methods::default(), |item| found = Some(item)).unwrap();
            let Some(Item::Answers { first: 300, count: 1, answers: Answers::Encoded { bytes, at } }) = found else {
                panic!("an answer was written");
            };
            assert_eq!((taken, &bytes[at]), (5, &vec![7; len][..]));
        }
    }

    #[test]
    fn what_is_taken_back_leaves_no_letter_and_long_runs_are_split() {
        let mut sheet = Sheet::default();
        let header = Header { tag: Tag::Requests, names: [1, 2], first: 0 };
        let start = sheet.item(header).0.len();
        sheet.undo(start);
        assert!(sheet.is_empty());
        for _ in 0..=MOST {
            sheet.item(header);
        }
        assert_eq!(sheet.open.map(|(_, at, count)| (at, count)), Some((WORD + HEADER, 1)));
    }

    /// A library that only the sender has loaded is no damage: who runs the request says what is missing.
    #[test]
    fn a_method_whose_code_is_not_here_stands_for_an_error() {
        let methods = Methods::default();
        methods.absent.borrow_mut().push(5);
        let letter = |name| {
            let mut sheet = Sheet::default();
            sheet.item(Header { tag: Tag::Requests, names: [name, 7], first: 0 });
            Rc::new(sheet.finish(0))
        };
        let mut found = None;
        read(&letter(5), &methods, |item| found = Some(item)).unwrap();
        let Some(Item::Requests(requests)) = found else { panic!("a request was written") };
        assert_eq!(requests.method, Entrance::new::<Absent>(()));
        assert_eq!(read(&letter(6), &methods, |_| ()).unwrap_err().kind(), ErrorKind::Damaged);
        // It may have been loaded before the next epoch.
        methods.begin();
        assert_eq!(read(&letter(5), &methods, |_| ()).unwrap_err().kind(), ErrorKind::Damaged);
    }

    /// X5: nothing is believed that no sender would write.
    #[test]
    fn a_count_that_no_letter_holds_is_refused() {
        let mut bytes = letter();
        let kind = Tag::Requests as u64 | (MOST + 1) << 8;
        let at = WORD + HEADER + 2 * WORD;
        assert_eq!(word(&bytes, at).unwrap(), Tag::Requests as u64 | 3 << 8);
        bytes[at..at + WORD].copy_from_slice(&kind.to_le_bytes());
        assert!(read(&Rc::new(bytes), &Methods::default(), |_| ()).is_err());
    }

    /// X5: what makes no sense is an error, and nothing is read past the end.
    #[test]
    fn letters_that_are_cut_short_or_changed_are_read_or_refused() {
        let whole = letter();
        for end in 0..whole.len() {
            // Where an item ends, a shorter letter does too.
            let _ = read(&Rc::new(whole[..end].to_vec()), &Methods::default(), |item| drop(in_words(item)));
        }
        assert!(read(&Rc::new(whole[..whole.len() - 1].to_vec()), &Methods::default(), |_| ()).is_err());
        let mut refused = 0;
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut changed = whole.clone();
                changed[at] ^= 1 << bit;
                refused +=
                    u32::from(read(&Rc::new(changed), &Methods::default(), |item| drop(in_words(item))).is_err());
            }
        }
        assert!(refused > 500, "{refused} of {} changes were refused", 8 * whole.len());
    }
}
