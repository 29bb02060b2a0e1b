//! Letters as bytes.
//!
//! A letter begins with how many letters of the other side were taken in: a number of 64 bits, little-endian. Parcels
//! follow. Each is a header of five such numbers, and its bytes:
//!
//! | parcel | number 0, beside the count | 1 | 2 | 3 |
//! |---|---|---|---|---|
//! | requests | 1 | the method's name | the object's | |
//! | questions | 2 | the method's name | the object's | the first one's number |
//! | answers | 3 | their type's | | the first one's number |
//! | failure | 4 | | | the question's number |
//! | note | 5 | its number | what it is about | |
//! | fault | 6 | | | |
//! | method | 7 | its name | its object of code | its place in it |
//!
//! The lowest 8 bits of number 0 are the tag, the others say how many there are in the parcel; number 4 is the length
//! of its bytes.
//!
//! A single question or answer is waited for, and should fit into one cache line on its way. So a parcel that is the
//! only one of its letter, with one thing in it, has a header of three numbers: number 0 has 128 added and number 3 in
//! place of the count, and the bytes go up to the letter's end.
//!
//! A method is described before it is named for the first time in an epoch: its bytes are the rest of its
//! [description](fabric::code::Description). A failure answers a question. A fault belongs to none: it says that the
//! sender's part of the epoch has failed, to whoever may wait for what will not come.

use super::{
    letter::{Content, Enclosure, Excerpt, Parcel, Requests},
    methods::Methods,
};
use crate::{
    engine::damaged,
    error::{Error, Result},
};
use fabric::{
    code::Description,
    wire::{Damaged, Reader, Writer},
};
use std::rc::Rc;

fabric::tags! {
    /// Which parcel a header begins.
    pub(super) enum Tag {
        Requests = 1,
        Questions,
        Answers,
        Failure,
        Note,
        Fault,
        Method,
    }
}

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
const LONE: u8 = 0x80;
/// So many things are in one parcel at most: what has no size may be counted, but not without end.
const MOST: u64 = 1 << 20;
/// Up to so many bytes are moved up behind a shorter header.
const MOVED_UP: usize = 256;

/// A letter that is being written.
#[derive(Default)]
pub(super) struct WrittenLetter {
    pub(super) bytes: Vec<u8>,
    /// The last parcel: its header, where that stands, and how many are in it.
    open: Option<(Header, usize, u64)>,
}

impl WrittenLetter {
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Adds what another process has to know of a method that is named next.
    pub(super) fn describe(&mut self, description: Description) {
        let [name, code, place, rest @ ..] = description;
        let (bytes, _) = self.parcel(Header { tag: Tag::Method, names: [name, code], first: place });
        bytes.put(rest);
    }

    /// Goes on with the last parcel if that has just this header, or begins one; `first` may differ by how many there
    /// are. Returns where the bytes go, and whether it went on.
    #[inline]
    pub(super) fn parcel(&mut self, header: Header) -> (&mut Vec<u8>, bool) {
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

    /// Writes the header of the last parcel, whose length is known now.
    fn close(&mut self) {
        let Some((header, at, count)) = self.open.take() else { return };
        let len = self.bytes.len() - at - HEADER;
        let words = [header.tag as u64 | count << 8, header.names[0], header.names[1], header.first, len as u64];
        (&mut self.bytes[at..at + HEADER]).put(words);
    }

    /// Takes the last thing of a parcel back: its bytes could not be written.
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
        let words = [u64::from(header.tag as u8 | LONE) | header.first << 8, header.names[0], header.names[1]];
        (&mut self.bytes[WORD..WORD + LONE_HEADER]).put(words);
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
        (&mut bytes[..WORD]).put(taken);
        bytes
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.open = None;
    }
}

pub(super) fn is_bare(bytes: &[u8]) -> bool {
    bytes.len() <= WORD
}

/// Reads a letter of which nothing is believed: hands every parcel to `take` and returns how many were taken in.
pub(super) fn read(letter: &Rc<Vec<u8>>, methods: &Methods, mut take: impl FnMut(Parcel<Content>)) -> Result<u64> {
    let mut reader = Reader::new(letter);
    let taken = reader.get().map_err(|Damaged| damaged())?;
    while !reader.is_empty() {
        let (header, count, bytes) = read_header(&mut reader).map_err(|Damaged| damaged())?;
        let Header { tag, names: [name, object], first } = header;
        let end = letter.len() - reader.rest().len();
        let content = || Content::Written(Excerpt { letter: Rc::clone(letter), at: end - bytes.len()..end });
        take(match tag {
            Tag::Requests | Tag::Questions => {
                let (method, ticket) = (methods.find(name)?, (tag == Tag::Questions).then_some(first));
                let arguments = content();
                Parcel::Requests(Requests { method, object, ticket, count, arguments, is_last: false })
            }
            Tag::Answers => Parcel::Answers { first, count, answers: Ok(content()) },
            Tag::Failure => Parcel::Answers { first, count: 1, answers: Err(Error::read(0, bytes)) },
            Tag::Note => Parcel::Note { number: name, about: object, note: content() },
            Tag::Fault => Parcel::Fault(Error::read(0, bytes)),
            Tag::Method => {
                let [fourth, fifth] = Reader::new(bytes).get().map_err(|Damaged| damaged())?;
                methods.learn([name, object, first, fourth, fifth])?;
                continue;
            }
        });
    }
    Ok(taken)
}

/// Takes a parcel off the front: its header, how many things are in it, and its bytes.
#[inline]
fn read_header<'a>(reader: &mut Reader<'a>) -> Result<(Header, u64, &'a [u8]), Damaged> {
    let [number, names @ ..]: [u64; 3] = reader.get()?;
    let tag = Tag::try_from(number as u8 & !LONE)?;
    if number as u8 & LONE != 0 {
        let bytes = reader.bytes(reader.rest().len())?;
        return Ok((Header { tag, names, first: number >> 8 }, 1, bytes));
    }
    let (count, first) = (number >> 8, reader.get()?);
    if count > MOST {
        return Err(Damaged);
    }
    Ok((Header { tag, names, first }, count, reader.part()?))
}

impl Enclosure {
    /// Hands what it holds to `take`.
    pub(super) fn open(self, methods: &Methods, mut take: impl FnMut(Parcel<Content>)) -> Result {
        match self {
            Self::Written(letter) => read(&Rc::new(letter), methods, take).map(|_| ()),
            Self::Parcel(parcel) => {
                take(parcel.arrive());
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            deed::Plain,
            methods::{Absent, Entrance},
            work::Sent,
        },
        *,
    };
    use crate::error::ErrorKind;
    use fabric::code::Three;

    fn whole() -> Vec<u8> {
        let method = Entrance::new::<Sent<Plain<u64, u64, ()>>>(Three(|sum, _, x| *sum += x)).describe().unwrap();
        let mut letter = WrittenLetter::default();
        letter.describe(method);
        let requests = Header { tag: Tag::Requests, names: [method[0], 7], first: 0 };
        for x in 0..3u64 {
            letter.parcel(requests).0.extend_from_slice(&x.to_le_bytes());
        }
        for ticket in [5, 6, 9] {
            let questions = Header { tag: Tag::Questions, first: ticket, ..requests };
            letter.parcel(questions).0.push(1);
        }
        letter.parcel(Header { tag: Tag::Answers, names: [1, 0], first: 3 }).0.extend_from_slice(&[1, 2]);
        let error = Error::new(ErrorKind::RemotePanic, "why");
        letter.parcel(Header { tag: Tag::Failure, names: [0; 2], first: 4 }).0.extend_from_slice(&error.report());
        letter.parcel(Header { tag: Tag::Note, names: [2, 3], first: 0 }).0.push(8);
        letter.parcel(Header { tag: Tag::Fault, names: [0; 2], first: 0 }).0.extend_from_slice(&error.report());
        letter.finish(11)
    }

    fn in_words(parcel: Parcel<Content>) -> String {
        match parcel {
            Parcel::Requests(Requests { object, ticket, count, .. }) => {
                format!("{count} requests to {object}, {ticket:?}")
            }
            Parcel::Answers { first, count, answers: Err(error) } => format!("{first} of {count}: {error}"),
            Parcel::Answers { first, count, .. } => format!("answers {first} of {count}"),
            Parcel::Note { number, about, .. } => format!("note {number} about {about}"),
            Parcel::Fault(error) => format!("fault: {error}"),
        }
    }

    #[test]
    fn what_is_alone_in_a_letter_has_the_shorter_header_if_its_numbers_fit() {
        let len = |first| {
            let mut letter = WrittenLetter::default();
            letter.parcel(Header { tag: Tag::Answers, names: [1, 0], first }).0.extend_from_slice(&[1, 2]);
            letter.finish(0).len()
        };
        assert_eq!(len(3), WORD + LONE_HEADER + 2);
        assert_eq!(len(1 << 56), WORD + HEADER + 2);
    }

    #[test]
    fn a_letter_is_read_as_it_was_written_and_a_series_has_one_header() {
        let mut parcels = Vec::new();
        let taken = read(&Rc::new(whole()), &Methods::default(), |parcel| parcels.push(in_words(parcel))).unwrap();
        let expected = [
            "3 requests to 7, None",
            "2 requests to 7, Some(5)",
            "1 requests to 7, Some(9)",
            "answers 3 of 1",
            "4 of 1: why",
            "note 2 about 3",
            "fault: why",
        ];
        assert_eq!((taken, parcels), (11, expected.map(str::to_owned).to_vec()));
    }

    #[test]
    fn what_is_alone_in_its_letter_has_a_short_header() {
        let mut letter = WrittenLetter::default();
        for (len, header) in [(24, LONE_HEADER), (MOVED_UP, LONE_HEADER), (MOVED_UP + 1, HEADER)] {
            letter.parcel(Header { tag: Tag::Answers, names: [1, 0], first: 300 }).0.resize(WORD + HEADER + len, 7);
            let bytes = letter.finish(5);
            assert_eq!(bytes.len(), WORD + header + len);
            let mut found = None;
            let taken = read(&Rc::new(bytes), &Methods::default(), |parcel| found = Some(parcel)).unwrap();
            let Some(Parcel::Answers { first: 300, count: 1, answers: Ok(Content::Written(excerpt)) }) = found else {
                panic!("an answer was written");
            };
            assert_eq!((taken, excerpt.bytes().unwrap()), (5, &vec![7; len][..]));
        }
    }

    #[test]
    fn a_letter_that_only_says_what_was_taken_in_is_bare() {
        assert!(is_bare(&WrittenLetter::default().finish(11)));
        assert!(!is_bare(&whole()));
    }

    #[test]
    fn what_is_taken_back_leaves_no_letter_and_a_long_series_is_split() {
        let mut letter = WrittenLetter::default();
        let header = Header { tag: Tag::Requests, names: [1, 2], first: 0 };
        let start = letter.parcel(header).0.len();
        letter.undo(start);
        assert!(letter.is_empty());
        for _ in 0..=MOST {
            letter.parcel(header);
        }
        assert_eq!(letter.open.map(|(_, at, count)| (at, count)), Some((WORD + HEADER, 1)));
    }

    /// A library that only the sender has loaded is no damage: whoever runs the request says what is missing.
    #[test]
    fn a_method_whose_code_is_not_here_stands_for_an_error() {
        let methods = Methods::default();
        methods.note_absent(5);
        let letter = |name| {
            let mut letter = WrittenLetter::default();
            letter.parcel(Header { tag: Tag::Requests, names: [name, 7], first: 0 });
            Rc::new(letter.finish(0))
        };
        let mut found = None;
        read(&letter(5), &methods, |parcel| found = Some(parcel)).unwrap();
        let Some(Parcel::Requests(requests)) = found else { panic!("a request was written") };
        assert_eq!(requests.method, Entrance::new::<Absent>(()));
        assert_eq!(read(&letter(6), &methods, |_| ()).unwrap_err().kind(), ErrorKind::Damaged);
        // It may have been loaded before the next epoch.
        methods.begin();
        assert_eq!(read(&letter(5), &methods, |_| ()).unwrap_err().kind(), ErrorKind::Damaged);
    }

    /// X5: nothing is believed that no sender would write.
    #[test]
    fn a_count_that_no_letter_holds_is_refused() {
        for (count, is_read) in [(MOST, true), (MOST + 1, false)] {
            let mut bytes = whole();
            let at = WORD + HEADER + 2 * WORD;
            assert_eq!(Reader::new(&bytes[at..]).get(), Ok(Tag::Requests as u64 | 3 << 8));
            (&mut bytes[at..]).put(Tag::Requests as u64 | count << 8);
            assert_eq!(read(&Rc::new(bytes), &Methods::default(), |_| ()).is_ok(), is_read, "{count} requests");
        }
    }

    /// X5: what makes no sense is an error, and nothing is read past the end.
    #[test]
    fn letters_that_are_cut_short_or_changed_are_read_or_refused() {
        let whole = whole();
        let parcels = |bytes: &[u8]| {
            let mut found = Vec::new();
            let outcome = read(&Rc::new(bytes.to_vec()), &Methods::default(), |parcel| found.push(in_words(parcel)));
            (outcome.is_ok(), found)
        };
        let (_, all) = parcels(&whole);
        for end in 0..whole.len() {
            let (is_read, found) = parcels(&whole[..end]);
            // Where a parcel ends, a shorter letter does too.
            assert!(!is_read || all.starts_with(&found) && found.len() < all.len(), "{end}: {found:?}");
        }
        assert!(read(&Rc::new(whole[..whole.len() - 1].to_vec()), &Methods::default(), |_| ()).is_err());
        let mut refused = 0;
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut changed = whole.clone();
                changed[at] ^= 1 << bit;
                refused +=
                    u32::from(read(&Rc::new(changed), &Methods::default(), |parcel| drop(in_words(parcel))).is_err());
            }
        }
        assert!(refused > 500, "{refused} of {} changes were refused", 8 * whole.len());
    }
}
