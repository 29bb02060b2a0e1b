//! Writes all changes of a source into one text, each behind a switch, and finds the changes that an error is about.

use crate::find::{Shape, Site};
use std::{collections::HashSet, ops::Range};

/// The module that tells which mutant is on. It stands in the lowest crate, and is read from the environment once: one
/// load and one comparison later on. Where a file is named, each mutant that is asked about is noted in it instead.
pub(crate) const SWITCH: &str = r#"
#[doc(hidden)]
pub mod mutant {
    use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering::{Acquire, Relaxed, Release}};
    const UNREAD: u32 = u32::MAX;
    const NOTING: u32 = u32::MAX - 1;
    static ON: AtomicU32 = AtomicU32::new(UNREAD);
    static NOTES: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
    #[inline]
    pub fn is(number: u32) -> bool {
        let on = ON.load(Acquire);
        if on < NOTING { on == number } else { without(on, number) }
    }
    #[cold]
    fn without(on: u32, number: u32) -> bool {
        if on == UNREAD {
            read();
            return is(number);
        }
        let note = unsafe { NOTES.load(Relaxed).add(number as usize) };
        // What is noted stays as it is: threads that write the same line again and again wait for each other.
        if unsafe { note.read_volatile() } == 0 {
            unsafe { note.write_volatile(1) };
        }
        false
    }
    fn read() {
        use std::os::fd::AsRawFd;
        let Some(notes) = std::env::var_os("MUTANTS_NOTES") else {
            let on = std::env::var("MUTANT").ok().and_then(|number| number.parse().ok()).unwrap_or(0);
            return ON.store(on, Release);
        };
        let file = std::fs::File::options().read(true).write(true).open(notes).unwrap();
        let length = file.metadata().unwrap().len() as usize;
        let all = unsafe {
            libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        assert_ne!(all, libc::MAP_FAILED);
        NOTES.store(all.cast(), Relaxed);
        ON.store(NOTING, Release);
    }
}
"#;

/// A source with its sites. The changes of a file have numbers that follow each other, from `first` on.
pub(crate) struct Source {
    pub(crate) text: String,
    pub(crate) sites: Vec<Site>,
    pub(crate) first: u32,
    /// How a mutant is asked about here.
    pub(crate) switch: &'static str,
}

/// Where something stands in the text with all changes.
pub(crate) struct Placed {
    bytes: Range<usize>,
    /// What goes if there is an error here.
    numbers: Vec<u32>,
    /// Whether this is the text of one change, and not all of a site.
    alone: bool,
}

/// A piece to put into the text, and the piece of [`Placed`] that begins or ends with it.
struct Piece {
    at: usize,
    /// What ends here stands before what begins here.
    begins: bool,
    text: String,
    site: usize,
    /// Where the texts of single changes lie within the piece.
    inside: Vec<(Range<usize>, u32)>,
}

impl Source {
    /// The text with all changes that are left, and where they stand in it.
    pub(crate) fn written(&self, dropped: &HashSet<u32>) -> (String, Vec<Placed>) {
        let (mut pieces, mut ends) = (Vec::new(), Vec::new());
        let mut number = self.first;
        let mut left_of = Vec::new();
        for (site, of) in self.sites.iter().enumerate() {
            let numbers = number..number + of.changes.len() as u32;
            number = numbers.end;
            let left: Vec<(u32, &str)> =
                numbers.zip(&of.changes).filter(|(n, _)| !dropped.contains(n)).map(|(n, c)| (n, &*c.text)).collect();
            left_of.push(left.iter().map(|&(number, _)| number).collect::<Vec<_>>());
            if left.is_empty() {
                continue;
            }
            let (before, inside, after) = self.around(of.shape, &left);
            pieces.push(Piece { at: of.bytes.start, begins: true, text: before, site, inside });
            ends.push(Piece { at: of.bytes.end, begins: false, text: after, site, inside: Vec::new() });
        }
        // A site ends behind those inside it, which stand behind it in the list; what has no width ends where it begins.
        ends.reverse();
        let width = |piece: &Piece| self.sites[piece.site].bytes.len();
        pieces.extend(ends.extract_if(.., |piece| width(piece) > 0));
        pieces.sort_by_key(|piece| (piece.at, piece.begins));
        self.put_together(&pieces, &left_of)
    }

    /// What stands before and behind a site, and where the changes are in the former.
    fn around(&self, shape: Shape, left: &[(u32, &str)]) -> (String, Vec<(Range<usize>, u32)>, String) {
        let (mut before, mut inside) = (String::new(), Vec::new());
        let switch = self.switch;
        if shape == Shape::Expression {
            before.push('(');
        }
        for &(number, text) in left {
            let start = before.len();
            before += &match shape {
                Shape::Expression => format!("if {switch}::is({number}) {{ {text} }} else "),
                Shape::Body => format!(" if {switch}::is({number}) {{ return {text}; }}"),
                Shape::Arm => format!(" if !{switch}::is({number})"),
                Shape::Guard => format!("!{switch}::is({number}) && ("),
            };
            inside.push((start..before.len(), number));
        }
        let (last, after) = match shape {
            Shape::Expression => ("{ (", ") })"),
            Shape::Guard => ("", ")"),
            Shape::Body | Shape::Arm => ("", ""),
        };
        (before + last, inside, after.to_owned())
    }

    fn put_together(&self, pieces: &[Piece], left_of: &[Vec<u32>]) -> (String, Vec<Placed>) {
        let (mut text, mut placed, mut done) = (String::new(), Vec::new(), 0);
        let mut open: Vec<(usize, usize)> = Vec::new();
        for piece in pieces {
            text += &self.text[done..piece.at];
            done = piece.at;
            if piece.begins {
                let start = text.len();
                for (bytes, number) in &piece.inside {
                    let bytes = bytes.start + start..bytes.end + start;
                    placed.push(Placed { bytes, numbers: vec![*number], alone: true });
                }
                if !self.sites[piece.site].bytes.is_empty() {
                    open.push((piece.site, start));
                }
            }
            text += &piece.text;
            if !piece.begins {
                let (site, start) = open.pop().expect("what ends has begun");
                assert_eq!(site, piece.site, "sites lie within each other");
                placed.push(Placed { bytes: start..text.len(), numbers: left_of[site].clone(), alone: false });
            }
        }
        text += &self.text[done..];
        (text, placed)
    }
}

/// The changes that an error at some bytes is about: the one it lies in, or else all of the smallest site around it,
/// or else all that it reaches.
pub(crate) fn to_blame(placed: &[Placed], error: &Range<usize>) -> Vec<u32> {
    let around = |p: &&Placed| p.bytes.start <= error.start && error.end <= p.bytes.end;
    let smallest =
        |alone: bool| placed.iter().filter(|p| p.alone == alone).filter(around).min_by_key(|p| p.bytes.len());
    if let Some(one) = smallest(true).or(smallest(false)) {
        return one.numbers.clone();
    }
    let reached = placed.iter().filter(|p| p.bytes.start < error.end && error.start < p.bytes.end);
    reached.flat_map(|p| p.numbers.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::find;

    /// The names of what is found, and the text with all of it behind switches.
    fn changed(text: &str) -> (Vec<String>, String) {
        let sites = find(text).expect("this is a source").sites;
        let names = sites.iter().flat_map(|site| site.changes.iter().map(|change| change.name.clone())).collect();
        let source = Source { text: text.to_owned(), sites, first: 1, switch: "m" };
        (names, source.written(&HashSet::new()).0)
    }

    #[test]
    fn an_operator_has_its_others_behind_switches() {
        let (names, text) = changed("fn f(a: u8) { g(a == 1) }");
        assert_eq!(names, ["1:4: replace f with ()", "1:19: replace == with != in f"]);
        let inside = "(if m::is(2) { (a) != (1) } else { (a == 1) })";
        assert_eq!(text, format!("fn f(a: u8) {{ if m::is(1) {{ return (); }} g({inside}) }}"));
    }

    #[test]
    fn sites_that_begin_or_end_together_lie_within_each_other() {
        let (_, text) = changed("fn f() -> ! { a && !b || c }");
        let not = "(if m::is(3) { b } else { (!b) })";
        let and = format!("(if m::is(2) {{ (a) || (!b) }} else {{ (a && {not}) }})");
        let or = format!("(if m::is(1) {{ (a && !b) && (c) }} else {{ ({and} || c) }})");
        assert_eq!(text, format!("fn f() -> ! {{ {or} }}"));
    }

    #[test]
    fn arms_are_left_to_the_one_that_takes_everything() {
        let (names, text) = changed("fn f() -> ! { match x { A => 1, B if c => 2, _ => 3 } }");
        assert_eq!(names.len(), 4, "{names:?}");
        let guard = "!m::is(2) && ((if m::is(3) { true } else if m::is(4) { false } else { (c) }))";
        assert_eq!(text, format!("fn f() -> ! {{ match x {{ A if !m::is(1) => 1, B if {guard} => 2, _ => 3 }} }}"));
    }

    #[test]
    fn what_is_no_code_of_a_run_is_left_alone() {
        let left = "const A: u8 = 1 + 2; const fn f() -> bool { 1 < 2 } unsafe fn g() -> bool { !true }\n\
            #[cfg(test)] mod t { fn f() {g()} } #[cfg(windows)] fn h() -> u8 { 3 }\n\
            fn i(a: [u8; 1 + 1]) -> ! { if let Some(-1) = a && b { c::<{ 1 + 1 }>([0; 2 + 3]); d!(1 + 1) } }";
        assert_eq!(changed(left), (Vec::new(), left.to_owned()));
    }

    #[test]
    fn bodies_are_replaced_by_what_their_type_allows() {
        let (names, _) = changed("impl<T> A for B<T> { fn f(&self) -> Result<Option<bool>, E> { g() } }");
        let start = "1:25: replace <impl A for B<T>>::f -> Result<Option<bool>, E> with";
        assert_eq!(names, ["Ok(None)", "Ok(Some(true))", "Ok(Some(false))"].map(|value| format!("{start} {value}")));
    }

    #[test]
    fn an_error_goes_to_the_smallest_change_around_it() {
        let text = "fn f() -> ! { g(a + b == c) }";
        let source = Source { text: text.to_owned(), sites: find(text).unwrap().sites, first: 1, switch: "m" };
        let (written, placed) = source.written(&HashSet::new());
        let at = |what: &str| written.find(what).map(|at| at..at + what.len()).expect("it is there");
        assert_eq!(to_blame(&placed, &at("(a) * (b)")), [3]);
        assert_eq!(to_blame(&placed, &at("a + b) != (c)")), [1]);
        assert_eq!(to_blame(&placed, &at("(a + b) })")), [2, 3]);
        assert!(to_blame(&placed, &at("fn f()")).is_empty());
        let (less, _) = source.written(&HashSet::from([1, 3]));
        assert_eq!(less, "fn f() -> ! { g((if m::is(2) { (a) - (b) } else { (a + b) }) == c) }");
    }
}
