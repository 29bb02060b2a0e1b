//! Who has waited long, and for whom.

use super::{
    limits::Limits,
    sighting::{ENDED, Progress, Whom},
};
use crate::wire::{Damaged, Reader, Writer as _};
use std::time::{Duration, Instant};

/// What is known of the processors of a run.
pub(crate) struct Lookout {
    limits: Limits,
    seen: Vec<Seen>,
    /// The next wait that is as long as this is spoken of.
    next: Duration,
}

struct Seen {
    progress: Progress,
    /// Since when it has looked like that.
    since: Instant,
    /// Where it is, as far as another process has told.
    place: Option<String>,
}

/// What follows from a look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Somebody has waited long: this is to be said.
    Notice(String),
    /// Somebody has waited too long: this is the run's error.
    Stalled(String),
    /// The run has failed, and somebody has not ended since: this is the last that is said.
    Over(String),
}

/// What a process tells another one of a processor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) processor: usize,
    pub(crate) progress: Progress,
    pub(crate) age: Duration,
    pub(crate) place: String,
}

impl Lookout {
    /// A lookout over so many processors.
    pub(crate) fn new(processors: usize, limits: Limits) -> Self {
        let now = Instant::now();
        let seen = || Seen { progress: Progress::default(), since: now, place: None };
        Self { limits, seen: (0..processors).map(|_| seen()).collect(), next: limits.notice }
    }

    /// Notes what a processor of this process or team looks like.
    pub(crate) fn look(&mut self, processor: usize, progress: Progress, now: Instant) {
        if let Some(seen) = self.seen.get_mut(processor).filter(|seen| seen.progress != progress) {
            (seen.progress, seen.since) = (progress, now);
        }
    }

    /// What is known of a processor of this process, for another one.
    pub(crate) fn report(&self, processor: usize, place: String, now: Instant) -> Option<Report> {
        let Seen { progress, since, .. } = self.seen.get(processor)?;
        Some(Report { processor, progress: *progress, age: now.saturating_duration_since(*since), place })
    }

    pub(crate) fn hear(&mut self, report: Report, now: Instant) {
        let Report { processor, progress, age, place } = report;
        if let Some(seen) = self.seen.get_mut(processor) {
            if seen.progress != progress {
                (seen.progress, seen.since) = (progress, now.checked_sub(age).unwrap_or(now));
            }
            seen.place = Some(place);
        }
    }

    /// Says what follows. `place` tells where a processor of this process is; `failed` what has ended the run and how
    /// long ago, if it has: then it is waited for those who have not ended.
    pub(crate) fn judge(
        &mut self,
        now: Instant,
        failed: Option<(&str, Duration)>,
        place: impl Fn(usize) -> String,
    ) -> Option<Verdict> {
        let is_waited_in = |seen: &Seen| match failed {
            None => seen.progress.waits_for() != Whom::Nobody,
            Some(_) => seen.progress.is_under_way(),
        };
        let (who, longest) = (0..self.seen.len())
            .filter(|&at| is_waited_in(&self.seen[at]))
            .map(|at| (at, now.saturating_duration_since(self.seen[at].since)))
            .reduce(|best, next| if next.1 > best.1 { next } else { best })?;
        let longest = failed.map_or(longest, |(_, ago)| longest.min(ago));
        let least = [self.limits.notice, self.limits.most].into_iter().filter(|limit| !limit.is_zero()).min()?;
        if longest < least {
            return None;
        }
        // More may be heard soon of a processor that is not known yet.
        let is_known = self.follow(who).1.is_none_or(|culprit| self.seen[culprit].progress.stage != 0);
        let waited = if is_known { longest } else { longest / 2 };
        let is_over = |limit: Duration| !limit.is_zero() && waited >= limit;
        let says = || match failed {
            None => self.say(who, longest, now, &place),
            Some((why, _)) => self.say_failed(who, longest, why, &place),
        };
        if is_over(self.limits.most) {
            return Some(if failed.is_none() { Verdict::Stalled(says()) } else { Verdict::Over(says()) });
        }
        if !is_over(self.limits.notice) || waited < self.next {
            return None;
        }
        let line = says();
        while self.next <= longest {
            self.next *= 2;
        }
        Some(Verdict::Notice(line))
    }

    fn say(&self, who: usize, longest: Duration, now: Instant, place: &impl Fn(usize) -> String) -> String {
        let waits = format!("processor {who} has waited for {} {}", seconds(longest), self.place_of(who, place));
        let (chain, culprit) = self.follow(who);
        let via = match chain[..] {
            [] => String::new(),
            [one] => format!(" for processor {one}, which waits {} in its turn", self.place_of(one, place)),
            [one, .., last] => format!(
                " for processor {one}, which waits with {} more in a row, the last of them processor {last} {}",
                chain.len() - 1,
                self.place_of(last, place)
            ),
        };
        let Some(culprit) = culprit else {
            return format!("{waits}{via}; nobody computes, and no wait can end");
        };
        let ago = now.saturating_duration_since(self.seen[culprit].since);
        let others = self.others(culprit);
        let last = match &self.seen[culprit].progress {
            progress if progress.stage == 0 => "of which nothing is known".to_owned(),
            _ => format!("last seen {} ago {}", seconds(ago), self.place_of(culprit, place)),
        };
        format!("{waits}{via} for processor {culprit}, {last}{others}")
    }

    fn say_failed(&self, who: usize, longest: Duration, why: &str, place: &impl Fn(usize) -> String) -> String {
        format!(
            "the run has failed ({why}) and cannot end before processor {who} does, last seen {} ago {}",
            seconds(longest),
            self.place_of(who, place)
        )
    }

    /// Others that have not arrived either.
    fn others(&self, culprit: usize) -> String {
        const NAMED: usize = 4;
        let goes_on = |at: &usize| *at != culprit && self.seen[*at].progress.is_under_way() && !self.waits(*at);
        let others: Vec<usize> = (0..self.seen.len()).filter(goes_on).collect();
        let names: Vec<String> = others.iter().take(NAMED).map(ToString::to_string).collect();
        match others.len() {
            0 => String::new(),
            1..=NAMED => format!("; also not waiting: {}", names.join(", ")),
            more => format!("; also not waiting: {} and {} more", names.join(", "), more - NAMED),
        }
    }

    fn waits(&self, at: usize) -> bool {
        self.seen[at].progress.waits_for() != Whom::Nobody
    }

    /// Whom a processor waits for in the end, if that one does not wait itself, and who comes between them.
    fn follow(&self, who: usize) -> (Vec<usize>, Option<usize>) {
        let mut chain: Vec<usize> = Vec::new();
        let mut at = who;
        loop {
            let is_idle = |&it: &usize| self.seen[it].progress.stage != ENDED && !self.waits(it);
            let next = match self.seen[at].progress.waits_for() {
                Whom::Nobody => break,
                Whom::Anybody => (0..self.seen.len()).find(is_idle),
                Whom::One(whom) => Some(whom),
            };
            match next.filter(|&next| next < self.seen.len() && next != who && !chain.contains(&next)) {
                None => return (chain, None),
                Some(next) => chain.push(next),
            }
            at = chain[chain.len() - 1];
        }
        let culprit = chain.pop();
        (chain, culprit)
    }

    fn place_of(&self, at: usize, place: &impl Fn(usize) -> String) -> String {
        let Seen { progress, place: told, .. } = &self.seen[at];
        progress.whereabouts(|| told.clone().unwrap_or_else(|| place(at)))
    }
}

fn seconds(time: Duration) -> String {
    if time < Duration::from_secs(5) { format!("{:.1} s", time.as_secs_f64()) } else { format!("{} s", time.as_secs()) }
}

impl Report {
    /// As bytes, for another process.
    pub(crate) fn write(&self) -> Vec<u8> {
        let Progress { step, place, stage, wait } = self.progress;
        let age = u64::try_from(self.age.as_millis()).unwrap_or(u64::MAX);
        let mut bytes = Vec::new();
        bytes.put(self.processor);
        bytes.put([step, wait, age]);
        bytes.put([place, stage]);
        bytes.bytes(self.place.as_bytes());
        bytes
    }

    /// What another process has written.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Damaged> {
        let mut reader = Reader::new(bytes);
        let (processor, [step, wait, age], [place, stage]) = (reader.get()?, reader.get()?, reader.get()?);
        let (progress, words) = (Progress { step, place, stage, wait }, String::from_utf8_lossy(reader.rest()));
        Ok(Self { processor, progress, age: Duration::from_millis(age), place: words.into_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{pen::Pen, sighting::sightings},
        *,
    };

    const LIMITS: Limits = Limits { notice: Duration::from_secs(10), most: Duration::from_secs(60) };

    /// Processors, each in its step 3; `waits` says for whom.
    fn lookout<const N: usize>(waits: [Whom; N]) -> (Lookout, Instant) {
        let (all, begin) = (sightings(N), Instant::now());
        let mut lookout = Lookout::new(N, LIMITS);
        for (at, whom) in waits.into_iter().enumerate() {
            let pen = Pen::here(&all, at);
            pen.begin();
            pen.enter(3, 8, |out| out.write_str("of group 0 (a.rs:1)"));
            match whom {
                Whom::Nobody => pen.leave(3),
                Whom::Anybody => assert!(pen.wait(|| None)),
                Whom::One(whom) => assert!(pen.wait(|| Some(whom))),
            }
            lookout.look(at, all[at].progress(), begin);
        }
        (lookout, begin)
    }

    fn at(lookout: &mut Lookout, begin: Instant, seconds: u64) -> Option<Verdict> {
        lookout.judge(begin + Duration::from_secs(seconds), None, |at| format!("of group 0 ({at}.rs:1)"))
    }

    #[test]
    fn a_long_wait_is_spoken_of_at_growing_intervals_and_then_an_error() {
        let (mut lookout, begin) = lookout([Whom::One(1), Whom::Nobody, Whom::One(1)]);
        assert_eq!(at(&mut lookout, begin, 9), None);
        let line = |wait: &str| {
            format!(
                "processor 0 has waited for {wait} in step 3 of group 0 (0.rs:1) for processor 1, last seen {wait} ago \
                 after step 2 of group 0 (1.rs:1)"
            )
        };
        assert_eq!(at(&mut lookout, begin, 10), Some(Verdict::Notice(line("10 s"))));
        let spoken: Vec<u64> = (11..60).filter(|&s| at(&mut lookout, begin, s).is_some()).collect();
        assert_eq!(spoken, [20, 40]);
        assert_eq!(at(&mut lookout, begin, 60), Some(Verdict::Stalled(line("60 s"))));
    }

    #[test]
    fn whom_somebody_waits_for_may_wait_itself() {
        let (mut chain, begin) = lookout([Whom::One(2), Whom::Nobody, Whom::One(1)]);
        let Some(Verdict::Notice(line)) = at(&mut chain, begin, 12) else { panic!("it has waited") };
        let says = "for processor 2, which waits in step 3 of group 0 (2.rs:1) in its turn for processor 1, last seen";
        assert!(line.contains(says), "{line}");
        let (mut anybody, begin) = lookout([Whom::Anybody, Whom::Anybody, Whom::Nobody]);
        let Some(Verdict::Notice(line)) = at(&mut anybody, begin, 12) else { panic!("it has waited") };
        assert!(line.contains("for processor 2, last seen 12 s ago"), "{line}");
        let (mut circle, begin) = lookout([Whom::One(1), Whom::One(2), Whom::One(0)]);
        let Some(Verdict::Notice(line)) = at(&mut circle, begin, 12) else { panic!("it has waited") };
        assert_eq!(
            line,
            "processor 0 has waited for 12 s in step 3 of group 0 (0.rs:1) for processor 1, which waits with 1 more in \
             a row, the last of them processor 2 in step 3 of group 0 (2.rs:1); nobody computes, and no wait can end"
        );
        // Whoever is waited for may be nobody that there is, as far as another process tells.
        for nobody in [3, 7] {
            let (mut strange, begin) = lookout([Whom::One(nobody), Whom::Nobody, Whom::Nobody]);
            let Some(Verdict::Notice(line)) = at(&mut strange, begin, 12) else { panic!("it has waited") };
            assert!(line.ends_with("(0.rs:1); nobody computes, and no wait can end"), "{line}");
        }
    }

    #[test]
    fn of_several_waits_the_longest_is_spoken_of() {
        let (mut lookout, begin) = lookout([Whom::One(3), Whom::One(3), Whom::One(3), Whom::Nobody]);
        lookout.seen[0].since = begin + Duration::from_secs(5);
        lookout.seen[2].since = begin + Duration::from_secs(3);
        let Some(Verdict::Notice(line)) = at(&mut lookout, begin, 12) else { panic!("it has waited") };
        assert!(line.starts_with("processor 1 has waited for 12 s"), "{line}");
    }

    #[test]
    fn others_that_do_not_wait_are_named_up_to_four() {
        let says = |all: (Lookout, Instant)| {
            let (mut lookout, begin) = all;
            let Some(Verdict::Notice(line)) = at(&mut lookout, begin, 10) else { panic!("it has waited") };
            line
        };
        let line = says(lookout([Whom::One(1), Whom::Nobody, Whom::One(1), Whom::Nobody]));
        assert!(line.ends_with("(1.rs:1); also not waiting: 3"), "{line}");
        let mut waits = [Whom::Nobody; 6];
        waits[0] = Whom::One(1);
        let line = says(lookout(waits));
        assert!(line.ends_with("; also not waiting: 2, 3, 4, 5"), "{line}");
        let mut waits = [Whom::Nobody; 8];
        waits[0] = Whom::One(7);
        let line = says(lookout(waits));
        assert!(line.ends_with("(7.rs:1); also not waiting: 1, 2, 3, 4 and 2 more"), "{line}");
    }

    #[test]
    fn of_whom_nothing_is_known_more_may_be_heard_soon() {
        let (mut lookout, begin) = lookout([Whom::One(2), Whom::Nobody, Whom::Nobody]);
        let known =
            Report { processor: 2, progress: lookout.seen[2].progress, age: Duration::ZERO, place: String::new() };
        lookout.seen[2].progress = Progress::default();
        assert_eq!(at(&mut lookout, begin, 19), None);
        let Some(Verdict::Notice(line)) = at(&mut lookout, begin, 20) else { panic!("it has waited") };
        assert!(line.contains("for processor 2, of which nothing is known"), "{line}");
        assert!(matches!(at(&mut lookout, begin, 119), Some(Verdict::Notice(_)) | None));
        assert!(matches!(at(&mut lookout, begin, 120), Some(Verdict::Stalled(_))));
        // What is heard is as old as it says, and where it says.
        let now = begin + Duration::from_secs(130);
        lookout.hear(Report { age: Duration::from_secs(7), place: "of group 0 (told.rs:5)".to_owned(), ..known }, now);
        let Some(Verdict::Stalled(line)) = at(&mut lookout, begin, 130) else { panic!("it has waited") };
        assert!(line.contains("for processor 2, last seen 7 s ago after step 2 of group 0 (told.rs:5)"), "{line}");
    }

    #[test]
    fn a_run_that_has_failed_waits_for_those_who_go_on() {
        let (mut lookout, begin) = lookout([Whom::Nobody, Whom::One(0)]);
        let place = |at: usize| format!("of group 0 ({at}.rs:1)");
        let mut judge = |seconds: u64, ago: u64| {
            lookout.judge(begin + Duration::from_secs(seconds), Some(("it broke", Duration::from_secs(ago))), place)
        };
        assert_eq!(judge(100, 9), None);
        let says = |longest: &str| {
            format!(
                "the run has failed (it broke) and cannot end before processor 0 does, last seen {longest} ago after \
                 step 2 of group 0 (0.rs:1)"
            )
        };
        assert_eq!(judge(100, 10), Some(Verdict::Notice(says("10 s"))));
        assert_eq!(judge(100, 15), None);
        assert_eq!(judge(100, 60), Some(Verdict::Over(says("60 s"))));
    }

    #[test]
    fn a_limit_of_zero_is_none() {
        let (mut quiet, begin) = lookout([Whom::One(1), Whom::Nobody]);
        quiet.limits.notice = Duration::ZERO;
        assert_eq!(at(&mut quiet, begin, 59), None);
        assert!(matches!(at(&mut quiet, begin, 60), Some(Verdict::Stalled(_))));
        let (mut patient, begin) = lookout([Whom::One(1), Whom::Nobody]);
        patient.limits.most = Duration::ZERO;
        assert!(matches!(at(&mut patient, begin, 10_000), Some(Verdict::Notice(_))));
        patient.limits.notice = Duration::ZERO;
        assert_eq!(at(&mut patient, begin, 100_000), None);
        // Nobody waits, so nobody has waited.
        let (mut busy, begin) = lookout([Whom::Nobody, Whom::Nobody]);
        assert_eq!(at(&mut busy, begin, 10_000), None);
    }

    #[test]
    fn short_times_have_a_digit_more() {
        let shown = |milliseconds| seconds(Duration::from_millis(milliseconds));
        assert_eq!([400, 4999, 5000, 12_900].map(shown), ["0.4 s", "5.0 s", "5 s", "12 s"]);
    }

    #[test]
    fn a_report_is_read_as_it_was_written_and_garbage_does_no_harm() {
        let (mut lookout, begin) = lookout([Whom::One(1), Whom::Nobody, Whom::Nobody]);
        let report = lookout.report(0, "of group 0 (x.rs:9)".to_owned(), begin).expect("it is known");
        assert_eq!(Report::read(&report.write()), Ok(report));
        assert_eq!(Report::read(&[7; 39]), Err(Damaged));
        for byte in [0, 1, 0x7F, 0xFF] {
            lookout.hear(Report::read(&[byte; 60]).expect("numbers are numbers"), begin);
            let mut bytes = vec![byte; 40];
            bytes[..8].copy_from_slice(&1u64.to_le_bytes());
            lookout.hear(Report::read(&bytes).expect("numbers are numbers"), begin);
            at(&mut lookout, begin, 100);
        }
    }
}
