//! What the heartbeat watches over, and what this process says through it.

use super::datagram::{self, Word};
use crate::{
    alarm::Alarm,
    failure::Failure,
    lock::lock,
    sight::{Limits, Lookout, Report, Sighting, Stint, UNWINDING},
    threads::{exit, wait::nap_until},
    wire::{Reader, Writer as _},
};
use std::{
    net::{SocketAddr, UdpSocket},
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

/// How often a process says that it is there.
pub(super) const BEAT: Duration = Duration::from_secs(1);
/// How often the thread looks around.
pub(in crate::mpi) const TICK: Duration = Duration::from_millis(100);
/// A processor whose run has failed has twice so much time to itself to end; then the thread ends its process. One that
/// has heard of the failure has [`UNWINDING`] times as much.
pub(in crate::mpi) const GRACE: Duration = Duration::from_millis(450);
/// So many bytes of a failure travel at most: a datagram of that size gets through everywhere. A run's alarm shortens
/// what is longer before anybody hears of it.
pub(in crate::mpi) const LONGEST: usize = 1_000;

/// Puts a failure into the words of the layers above.
pub(crate) type Words = fn(&Failure) -> String;

#[derive(Default)]
pub(super) enum Watch {
    #[default]
    Nothing,
    /// The processes agree on a run, in a call of MPI that nobody can end.
    Beginning,
    Run(Run),
    /// The last run has failed, and this process waits for all others to end.
    Ending,
}

/// A run: its local alarm says whether it has failed, its alarm ends it everywhere.
pub(super) struct Run {
    pub(super) number: u64,
    pub(super) local_alarm: Arc<dyn Alarm>,
    pub(super) alarm: Arc<dyn Alarm>,
    pub(super) words: Words,
    /// What can be seen of the processors of this process, and what is known of all.
    pub(super) sightings: Arc<[Sighting]>,
    pub(super) lookout: Lookout,
    pub(super) limits: Limits,
    /// How much time those of this process have had since the run has failed.
    stints: Vec<Option<Stint>>,
}

/// What process 0 has said of the last run that has failed.
#[derive(Default)]
pub(super) struct Verdict {
    pub(super) run: u64,
    pub(super) failure: Vec<u8>,
}

#[derive(Default)]
pub(in crate::mpi) struct Pulse {
    pub(super) watch: Mutex<Watch>,
    pub(super) beat: Option<Beat>,
    /// How many others have not said that they are going; none where nobody listens.
    pub(super) staying: AtomicUsize,
    pub(super) is_going: AtomicBool,
    /// Who has died or was lost while this process waited for all to end.
    pub(super) lost: Mutex<Option<String>>,
    /// The last run that has ended here.
    pub(super) ended: AtomicU64,
    pub(super) verdict: Mutex<Verdict>,
    /// Whether nothing more will come from process 0.
    pub(super) is_leaderless: AtomicBool,
    /// How long a peer may be silent.
    pub(in crate::mpi) timeout: Duration,
}

/// What a goodbye needs.
pub(super) struct Beat {
    pub(super) socket: UdpSocket,
    pub(super) others: usize,
    pub(super) token: u64,
    pub(super) me: usize,
    pub(super) addresses: Vec<SocketAddr>,
}

impl Pulse {
    pub(super) fn new(beat: Option<Beat>, staying: usize, timeout: Duration) -> Self {
        Self { beat, staying: AtomicUsize::new(staying), timeout, ..Self::default() }
    }

    pub(in crate::mpi) fn beats(&self) -> bool {
        self.beat.is_some()
    }

    /// Ends the process if the program has closed its sockets, as one does that closes all files it does not know. Then
    /// this process is the one that is lost, however silent the others seem; and MPI, whose sockets are closed as well,
    /// would wait without end.
    pub(in crate::mpi) fn give_up_if_deaf(&self) {
        if let Some(beat) = self.beat.as_ref().filter(|beat| beat.socket.local_addr().is_err()) {
            give_up(&format!("process {} is lost: the program has closed its sockets", beat.me));
        }
    }

    /// Watches over a run: `local_alarm` says whether it has failed, and `alarm` ends it everywhere. `sightings` are
    /// those of the processors of this process.
    pub(in crate::mpi) fn begin(
        &self,
        number: u64,
        local_alarm: Arc<dyn Alarm>,
        alarm: Arc<dyn Alarm>,
        words: Words,
        sightings: Arc<[Sighting]>,
        limits: Limits,
    ) {
        let processes = 1 + self.beat.as_ref().map_or(0, |beat| beat.others);
        let lookout = Lookout::new(processes * sightings.len(), limits);
        let stints = sightings.iter().map(|_| None).collect();
        *lock(&self.watch) = Watch::Run(Run { number, local_alarm, alarm, words, sightings, lookout, limits, stints });
    }

    /// Watches over the beginning of a run.
    pub(in crate::mpi) fn prepare(&self) {
        *lock(&self.watch) = Watch::Beginning;
    }

    /// The run has ended.
    pub(in crate::mpi) fn end(&self) {
        if let Watch::Run(run) = std::mem::take(&mut *lock(&self.watch)) {
            self.ended.store(run.number, Ordering::Release);
        }
    }

    /// Tells the others that this process is going, and is not lost.
    pub(in crate::mpi) fn goodbye(&self) {
        self.is_going.store(true, Ordering::Release);
        self.say(Word::Goodbye, &[]);
    }

    /// Says that this process is going, and waits until all others have said so; or says who of them never will. There
    /// is no limit to it: who is there and says nothing has something left to do.
    pub(in crate::mpi) fn await_goodbyes(&self) -> Result<(), String> {
        *lock(&self.watch) = Watch::Ending;
        self.goodbye();
        nap_until(|| self.staying.load(Ordering::Acquire) == 0 || lock(&self.lost).is_some());
        lock(&self.lost).take().map_or(Ok(()), Err)
    }

    /// Tells the others that a run has failed: also those that compute and do not listen to MPI.
    pub(in crate::mpi) fn spread(&self, number: u64, failure: &Failure) {
        let mut bytes = Vec::new();
        bytes.put(number);
        bytes.bytes(&failure.write());
        self.say(Word::Alarm, &bytes);
    }

    pub(super) fn say(&self, word: Word, more: &[u8]) {
        let Some(beat) = &self.beat else { return };
        let bytes = datagram::write(beat.token, beat.me, word, more);
        datagram::send(&beat.socket, &beat.addresses, &bytes);
    }

    /// Takes in that a run has failed.
    pub(super) fn hear(&self, bytes: &[u8]) {
        let mut reader = Reader::new(bytes);
        let Ok(number) = reader.get() else { return };
        match &*lock(&self.watch) {
            Watch::Run(current) if current.number == number => {
                if let Ok(failure) = Failure::read(reader.rest()) {
                    current.local_alarm.raise(failure);
                }
            }
            _ => self.hear_late(number, reader.rest()),
        }
    }

    /// Takes in what another process has seen of one of its processors.
    pub(super) fn hear_of_one(&self, bytes: &[u8], now: Instant) {
        let mut reader = Reader::new(bytes);
        if let Watch::Run(current) = &mut *lock(&self.watch)
            && reader.get() == Ok(current.number)
            && let Ok(report) = Report::read(reader.rest())
        {
            current.lookout.hear(report, now);
        }
    }
}

impl Run {
    /// Whether a processor of this process has had all the time that it has after a failure.
    pub(super) fn has_overstayed(&mut self) -> bool {
        let own = std::process::id().cast_signed();
        self.sightings.iter().zip(&mut self.stints).any(|(sighting, stint)| {
            let task = sighting.task();
            let had = stint.get_or_insert_with(|| Stint::of(own, task)).had(TICK);
            task != 0 && had > 2 * GRACE * if sighting.has_heard() { UNWINDING } else { 1 }
        })
    }
}

/// The heartbeat of this process.
pub(super) static STARTED: OnceLock<Arc<Pulse>> = OnceLock::new();

/// Ends the process, with what has happened, and tells the others that nothing more will come of it.
pub(in crate::mpi) fn give_up(why: &str) -> ! {
    if let Some(pulse) = STARTED.get() {
        pulse.say(Word::Dying, &[]);
    }
    exit::give_up(why)
}

/// A door for fuzzing: the first two numbers say which process hears it and which run it has, and the rest are
/// datagrams, each behind its length in a byte.
#[cfg(fuzzing)]
pub(crate) fn fuzz(bytes: &[u8]) {
    use crate::{sight, threads::ThreadAlarm, wire::Damaged};
    let _ = super::hello::Hello::read(bytes);
    let heard = |reader: &mut Reader<'_>| -> Result<(), Damaged> {
        let [me, run] = reader.get::<[u8; 2]>()?;
        let socket = UdpSocket::bind("127.0.0.1:0").expect("there is a socket");
        let beat = Beat { socket, others: 2, token: 7, me: me.into(), addresses: Vec::new() };
        let pulse = Pulse::new(Some(beat), 2, BEAT);
        let alarm = Arc::new(ThreadAlarm::new(1, 0));
        let (notice, most) = (Duration::from_secs(1), Duration::from_secs(2));
        let limits = Limits { notice, most };
        let (here, words) = (Arc::clone(&alarm) as Arc<dyn Alarm>, |failure: &Failure| failure.to_string());
        pulse.begin(run.into(), Arc::clone(&here), here, words, sight::sightings(1), limits);
        while !reader.is_empty() {
            let len = reader.get::<u8>()?;
            let Some((from, word, more)) = datagram::read(reader.bytes(len.into())?, 7) else { continue };
            match word {
                Word::Alarm => pulse.hear(more),
                Word::Verdict if from == 0 => pulse.hear_verdict(more),
                Word::Seen => pulse.hear_of_one(more, Instant::now()),
                _ => {}
            }
            if let Watch::Run(run) = &mut *lock(&pulse.watch) {
                let failed = alarm.raised().map(|failure| failure.to_string());
                let failed = failed.as_deref().map(|why| (why, most));
                let _ = run.lookout.judge(Instant::now() + BEAT, failed, |_| String::new());
            }
        }
        Ok(())
    };
    let _ = heard(&mut Reader::new(bytes));
}
