//! Coherence: a section becomes the same on a set of processors, and only those wait for each other.
//!
//! Each member of the set sends every other one letter: the values of what it owns of the section, and what it wrote
//! since the last call. When it has the letters of all others it knows what all of them know, and makes the same of it:
//! each element gets the value of the lowest rank that wrote it, or its owner's if nobody did. Because every call on an
//! element has its owner in the set, the owner's value is never older than anybody's copy.
//!
//! Letters between two members are numbered, and so are the calls that both take part in: the letter of a member with
//! the number of mine is about this call, or their programs differ. Nobody waits before it has sent all its letters. So
//! all members go on if each two make their common calls in the same order, and if no calls wait for each other in a
//! circle. The first alone is not enough: if 0 calls {0, 1} and then {0, 2}, 1 calls {1, 2} and then {0, 1}, and 2
//! calls {0, 2} and then {1, 2}, no two have more than one call in common, and all three wait. Where all calls have one
//! order that every member keeps to, there is no circle.

use super::{
    access::Paged,
    layout::Piece,
    news::{Call, Mark, News, NewsWriter, Other, Writes},
};
use crate::{
    engine::{Element, Group},
    error::{Error, ErrorKind, Result, place},
    memory::section::Section,
};
use std::panic::Location;

/// A coherence call that was begun, and has to be [finished](Self::finish).
///
/// ```
/// let sums = superstep::Config::new().procs(2).run_all(|g| {
///     let a = g.paged::<u32, 1>([4], [2]);
///     for [i] in a.indices() { a.write(i, 1 + i as u32) }
///     let begun = g.begin_cohere(&a, 1..3, &[0, 1]);
///     let inner: u32 = a.indices().map(|[i]| a.read(i)).sum();       // work that needs nothing of the others
///     begun.finish();
///     inner + a.read(1) + a.read(2)
/// });
/// assert_eq!(sums.unwrap(), [8, 12]);
/// ```
///
/// **Dropping it communicates**: a call that is dropped is finished there, and waits for the others of the set. A panic
/// does not wait, and then the group cannot go on. The group cannot step before the call is finished:
///
/// ```compile_fail,E0502
/// superstep::run(|g| {
///     let a = g.paged::<u32, 1>([4], [2]);
///     let begun = g.begin_cohere(&a, .., &[0, 1]);
///     g.step(|_| ());
///     begun.finish();
/// });
/// ```
#[must_use = "what is dropped at once waits like `cohere`"]
pub struct Cohering<'a, T: Element, const N: usize> {
    array: &'a Paged<T, N>,
    begun: Option<Begun<T, N>>,
    _group: &'a Group,
}

/// What this member knows of a call when it has sent its letters.
struct Begun<T, const N: usize> {
    call: Call<N>,
    pieces: Vec<Piece>,
    writes: Writes<T>,
    /// The numbers of the others' letters, in the order of their ranks.
    letters: Vec<u64>,
    /// Its number among calls that are under way at the same time.
    number: Option<u64>,
    site: &'static Location<'static>,
}

impl Group {
    /// Makes a section of a paged array the same on all of `ranks`, which call this with the same section and ranks.
    /// Nobody else waits.
    ///
    /// Every write to the section by one of them since the last such call is taken in; where several wrote an element,
    /// the last write of the lowest rank stands. Afterwards all of them can read all of it, until they write it or make
    /// it coherent again. Writes by others than `ranks` are taken in by a call that they take part in. The owners of
    /// the section have to be among `ranks`; in which order these are named does not matter.
    ///
    /// ```
    /// let seen = superstep::Config::new().procs(3).run_all(|g| {
    ///     let a = g.paged::<usize, 1>([6], [2]);
    ///     a.write(2, 10 + g.rank());                                    // all write an element of rank 1
    ///     if g.rank() > 0 { g.cohere(&a, 2..4, &[1, 2]) }
    ///     a.read(2)
    /// });
    /// assert_eq!(seen.unwrap(), [10, 11, 11]);
    /// ```
    ///
    /// # Cost
    ///
    /// One letter each way between each two of `ranks`, with what its sender owns of the section. Where they share
    /// memory, long runs are copied straight from the page of one into that of the other: `g` for each element, and two
    /// waits between neighbours instead of an `l`. From how many bytes on a run is long is measured once in a process:
    /// where one more copy takes as long as one more loan.
    ///
    /// # Panics
    ///
    /// If there is no such section, if a rank is not in the group, if this processor is not among `ranks` or an owner
    /// of the section is not, if a slice of one of its pages is alive; and on all processors if members of the set made
    /// different calls.
    #[track_caller]
    pub fn cohere<T: Element, const N: usize>(&self, a: &Paged<T, N>, section: impl Section<N>, ranks: &[usize]) {
        self.cohere_at(a, &section, ranks, Location::caller()).unwrap_or_else(|error| error.raise());
    }

    /// Makes a section coherent like [`cohere`](Self::cohere), or returns why that cannot be done.
    ///
    /// An [error of this processor alone](Error::is_misuse) had no effect; all others end the run.
    ///
    /// ```
    /// use superstep::{Config, ErrorKind};
    ///
    /// let kinds = Config::new().procs(2).run_all(|g| {
    ///     let a = g.paged::<u32, 1>([4], [2]);
    ///     g.try_cohere(&a, .., &[g.rank()]).unwrap_err().kind()
    /// });
    /// assert_eq!(kinds.unwrap(), [ErrorKind::OwnerNotInGroup; 2]);
    /// ```
    #[track_caller]
    pub fn try_cohere<T: Element, const N: usize>(
        &self,
        a: &Paged<T, N>,
        section: impl Section<N>,
        ranks: &[usize],
    ) -> Result {
        self.cohere_at(a, &section, ranks, Location::caller())
    }

    fn cohere_at<T: Element, const N: usize>(
        &self,
        a: &Paged<T, N>,
        section: &impl Section<N>,
        ranks: &[usize],
        site: &'static Location<'static>,
    ) -> Result {
        let begun = self.begin(a, section, ranks, site, true)?;
        a.finish(begun)
    }

    /// Begins to make a section coherent: says what this processor knows, and does not wait.
    ///
    /// What it writes to the section before it finishes the call belongs to the next one. Several calls may be under
    /// way at a time and may be finished in any order; they count in the order in which they were begun.
    ///
    /// ```
    /// let seen = superstep::Config::new().procs(2).run_all(|g| {
    ///     let a = g.paged::<u32, 1>([2], [1]);
    ///     a.write(g.rank(), 5);
    ///     let begun = g.begin_cohere(&a, .., &[0, 1]);
    ///     a.write(g.rank(), 6);
    ///     begun.finish();
    ///     (a.read(g.rank()), a.read(1 - g.rank()))
    /// });
    /// assert_eq!(seen.unwrap(), [(6, 5), (6, 5)]);
    /// ```
    ///
    /// # Cost
    ///
    /// As [`cohere`](Self::cohere), but everything moves in buffers.
    ///
    /// # Panics
    ///
    /// As [`cohere`](Self::cohere). All processors fail if the owner of an element begins a further call on it before
    /// it has finished one that brings the write of another, unless the owner has written the element again: the
    /// further call has told others the old value.
    #[track_caller]
    pub fn begin_cohere<'a, T: Element, const N: usize>(
        &'a self,
        a: &'a Paged<T, N>,
        section: impl Section<N>,
        ranks: &[usize],
    ) -> Cohering<'a, T, N> {
        let begun = self.begin(a, &section, ranks, Location::caller(), false).unwrap_or_else(|error| error.raise());
        a.part.channel().begin(begun.site);
        Cohering { array: a, begun: Some(begun), _group: self }
    }

    /// Checks a call, and sends its letters.
    fn begin<T: Element, const N: usize>(
        &self,
        a: &Paged<T, N>,
        section: &impl Section<N>,
        ranks: &[usize],
        site: &'static Location<'static>,
        lends: bool,
    ) -> Result<Begun<T, N>> {
        let core = self.core();
        core.check_member(&a.core, "paged array", site)?;
        a.check_whole(site)?;
        let (me, channel) = (core.rank(), a.part.channel());
        ranks.iter().try_for_each(|&rank| core.check_rank(rank, site))?;
        if !ranks.contains(&me) {
            let what = format!("rank {me} is not among the ranks {ranks:?} that it makes coherent; name it as well");
            return Err(core.error(ErrorKind::NotInSet, what, site));
        }
        let mut ranks = ranks.to_vec();
        ranks.sort_unstable();
        ranks.dedup();
        let call = Call { number: a.core.number, spans: a.check_section(section, site)?, ranks };
        let pieces = a.check_pieces(&call, site)?;
        let writes = a.take_writes(&pieces);
        let pages = &a.pages;
        let sender = NewsWriter { pages, call: &call, site, pieces: &pieces, rank: me, writes: &writes, lends };
        let mut letters = Vec::with_capacity(call.ranks.len());
        for &to in call.ranks.iter().filter(|&&to| to != me) {
            let shares = core.wire.circle().shares(to);
            let mut letter = sender.letter(shares, channel.spare_letter()).ok_or_else(|| a.still_borrowed(site))?;
            letters.push(channel.send(to, &mut letter)?);
        }
        let written = writes.own.iter().chain(&writes.foreign).copied();
        let number = a.part.flight.enter(!lends, &pieces, written, site);
        Ok(Begun { call, pieces, writes, letters, number, site })
    }
}

impl<T: Element, const N: usize> Cohering<'_, T, N> {
    /// Waits for the others of the set, and takes in what they have.
    ///
    /// ```
    /// let seen = superstep::Config::new().procs(2).run_all(|g| {
    ///     let a = g.paged::<u32, 1>([2], [1]);
    ///     a.write(g.rank(), 5 + g.rank() as u32);
    ///     g.begin_cohere(&a, .., &[0, 1]).finish();
    ///     a.read_section(..)
    /// });
    /// assert_eq!(seen.unwrap(), [[5, 6], [5, 6]]);
    /// ```
    ///
    /// # Panics
    ///
    /// If a slice of one of the section's pages is alive; and on all processors if members of the set made different
    /// calls.
    #[track_caller]
    pub fn finish(mut self) {
        self.finish_at(Location::caller()).unwrap_or_else(|error| error.raise());
    }

    fn finish_at(&mut self, site: &'static Location<'static>) -> Result {
        let Some(begun) = self.begun.take() else { return Ok(()) };
        let (array, core) = (self.array, &self.array.core);
        array.part.channel().finish(begun.site);
        if let Some(piece) = begun.pieces.iter().find(|piece| array.pages.has_slice(piece.page)) {
            let at = array.part.layout.index(piece.page, piece.offset);
            let what = format!("a slice of the page of element {at:?} is still borrowed; drop it before finish");
            return Err(core.give_up(&core.error(ErrorKind::StillBorrowed, what, site)));
        }
        array.finish(begun)
    }
}

impl<T: Element, const N: usize> Drop for Cohering<'_, T, N> {
    fn drop(&mut self) {
        // A panic should not wait for others. If it is caught the group cannot go on, and says so.
        let Some(begun) = &self.begun else { return };
        if !std::thread::panicking() {
            let site = begun.site;
            self.finish_at(site).unwrap_or_else(|error| error.raise());
        }
    }
}

impl<T: Element, const N: usize> std::fmt::Debug for Cohering<'_, T, N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Cohering({:?})", self.array)
    }
}

impl<T: Element, const N: usize> Paged<T, N> {
    /// The pieces of a call's section, if all their owners take part and no slice of them is alive.
    fn check_pieces(&self, call: &Call<N>, site: &Location<'_>) -> Result<Vec<Piece>> {
        let (mut pieces, mut missing, mut is_borrowed) = (Vec::new(), None, false);
        self.part.layout.pieces(&call.spans, |piece| {
            if !call.ranks.contains(&piece.owner) {
                missing = missing.or(Some(piece));
            }
            is_borrowed |= self.pages.has_slice(piece.page);
            pieces.push(piece);
        });
        if let Some(piece) = missing {
            let (at, owner, ranks) = (self.part.layout.index(piece.page, piece.offset), piece.owner, &call.ranks);
            let what = format!(
                "element {at:?} of the section belongs to rank {owner}, which is not among the ranks {ranks:?}; owners \
                 of a section take part in its coherence"
            );
            return Err(self.core.error(ErrorKind::OwnerNotInGroup, what, site));
        }
        if is_borrowed { Err(self.still_borrowed(site)) } else { Ok(pieces) }
    }

    /// What this processor wrote of the pieces; from now on it counts as taken in.
    fn take_writes(&self, pieces: &[Piece]) -> Writes<T> {
        let mut writes = Writes { own: Vec::new(), foreign: Vec::new(), values: Vec::new() };
        for (number, piece) in pieces.iter().enumerate() {
            let (page, range) = (piece.page, piece.range());
            let runs = self.part.written(page, &range);
            if runs.is_empty() {
                continue;
            }
            let is_own = piece.owner == self.part.rank;
            for run in runs {
                let (at, len) = ((run.start - piece.offset) as u32, run.len() as u32);
                let mark = Mark { piece: number as u32, at, len };
                if is_own {
                    writes.own.push(mark);
                } else {
                    let is_out = self.pages.copy_out(page, run, &mut writes.values);
                    debug_assert!(is_out, "no slice of it is alive");
                    writes.foreign.push(mark);
                }
            }
            self.part.settle(page, &range);
        }
        writes
    }

    /// Waits for the letters of all others, and takes in what they say.
    fn finish(&self, begun: Begun<T, N>) -> Result {
        let Begun { call, pieces, writes, letters: numbers, number, site } = begun;
        let (me, channel) = (self.part.rank, self.part.channel());
        let mut letters = Vec::with_capacity(call.ranks.len());
        for (&from, number) in call.ranks.iter().filter(|&&from| from != me).zip(numbers) {
            let letter = channel.receive(&self.core, from, number, site)?;
            match News::read(from, letter, &call, &pieces)? {
                Ok((letter, spare)) => {
                    channel.keep_letter(spare);
                    letters.push(letter);
                }
                Err(other) => return Err(self.mismatch(&call, site, from, &other)),
            }
        }
        let since = self.part.flight.since(number);
        let taken = letters
            .iter()
            .try_for_each(|letter| letter.unpack(&pieces, |piece, values| self.take_in(piece, values, &since)));
        let taken = taken.and_then(|()| {
            let is_plain = writes.foreign.is_empty() && letters.iter().all(|letter| letter.writes.foreign.is_empty());
            // What was lent to this processor is given back here, before it waits for what it has lent.
            let others = letters.into_iter().map(|letter| (letter.from, letter.writes));
            let all = [(me, writes)].into_iter().chain(others);
            if is_plain { Ok(()) } else { self.resolve(&pieces, all.collect(), &since) }
        });
        // Others may have gone on with what could not be taken in here.
        taken.map_err(|error| self.core.give_up(&self.core.error(error.kind(), error, site)))?;
        drop(since);
        self.part.flight.finish(number);
        self.part.age(&pieces);
        Ok(())
    }

    /// Members of a set made different calls: all of them get the same error, and so does everybody.
    #[cold]
    fn mismatch(&self, call: &Call<N>, site: &Location<'_>, from: usize, other: &Other) -> Error {
        let mine = (self.part.rank, call.in_words(), place(site));
        let theirs = (from, other.call.clone(), other.site.clone());
        let (low, high) = if mine.0 < from { (mine, theirs) } else { (theirs, mine) };
        let what = format!(
            "rank {} makes {} coherent at {}, rank {} {} at {}; all members of a set make the same coherence calls in \
             the same order",
            low.0, low.1, low.2, high.0, high.1, high.2
        );
        self.core.give_up(&Error::placed(ErrorKind::CoherenceMismatch, self.core.in_step(what)))
    }
}
