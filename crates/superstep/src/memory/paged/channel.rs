//! Letters between members of a group outside of its boundaries, for those who synchronise with some of the others.
//!
//! A group that has made a paged array has a channel: a circle of its own, of which only letters and counts are used. A
//! letter opens with the site that it was sent from.
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

use crate::{
    engine::{Core, Joint, Membership, Occasion, SideChannel, damaged, give_up},
    error::{Error, ErrorKind, Result, place},
};
use fabric::{
    Circle, Counts, Tray,
    wire::{Damaged, Reader, Writer},
};
use serde::{Deserialize, Serialize};
use std::{
    cell::{RefCell, RefMut},
    collections::VecDeque,
    panic::Location,
    rc::Rc,
};

/// A member's end of the channel of a group.
pub(super) struct Channel {
    end: RefCell<End>,
    /// Where calls were begun that are not finished yet.
    begun: RefCell<Vec<&'static Location<'static>>>,
}

/// What changes with every letter, and anew with every numbering.
struct End {
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

/// How often a member looks for a letter before it sends a chain and rests: longer than an answer takes, and short
/// enough to leave the core to others.
const LOOKS: u32 = 400;

/// What a member heard while it waited.
enum Heard {
    Letter,
    Nothing,
    /// All of these wait, each for the next and the last for the first, which is this one.
    Circle(Vec<(usize, String)>),
}

impl End {
    fn new(circle: Box<dyn Circle>) -> Self {
        let size = circle.size();
        Self { circle, kept: VecDeque::new(), sent: vec![0; size], came: vec![0; size], waits: None, spare: Vec::new() }
    }

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

    /// Waits until every member has entered the same count. Returns a letter that has come meanwhile, if one has.
    fn count(&mut self, me: &Membership) -> Result<Option<(usize, u64, Tray)>> {
        self.circle.enter_count(Counts::default())?;
        let mut waiting = me.pen.waiting();
        loop {
            if let Some(stray) = self.kept.pop_front() {
                return Ok(Some(stray));
            }
            if !matches!(self.take_in()?, Heard::Nothing) {
                continue;
            }
            if self.circle.counted()?.is_some() {
                return Ok(None);
            }
            waiting.begin(|| None);
            self.circle.rest()?;
        }
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

impl Channel {
    /// The channel of the group. All members open it together, with the tenant of this number, if there is none.
    pub(super) fn of(core: &Core, number: u32) -> Rc<Self> {
        if let Some(channel) = core.state::<Self>() {
            return channel;
        }
        let members: Vec<usize> = (0..core.size()).collect();
        let circle = core.wire.circle().join(core.name(Joint::Tenant, number.into()), &members, core.rank());
        let channel = Rc::new(Self { end: RefCell::new(End::new(circle)), begun: RefCell::default() });
        core.keep_state(Rc::clone(&channel));
        core.wire.add_channel(Rc::clone(&channel) as Rc<dyn SideChannel>);
        channel
    }

    fn end(&self) -> RefMut<'_, End> {
        self.end.borrow_mut()
    }

    /// Sends a letter, and returns its number among those to `to`; the one in return has the same number, because each
    /// two members make the calls that both take part in in the same order.
    pub(super) fn send(&self, to: usize, letter: &mut Tray) -> Result<u64> {
        let mut end = self.end();
        end.circle.send_letter(to, letter)?;
        end.sent[to] += 1;
        Ok(end.sent[to] - 1)
    }

    /// Waits for the letter of member `from` with this number.
    pub(super) fn receive(
        &self,
        me: &Membership,
        from: usize,
        number: u64,
        site: &'static Location<'static>,
    ) -> Result<Tray> {
        me.go_to(", in a coherence call", site);
        let letter = self.end().await_from(from, number, site)?;
        letter.map_err(|circle| self.in_a_circle(me, circle))
    }

    /// Members wait for each other in a circle: all of them get the same error, and so does everybody.
    #[cold]
    fn in_a_circle(&self, me: &Membership, mut members: Vec<(usize, String)>) -> Error {
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
        self.give_up(me, &Error::placed(ErrorKind::CoherenceMismatch, me.in_step(what)))
    }

    fn give_up(&self, me: &Membership, error: &Error) -> Error {
        give_up(&*self.end().circle, me, error)
    }

    /// An empty letter, with room if one was kept.
    pub(super) fn spare_letter(&self) -> Tray {
        self.end().spare.pop().unwrap_or_default()
    }

    pub(super) fn keep_letter(&self, letter: Tray) {
        let mut end = self.end();
        if end.spare.len() < end.sent.len() {
            end.spare.push(letter);
        }
    }

    /// Lets a moment pass in which others can go on; fails once the run has.
    pub(super) fn pause(&self) -> Result {
        if matches!(self.end().take_in()?, Heard::Nothing) {
            std::thread::yield_now();
        }
        Ok(())
    }

    /// Notes that a call was begun that will be finished later.
    pub(super) fn begin(&self, site: &'static Location<'static>) {
        self.begun.borrow_mut().push(site);
    }

    /// Notes that such a call is being finished.
    pub(super) fn finish(&self, site: &'static Location<'static>) {
        let mut begun = self.begun.borrow_mut();
        if let Some(at) = begun.iter().position(|&other| std::ptr::eq(other, site)) {
            begun.remove(at);
        }
    }
}

impl SideChannel for Channel {
    /// Waits until every member has come to the next boundary or to its end.
    fn before_meeting(&self, me: &Membership, occasion: Option<&Occasion>) -> Result {
        let raised = self.end().circle.alarm().raised();
        if let Some(failure) = raised {
            // A count that was entered before may have been left without its sum.
            return Err(failure.into());
        }
        if let Some(begun) = self.begun.borrow().first() {
            // The others of its set may wait for what comes after it, and nobody else will say why.
            let what = format!("the coherence call that was begun at {} was not finished", place(begun));
            return Err(self.give_up(me, &me.error(ErrorKind::StillBorrowed, what, me.site())));
        }
        let stray = self.end().count(me)?;
        let Some((_, _, letter)) = stray else { return Ok(()) };
        let (site, rank) = (opened(&letter.bytes)?.0, me.rank());
        let here = match occasion {
            Some(occasion) => format!("has gone on to the {} at {}", occasion.words, place(me.site())),
            None => "has come to its end".to_owned(),
        };
        // Several may wait, and whose letter has come first is not to be seen.
        let what = format!(
            "a coherence call at {site} waits for rank {rank} to make the same section coherent, and rank {rank} \
             {here}; all members of a set make the same coherence calls in the same order"
        );
        Err(self.give_up(me, &Error::placed(ErrorKind::CoherenceMismatch, me.in_step(what))))
    }

    fn regroup(&self, me: &Membership, stayed: &[usize], rank: usize) {
        let mut end = self.end();
        *end = End::new(end.circle.join(me.name(Joint::Rest, 0), stayed, rank));
    }
}

pub(super) fn open_letter(site: &Location<'_>, out: &mut Vec<u8>) {
    out.put(site.line());
    out.part(site.file().as_bytes());
}

/// The site that a letter was sent from.
#[derive(Clone, Copy)]
pub(super) struct SentFrom<'a> {
    file: &'a [u8],
    line: u32,
}

impl std::fmt::Display for SentFrom<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", String::from_utf8_lossy(self.file), self.line)
    }
}

/// The site that a letter was sent from, and what else it says.
pub(super) fn opened(letter: &[u8]) -> Result<(SentFrom<'_>, &[u8])> {
    let mut letter = Reader::new(letter);
    let mut site = || Ok::<_, Damaged>(SentFrom { line: letter.get()?, file: letter.part()? });
    let site = site().map_err(|Damaged| damaged())?;
    Ok((site, letter.rest()))
}
