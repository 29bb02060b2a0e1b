//! The state of a simulated run: who can go on, what is under way, and what has gone wrong.

use super::{
    agenda::{Agenda, Event, Sent},
    clock::Clock,
    dice::Dice,
    fate::Fate,
    pile::Pile,
    plan::Plan,
    roster::Roster,
    trace::Journal,
};
use crate::{
    failure::Failure,
    messages::{Packet, Stamp, Tag},
    sight::Sighting,
};
use std::sync::Arc;

/// How many nanoseconds a turn takes for which something is held back.
const TURN: f64 = 1000.0;

/// Up to twice as many processors give their turn away with each packet that they send.
const MANY: usize = 64;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    /// Waits for a packet from anybody.
    Waiting,
    /// Stands still for a while.
    Stalled,
    Ended,
}

pub(super) struct Table {
    seed: u64,
    dice: Dice,
    pub(super) fate: Fate,
    pub(super) clock: Clock,
    pub(super) journal: Journal,
    states: Vec<State>,
    /// Those who can go on.
    roster: Roster,
    /// Who are not there yet; nobody gets a turn before all are.
    coming: usize,
    pub(super) turn: Option<usize>,
    turns: u64,
    agenda: Agenda,
    /// Packets that have come, by target.
    mail: Vec<Pile>,
    /// Who has crashed.
    lost: Option<(usize, Failure)>,
    /// Why the run cannot go on, and since when, and who has heard of it.
    failure: Option<(Failure, f64)>,
    has_heard: Vec<bool>,
}

impl Table {
    pub(super) fn new(processors: usize, plan: &Plan, fate: Fate, sightings: Arc<[Sighting]>) -> Self {
        Self {
            seed: plan.seed,
            dice: Dice::new(plan.seed),
            fate,
            clock: Clock::new(processors, plan.cost),
            journal: Journal::new(plan.trace.clone(), plan.prints, sightings),
            states: vec![State::Ready; processors],
            roster: Roster::new(processors),
            coming: processors,
            turn: None,
            turns: 0,
            agenda: Agenda::default(),
            mail: (0..processors).map(|_| Pile::default()).collect(),
            lost: None,
            failure: None,
            has_heard: vec![false; processors],
        }
    }

    /// A processor is there; says whether all are.
    pub(super) fn arrive(&mut self) -> bool {
        self.coming -= 1;
        if self.coming == 0 {
            (0..self.states.len()).for_each(|rank| self.roster.add(rank));
        }
        self.coming == 0
    }

    /// A processor has ended.
    pub(super) fn end(&mut self, rank: usize) {
        self.states[rank] = State::Ended;
        self.roster.remove(rank);
        self.journal.note(self.clock.now(rank), rank, "ends");
        self.journal.end(self.clock.latest());
    }

    /// Gives the turn to one of those who can go on, as the seed decides.
    pub(super) fn pass(&mut self) -> Option<usize> {
        self.turns += 1;
        loop {
            while let Some(event) = self.agenda.take(self.turns) {
                self.happen(event);
            }
            if self.roster.len() > 0 {
                break;
            }
            if let Some(next) = self.agenda.next() {
                // Nobody can go on before that.
                self.turns = next;
            } else if self.states.contains(&State::Waiting) {
                self.fail(Failure::Deadlock, self.clock.latest());
            } else {
                self.turn = None;
                return None;
            }
        }
        self.turn = Some(self.roster.get(self.dice.below(self.roster.len())));
        self.turn
    }

    /// Whether a processor that has sent something goes on at once. Where there are [`MANY`] it mostly does: another
    /// thread for each packet would take hours where all send to all.
    pub(super) fn hurries(&mut self) -> bool {
        let many = self.states.len() / MANY;
        many > 1 && !self.dice.strikes(many)
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Arrival { from, to, sent } => self.deliver(from, to, sent),
            Event::Wake(rank) => self.go_on(rank),
            Event::Notice(time) => {
                if let Some((_, failure)) = self.lost.clone() {
                    self.fail(failure, time);
                }
            }
        }
    }

    /// A processor waits until a packet comes for it, or the run fails.
    pub(super) fn wait(&mut self, rank: usize) {
        self.states[rank] = State::Waiting;
        self.roster.remove(rank);
    }

    /// A processor that waited or stood still can go on.
    pub(super) fn go_on(&mut self, rank: usize) {
        if self.states[rank] != State::Ended {
            self.states[rank] = State::Ready;
            self.roster.add(rank);
        }
    }

    /// A processor that gives its turn away may stand still for a while.
    pub(super) fn tire(&mut self, rank: usize) {
        if self.states[rank] != State::Ready || self.failure.is_some() || self.is_lost(rank) {
            return;
        }
        if let Some(turns) = self.fate.stall() {
            let now = self.clock.now(rank);
            self.journal.note_place(now, rank, format_args!("stalls for {turns} us"));
            self.clock.reach(rank, now + turns as f64 * TURN);
            self.states[rank] = State::Stalled;
            self.roster.remove(rank);
            self.agenda.add(self.turns + turns, Event::Wake(rank));
        }
    }
}

/// Packets.
impl Table {
    pub(super) fn send(&mut self, from: usize, to: usize, mut packet: Packet) {
        let (stamp, len) = (packet.stamp, packet.tray.bytes.len());
        self.clock.send(from, to, stamp, len);
        let mut arrives = self.clock.now(from);
        self.journal.note(arrives, from, Sending { stamp, len, to });
        let (mut spoiled, mut late) = (None, None);
        if from != to && self.failure.is_none() {
            (spoiled, late) = (self.fate.spoil(&mut packet.tray.bytes), self.fate.delay());
        }
        if let Some(how) = spoiled {
            self.journal.note(arrives, from, format_args!("has sent something that arrives {how:?}"));
        }
        if let Some(turns) = late {
            self.journal.note(arrives, from, format_args!("has sent something that is {turns} us late"));
            arrives += turns as f64 * TURN;
            self.clock.hold_up(stamp, arrives);
        }
        let sent = Sent { packet, arrives, spoiled };
        if late.is_some() || self.agenda.holds(from, to) {
            self.agenda.add_packet(self.turns + late.unwrap_or(0), from, to, sent);
        } else {
            self.deliver(from, to, sent);
        }
    }

    fn deliver(&mut self, from: usize, to: usize, sent: Sent) {
        if !self.is_lost(to) {
            self.mail[to].add(from, sent);
            if self.states[to] == State::Waiting {
                self.go_on(to);
            }
        }
    }

    pub(super) fn has_mail(&self, rank: usize) -> bool {
        self.mail[rank].sources() > 0
    }

    /// Takes a packet that has come for this processor, from whom the seed decides.
    pub(super) fn take_mail(&mut self, rank: usize) -> Result<Option<(usize, Packet)>, Failure> {
        let mail = &mut self.mail[rank];
        let chosen = self.dice.below(mail.sources().max(1));
        let Some((source, Sent { packet, arrives, spoiled })) = mail.take(chosen) else { return Ok(None) };
        self.clock.take(rank, packet.stamp, arrives);
        let now = self.clock.now(rank);
        if let Some(how) = spoiled.filter(|_| !self.fate.hides_spoiled()) {
            self.journal.note_place(now, rank, format_args!("finds a packet of processor {source} {how:?}"));
            self.fail(Failure::Damaged { rank: source }, now);
            self.hear(rank)?;
        }
        let (tag, len) = (packet.stamp.tag, packet.tray.bytes.len());
        self.journal.note(now, rank, format_args!("takes {} of {len} bytes from processor {source}", in_words(tag)));
        Ok(Some((source, packet)))
    }
}

/// What goes wrong.
impl Table {
    fn is_lost(&self, rank: usize) -> bool {
        self.lost.as_ref().is_some_and(|(lost, _)| *lost == rank)
    }

    /// Lets a processor crash in the call that it makes, if its time has come; fails if the run cannot go on.
    pub(super) fn suffer(&mut self, rank: usize) -> Result<(), Failure> {
        self.hear(rank)?;
        let Some(turns) = self.fate.crash() else { return Ok(()) };
        let now = self.clock.now(rank);
        self.journal.note_place(now, rank, "crashes");
        let failure = Failure::Died { process: rank, how: format!("crashed, as seed {} has it", self.seed) };
        self.lost = Some((rank, failure.clone()));
        self.mail[rank] = Pile::default();
        self.agenda.add(self.turns + turns, Event::Notice(now + turns as f64 * TURN));
        Err(failure)
    }

    /// Fails if the run cannot go on, as far as this processor knows.
    pub(super) fn hear(&mut self, rank: usize) -> Result<(), Failure> {
        if let Some((_, failure)) = self.lost.as_ref().filter(|(lost, _)| *lost == rank) {
            return Err(failure.clone());
        }
        let Some((failure, since)) = self.failure.clone() else { return Ok(()) };
        if !std::mem::replace(&mut self.has_heard[rank], true) {
            self.clock.reach(rank, since);
            self.journal.note_place(self.clock.now(rank), rank, format_args!("hears that {failure},"));
        }
        Err(failure)
    }

    /// Ends every wait with this failure, unless another one was first.
    pub(super) fn fail(&mut self, failure: Failure, time: f64) {
        if self.failure.is_some() {
            return;
        }
        self.failure = Some((failure, time));
        for rank in 0..self.states.len() {
            if matches!(self.states[rank], State::Waiting | State::Stalled) {
                self.roster.add(rank);
            }
        }
    }

    /// A processor, or somebody who watches, raises the alarm. One that has crashed cannot.
    pub(super) fn raise(&mut self, who: Option<usize>, failure: Failure) {
        if who.is_none_or(|rank| !self.is_lost(rank)) {
            let time = who.map_or_else(|| self.clock.latest(), |rank| self.clock.now(rank));
            self.fail(failure, time);
        }
    }

    /// What `who` knows of what was raised.
    pub(super) fn raised(&self, who: Option<usize>) -> Option<Failure> {
        let own = self.lost.as_ref().filter(|(lost, _)| Some(*lost) == who).map(|(_, failure)| failure);
        own.or(self.failure.as_ref().map(|(failure, _)| failure)).cloned()
    }

    /// Whether memory is refused that this processor asks for.
    pub(super) fn refuses_memory(&mut self, rank: usize) -> bool {
        let refuses = self.failure.is_none() && !self.is_lost(rank) && self.fate.refuses_memory();
        if refuses {
            self.journal.note_place(self.clock.now(rank), rank, "is refused memory");
        }
        refuses
    }
}

/// Somebody sends a packet.
struct Sending {
    stamp: Stamp,
    len: usize,
    to: usize,
}

impl std::fmt::Display for Sending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "sends {} of {} bytes to processor {}", in_words(self.stamp.tag), self.len, self.to)
    }
}

fn in_words(tag: Tag) -> &'static str {
    match tag {
        Tag::Up => "a contribution",
        Tag::Down => "an outcome",
        Tag::Tray => "a tray",
        Tag::Piece => "a piece",
        Tag::Letter => "a letter",
        Tag::Count => "a count",
        Tag::Sum => "a sum",
        Tag::Alarm => "an alarm",
        Tag::Ended => "an end",
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{faults::Faults, plan::Memory},
        *,
    };
    use crate::{Tray, sight::sightings};

    /// A table at which all have arrived.
    fn table(processors: usize, seed: u64, faults: Faults) -> Table {
        let plan = Plan { faults, ..Plan::new(seed, Memory::Apart) };
        let mut table = Table::new(processors, &plan, Fate::new(faults, seed), sightings(processors));
        (0..processors).for_each(|_| _ = table.arrive());
        table
    }

    fn packet(meeting: u64) -> Packet {
        let bytes = vec![meeting as u8; 8];
        Packet { stamp: Stamp { circle: 1, meeting, tag: Tag::Letter }, tray: Tray { bytes, ..Tray::default() } }
    }

    fn taken(table: &mut Table, rank: usize) -> Vec<u64> {
        std::iter::from_fn(|| table.take_mail(rank).unwrap()).map(|(_, packet)| packet.stamp.meeting).collect()
    }

    #[test]
    #[cfg_attr(miri, ignore = "so many seeds take Miri minutes")]
    fn a_late_packet_comes_later_and_those_behind_it_too() {
        let mut were_late = 0;
        for seed in 0..200 {
            let mut table = table(2, seed, Faults::DELAY);
            for meeting in 0..3 {
                table.send(0, 1, packet(meeting));
            }
            // What one sends to itself is not under way.
            table.send(1, 1, packet(9));
            let soon = taken(&mut table, 1);
            assert!(soon.contains(&9), "seed {seed}");
            let at_once = soon.len() - 1;
            if at_once == 3 {
                continue;
            }
            were_late += 1;
            table.wait(1);
            table.end(0);
            // It waits for nobody else, so time passes until the packet is there.
            let mut late = Vec::new();
            while at_once + late.len() < 3 {
                assert_eq!(table.pass(), Some(1), "seed {seed}");
                late.extend(taken(&mut table, 1));
                table.wait(1);
            }
            assert_eq!(late, (at_once as u64..3).collect::<Vec<_>>(), "seed {seed}");
            // No delay is longer than 1024 turns, and a letter of 8 bytes is soon sent.
            let took = table.clock.now(1);
            assert!((TURN..1030.0 * TURN).contains(&took), "seed {seed}: {took} ns");
        }
        assert!(were_late > 20, "{were_late} of 200 seeds had a late packet");
    }

    #[test]
    #[cfg_attr(miri, ignore = "so many seeds take Miri minutes")]
    fn a_crash_is_the_crashed_ones_at_once_and_noticed_by_the_others_later() {
        let mut crashes = 0;
        for seed in 0..200 {
            let mut table = table(2, seed, Faults::CRASH);
            let Err(failure) = table.suffer(0) else { continue };
            crashes += 1;
            assert_eq!(table.hear(0), Err(failure.clone()));
            assert_eq!(table.raised(Some(0)), Some(failure.clone()));
            assert_eq!((table.hear(1), table.raised(Some(1)), table.raised(None)), (Ok(()), None, None), "seed {seed}");
            // One that has crashed raises no alarm, and nothing is delivered to it.
            table.raise(Some(0), Failure::Deadlock);
            table.send(1, 0, packet(1));
            assert!(!table.has_mail(0) && table.hear(1).is_ok());
            table.end(0);
            table.wait(1);
            assert_eq!(table.pass(), Some(1));
            assert_eq!(table.hear(1), Err(failure), "seed {seed}");
            assert!(table.clock.now(1) >= TURN, "seed {seed}");
        }
        assert!(crashes > 5, "{crashes} of 200 seeds had a crash in the first call");
    }

    #[test]
    #[cfg_attr(miri, ignore = "so many seeds take Miri minutes")]
    fn whoever_stands_still_goes_on_by_and_by() {
        let mut stalls = 0;
        for seed in 0..200 {
            let mut table = table(1, seed, Faults::STALL);
            table.tire(0);
            if table.roster.len() > 0 {
                continue;
            }
            stalls += 1;
            // A packet does not wake it.
            table.send(0, 0, packet(1));
            assert_eq!(table.roster.len(), 0);
            assert!(table.clock.now(0) >= TURN);
            assert_eq!(table.pass(), Some(0), "seed {seed}");
        }
        assert!(stalls > 5, "{stalls} of 200 seeds had a stall in the first call");
    }

    #[test]
    #[cfg_attr(miri, ignore = "so many seeds take Miri minutes")]
    fn who_has_ended_or_heard_of_a_failure_does_not_stand_still() {
        for seed in 0..50 {
            let mut table = table(2, seed, Faults::STALL);
            table.end(0);
            (0..20).for_each(|_| table.tire(0));
            assert!(table.states == [State::Ended, State::Ready], "seed {seed}");
            table.raise(Some(1), Failure::Deadlock);
            (0..20).for_each(|_| table.tire(1));
            assert!(table.states == [State::Ended, State::Ready], "seed {seed}");
        }
    }

    #[test]
    fn nobody_who_waits_for_nothing_waits_for_ever() {
        let mut table = table(2, 0, Faults::default());
        table.end(0);
        table.wait(1);
        assert_eq!(table.pass(), Some(1));
        assert_eq!(table.hear(1), Err(Failure::Deadlock));
        table.end(1);
        assert_eq!(table.pass(), None);
    }

    #[test]
    fn nobody_has_a_turn_before_all_are_there() {
        let plan = Plan::new(0, Memory::Apart);
        let mut table = Table::new(3, &plan, Fate::new(plan.faults, plan.seed), sightings(3));
        assert_eq!([(); 3].map(|()| table.arrive()), [false, false, true]);
    }

    /// The first seeds under which something befalls at once, and for how many turns.
    fn struck(faults: Faults, befall: impl Fn(&mut Fate) -> Option<u64>) -> Vec<(u64, u64)> {
        let turns = |seed| befall(&mut Fate::new(faults, seed));
        (0..200).filter_map(|seed| Some((seed, turns(seed)?))).take(5).collect()
    }

    fn lasts(time: f64, turns: u64) -> bool {
        (time - turns as f64 * TURN).abs() < 1e-9
    }

    #[test]
    fn what_is_held_back_comes_in_its_turn_and_not_before() {
        for (seed, turns) in struck(Faults::DELAY, Fate::delay) {
            let mut table = table(2, seed, Faults::DELAY);
            table.turns = 10;
            table.send(0, 1, packet(1));
            assert_eq!(table.agenda.next(), Some(10 + turns), "seed {seed}");
            // Both go on meanwhile.
            for _ in 0..turns {
                assert!(!table.has_mail(1), "seed {seed}");
                table.pass();
            }
            assert_eq!(taken(&mut table, 1), [1], "seed {seed}");
            assert!(lasts(table.clock.now(1) - table.clock.now(0), turns), "seed {seed}");
        }
    }

    #[test]
    fn a_stall_and_the_time_before_a_crash_is_noticed_last_as_long_as_the_seed_has_it() {
        for (seed, turns) in struck(Faults::STALL, Fate::stall) {
            let mut table = table(1, seed, Faults::STALL);
            table.turns = 10;
            table.tire(0);
            assert_eq!(table.agenda.next(), Some(10 + turns), "seed {seed}");
            assert!(lasts(table.clock.now(0), turns), "seed {seed}");
        }
        for (seed, turns) in struck(Faults::CRASH, Fate::crash) {
            let mut table = table(2, seed, Faults::CRASH);
            table.turns = 10;
            let failure = table.suffer(0).unwrap_err();
            assert_eq!(table.agenda.next(), Some(10 + turns), "seed {seed}");
            table.turns += turns;
            table.pass();
            assert_eq!(table.hear(1), Err(failure), "seed {seed}");
            assert!(lasts(table.clock.now(1), turns), "seed {seed}");
        }
    }

    #[test]
    fn who_has_sent_something_goes_on_at_once_only_where_there_are_many() {
        let hurried = |processors: usize| {
            let mut table = table(processors, 1, Faults::NONE);
            (0..100).filter(|_| table.hurries()).count()
        };
        assert_eq!((hurried(2), hurried(MANY)), (0, 0));
        let often = hurried(3 * MANY);
        assert!((55..80).contains(&often), "{often} of 100 times, and not about two times of three");
    }

    #[test]
    fn memory_is_refused_as_the_seed_has_it_until_the_run_has_failed() {
        let refused = |table: &mut Table| (0..20).filter(|_| table.refuses_memory(0)).count();
        assert_eq!(refused(&mut table(1, 0, Faults::NONE)), 0);
        let mut in_all = 0;
        for seed in 0..20 {
            let mut table = table(1, seed, Faults::MEMORY);
            in_all += refused(&mut table);
            table.raise(Some(0), Failure::Deadlock);
            assert_eq!(refused(&mut table), 0, "seed {seed}");
        }
        assert!((1..400).contains(&in_all), "{in_all} of 400 pieces were refused");
    }

    #[test]
    fn what_is_garbled_is_taken_like_anything_else() {
        let mut garbled = 0;
        for seed in 0..10 {
            let mut table = table(2, seed, Faults::GARBLE);
            (0..10).for_each(|meeting| table.send(0, 1, packet(meeting)));
            while let Some((_, packet)) = table.take_mail(1).unwrap() {
                garbled += usize::from(packet.tray.bytes != [packet.stamp.meeting as u8; 8]);
            }
        }
        assert!(garbled > 0, "every packet came as it was sent");
    }
}
