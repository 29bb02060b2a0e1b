//! Letters between members of a group outside of its boundaries, for those who synchronise with some of the others.
//!
//! A group that has made a paged array has a post: a circle of its own, of which only letters and counts are used. A
//! letter opens with the place in the program that it was sent from.
//!
//! Whoever sends a letter here waits for one in return. So a letter that has come to a member that is at a boundary can
//! never be answered, because its sender will not get to that boundary: some have made a call that others have not, and
//! without a word all of them would wait for ever. Therefore the members of such a group count each other at each
//! boundary before they meet, and look at their letters meanwhile. A count holds nobody back, so this costs one more
//! wave, and only there.
//!
//! Members may also wait for each other's letters in a circle. Whoever has waited for a while sends a *chain* to whom
//! it waits for. A member that waits itself adds itself and passes the chain on; a chain that comes back to its sender
//! has gone through nobody who could go on. Each link is checked when it is passed: it says how many letters its sender
//! has had from the one it waits for, and holds as long as that one has sent no more. A link that does not hold ends
//! the chain; when the letter that was on its way has come and the wait goes on, a further chain is sent. So the member
//! that was last to wait, or to get such a letter, finds the circle.

use super::{
    boundary::Kind,
    core::{Core, Joint},
    exchange::damaged,
};
use crate::error::{Error, ErrorKind, Result, place};
use fabric::{Circle, Counts, Failure, Tray};
use serde::{Deserialize, Serialize};
use std::{collections::VecDeque, panic::Location};

/// A member's end of the post.
pub(crate) struct Post {
    circle: Box<dyn Circle>,
    /// What has come and was not asked for yet, with its sender and its number among the letters of that one.
    kept: VecDeque<(usize, u64, Tray)>,
    /// How many letters were sent to each member, and how many have come from it, chains not counted.
    sent: Vec<u64>,
    came: Vec<u64>,
    /// The member and the place of the wait that is under way.
    waits: Option<(usize, String)>,
    /// Letters that were read, kept for their room.
    spare: Vec<Tray>,
}

/// Members that wait, each for the next, with the places where they do.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Chain {
    /// How many letters the last of them has had from the one that this is sent to.
    came: u64,
    members: Vec<(usize, String)>,
}

/// In the place of a line, at the head of a letter: it is a chain.
const CHAIN: u32 = u32::MAX;

/// How often a member looks for a letter before it asks whether others wait in a circle with it, and rests: longer than
/// an answer takes that is under way, and not so long that others want for the core.
const LOOKS: u32 = 400;

/// What a member heard while it waited.
enum Heard {
    Letter,
    Nothing,
    /// All of these wait, each for the next and the last for the first, which is this one.
    Circle(Vec<(usize, String)>),
}

impl Post {
    fn new(circle: Box<dyn Circle>) -> Self {
        let size = circle.size();
        Self { circle, kept: VecDeque::new(), sent: vec![0; size], came: vec![0; size], waits: None, spare: Vec::new() }
    }

    /// Takes in one letter, if there is one.
    fn take_in(&mut self) -> Result<Heard> {
        let mut letter = Tray::default();
        let Some(from) = self.circle.next_letter(&mut letter)? else { return Ok(Heard::Nothing) };
        if let Some(chain) = letter.bytes.strip_prefix(&CHAIN.to_le_bytes()) {
            return self.pass_on(from, postcard::from_bytes(chain).map_err(|_| damaged())?);
        }
        let came = self.came.get_mut(from).ok_or_else(damaged)?;
        self.kept.push_back((from, *came, letter));
        *came += 1;
        Ok(Heard::Letter)
    }

    /// Adds this member to a chain and sends it to whom this one waits for, if it does.
    fn pass_on(&mut self, from: usize, mut chain: Chain) -> Result<Heard> {
        let me = self.circle.rank();
        let Some((to, site)) = &self.waits else { return Ok(Heard::Letter) };
        if self.sent.get(from) != Some(&chain.came) {
            return Ok(Heard::Letter);
        }
        if chain.members.first().is_some_and(|&(first, _)| first == me) {
            return Ok(Heard::Circle(chain.members));
        }
        if chain.members.iter().all(|&(member, _)| member != me) {
            chain.members.push((me, site.clone()));
            self.send_chain(*to, chain.members)?;
        }
        Ok(Heard::Letter)
    }

    fn send_chain(&mut self, to: usize, members: Vec<(usize, String)>) -> Result {
        let chain = Chain { came: self.came[to], members };
        let mut letter = Tray { bytes: CHAIN.to_le_bytes().to_vec(), moved: Vec::new() };
        letter.bytes.extend(postcard::to_stdvec(&chain).expect("numbers and texts can be encoded"));
        Ok(self.circle.send_letter(to, &mut letter)?)
    }

    /// The letter of member `from` with this number, if it has come.
    fn find(&mut self, from: usize, number: u64) -> Option<Tray> {
        let at = self.kept.iter().position(|&(source, its, _)| (source, its) == (from, number))?;
        self.kept.remove(at).map(|(_, _, letter)| letter)
    }

    /// The letter of member `from` with this number.
    fn await_from(
        &mut self,
        from: usize,
        number: u64,
        site: &Location<'_>,
    ) -> Result<Result<Tray, Vec<(usize, String)>>> {
        // How many letters it had when it asked last.
        let mut asked = None;
        let pen = self.circle.pen();
        let mut waiting = pen.waiting();
        for look in 0.. {
            if let Some(letter) = self.find(from, number) {
                self.waits = None;
                return Ok(Ok(letter));
            }
            match self.take_in()? {
                Heard::Letter => {}
                Heard::Circle(members) => return Ok(Err(members)),
                Heard::Nothing if look < LOOKS => std::hint::spin_loop(),
                Heard::Nothing => {
                    // A chain that met a letter on its way does not hold. So it goes again once that letter has come.
                    if asked != Some(self.came[from]) {
                        asked = Some(self.came[from]);
                        self.waits = Some((from, place(site)));
                        waiting.begin(|| Some(self.circle.number(from)));
                        self.send_chain(from, vec![(self.circle.rank(), place(site))])?;
                    }
                    self.circle.rest()?;
                }
            }
        }
        unreachable!("it looks until a letter has come")
    }
}

/// Writes the place that a letter is sent from.
pub(crate) fn open_letter(site: &Location<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(&site.line().to_le_bytes());
    out.extend_from_slice(&(site.file().len() as u32).to_le_bytes());
    out.extend_from_slice(site.file().as_bytes());
}

/// The place that a letter was sent from.
#[derive(Clone, Copy)]
pub(crate) struct SentFrom<'a> {
    file: &'a [u8],
    line: u32,
}

impl std::fmt::Display for SentFrom<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", String::from_utf8_lossy(self.file), self.line)
    }
}

/// The place that a letter was sent from, and what else it says.
pub(crate) fn opened(letter: &[u8]) -> Result<(SentFrom<'_>, &[u8])> {
    let (line, rest) = letter.split_first_chunk().ok_or_else(damaged)?;
    let (len, rest) = rest.split_first_chunk().ok_or_else(damaged)?;
    let (file, rest) = rest.split_at_checked(u32::from_le_bytes(*len) as usize).ok_or_else(damaged)?;
    Ok((SentFrom { file, line: u32::from_le_bytes(*line) }, rest))
}

impl Core {
    /// Opens the group's post, if it has none. All members do it together.
    pub(crate) fn open_post(&self) {
        if self.post.borrow().is_none() {
            let members: Vec<usize> = (0..self.size.get()).collect();
            let name = self.name(Joint::Post, 0);
            let circle = self.circle.borrow().join(name, &members, self.rank.get());
            *self.post.borrow_mut() = Some(Post::new(circle));
            self.has_post.set(true);
        }
    }

    /// Lets the post follow a new numbering.
    pub(super) fn move_post(&self, stayed: &[usize], rank: usize) {
        if let Some(post) = &mut *self.post.borrow_mut() {
            let name = self.name(Joint::Rest, 0);
            *post = Post::new(post.circle.join(name, stayed, rank));
        }
    }

    fn with_post<R>(&self, body: impl FnOnce(&mut Post) -> Result<R>) -> Result<R> {
        body(self.post.borrow_mut().as_mut().expect("whoever uses the post has opened it"))
    }

    /// Sends a letter, and returns its number among those to `to`; the one in return has the same number, because each
    /// two members make the calls that both take part in in the same order.
    pub(crate) fn send_letter(&self, to: usize, letter: &mut Tray) -> Result<u64> {
        self.with_post(|post| {
            post.circle.send_letter(to, letter)?;
            post.sent[to] += 1;
            Ok(post.sent[to] - 1)
        })
    }

    /// Waits for the letter of member `from` with this number.
    pub(crate) fn await_letter(&self, from: usize, number: u64, site: &'static Location<'static>) -> Result<Tray> {
        self.go_to(", in a coherence call", site);
        self.with_post(|post| post.await_from(from, number, site))?.map_err(|circle| self.in_a_circle(circle))
    }

    /// Members wait for each other in a circle: all of them get the same error, and so does everybody.
    #[cold]
    fn in_a_circle(&self, mut members: Vec<(usize, String)>) -> Error {
        let lowest = (0..members.len()).min_by_key(|&at| members[at].0).unwrap_or(0);
        members.rotate_left(lowest);
        let mut words = Vec::new();
        for (at, (member, site)) in members.iter().enumerate() {
            let next = members[(at + 1) % members.len()].0;
            words.push(format!("rank {member} waits at {site} for rank {next}"));
        }
        let what = format!(
            "{}: nobody can go on; each two members make their common calls in the same order, and no calls may wait \
             for each other in a circle: let all calls have one order that every member keeps to",
            words.join(", ")
        );
        let message = format!("step {} of group {}: {what}", self.steps.get(), self.path());
        self.give_up(&Error::placed(ErrorKind::CoherenceMismatch, message))
    }

    /// An empty letter, with room if one was kept.
    pub(crate) fn spare_letter(&self) -> Tray {
        self.post.borrow_mut().as_mut().and_then(|post| post.spare.pop()).unwrap_or_default()
    }

    /// Keeps an empty letter for its room.
    pub(crate) fn keep_letter(&self, letter: Tray) {
        if let Some(post) = &mut *self.post.borrow_mut()
            && post.spare.len() < post.sent.len()
        {
            post.spare.push(letter);
        }
    }

    /// Lets a moment pass in which others can go on; fails once the run has.
    pub(crate) fn pause(&self) -> Result {
        let heard = self.with_post(Post::take_in)?;
        if matches!(heard, Heard::Nothing) {
            std::thread::yield_now();
        }
        Ok(())
    }

    /// Ends the run with `error`, or with that of whoever was first.
    pub(crate) fn give_up(&self, error: &Error) -> Error {
        let alarm = self.circle.borrow().alarm();
        alarm.raise(Failure::GaveUp { rank: self.processor, report: error.report() });
        alarm.raised().map_or_else(|| error.clone(), Error::from)
    }

    /// Waits until every member has come to the next boundary, or to its end where `kind` is none; fails if one of them
    /// waits for this one elsewhere.
    pub(super) fn gather_at_post(&self, kind: Option<Kind>) -> Result {
        if let Some(failure) = self.circle.borrow().alarm().raised() {
            // A count that was entered before may have been left without its sum.
            return Err(failure.into());
        }
        if let Some(begun) = self.begun.borrow().first() {
            // The others of its set may wait for what comes after it, and nobody else will say why.
            let what = format!("the coherence call that was begun at {} was not finished", place(begun));
            return Err(self.give_up(&self.error(ErrorKind::StillBorrowed, what, self.site.get())));
        }
        let stray = self.with_post(|post| {
            post.circle.enter_count(Counts::default())?;
            let mut waiting = self.pen.waiting();
            loop {
                if let Some(stray) = post.kept.pop_front() {
                    return Ok(Some(stray));
                }
                if !matches!(post.take_in()?, Heard::Nothing) {
                    continue;
                }
                if post.circle.counted()?.is_some() {
                    return Ok(None);
                }
                waiting.begin(|| None);
                post.circle.rest()?;
            }
        })?;
        let Some((from, _, letter)) = stray else { return Ok(()) };
        let (site, me) = (opened(&letter.bytes)?.0, self.rank.get());
        let here = match kind {
            Some(kind) => format!("has gone on to the {} at {}", kind.in_words(), place(self.site.get())),
            None => "has come to its end".to_owned(),
        };
        let what = format!(
            "rank {from} waits at {site} for rank {me} to make the same section coherent, and rank {me} {here}; all \
             members of a set make the same coherence calls in the same order"
        );
        let message = format!("step {} of group {}: {what}", self.steps.get(), self.path());
        Err(self.give_up(&Error::placed(ErrorKind::CoherenceMismatch, message)))
    }
}
