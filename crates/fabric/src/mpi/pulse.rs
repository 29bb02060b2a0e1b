//! The heartbeat between processes: MPI never says that a link is cut or that a peer has stopped.
//!
//! A small thread in each process sends a datagram to every other one each second, through a socket of its own, and
//! notes when it last heard from each. A long computation does not silence a process, because this thread goes on; a
//! stopped process or a cut link does. Addresses and a token that nobody can guess are exchanged through MPI at the
//! start, and a datagram without the token is not looked at.
//!
//! What follows from silence happens only while a run is under way: after [`WARNING`] the silent one is named on
//! standard error, and after the time that the user has set the run ends with [`Failure::Lost`]. One that comes back
//! before goes on as if nothing had happened. A process of this machine that has died is seen at once, without any
//! waiting.
//!
//! The thread is also the last resort: when a run has failed and its processors have not ended soon after, because they
//! compute or sit in a call of MPI that will never return, it ends the process.

mod card;

use super::{WORLD, calls::Mpi};
use crate::{
    circle::Alarm,
    failure::Failure,
    processes::{self, without_signals},
    procs::UNWINDING,
    sight::{Limits, Lookout, Report, Sighting, Stint, Verdict},
};
use card::{card, read_card};
use std::{
    env,
    net::{Ipv4Addr, SocketAddr, UdpSocket},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

/// How often a process says that it is there.
const BEAT: Duration = Duration::from_secs(1);
/// How often the thread looks around.
pub(super) const TICK: Duration = Duration::from_millis(100);
/// Who is silent for so long is named.
const WARNING: Duration = Duration::from_secs(10);
/// A processor whose run has failed has twice so much time to itself to end; then the thread ends its process. One that
/// has heard of the failure has [`UNWINDING`] times as much.
pub(super) const GRACE: Duration = Duration::from_millis(450);
/// Unless the user says otherwise, who is silent for so long is lost.
const TIMEOUT: Duration = Duration::from_secs(60);

/// How many addresses of a process the others try.
const ADDRESSES: usize = 4;
/// What each process tells the others at the start: token u64, machine u64, pid u32, port u16, count u16, addresses,
/// the host's name.
const CARD: usize = 24 + 4 * ADDRESSES + NAME;
const NAME: usize = 32;
/// A datagram: token u64, who sends it u32, what it says u32; after an alarm the run's number u64 and the failure, and
/// after what was seen the run's number and a processor's [`Report`].
const DATAGRAM: usize = 16;
const HERE: u32 = 1;
const GOODBYE: u32 = 2;
const ALARM: u32 = 3;
const DYING: u32 = 4;
const SEEN: u32 = 5;
/// Of a longer failure only so many bytes travel; MPI brings all of it to whoever listens there.
const LONGEST: usize = 1_000;

struct Peer {
    addresses: Vec<SocketAddr>,
    host: String,
    /// Of a process of this machine.
    pid: Option<libc::pid_t>,
    heard: Instant,
    is_named: bool,
    has_gone: bool,
    /// Whether it has been ended in the middle of a run.
    is_dead: bool,
}

/// What a failure comes to, in the words of the layers above.
pub(super) type Words = fn(&Failure) -> String;

/// What is watched.
#[derive(Default)]
enum Watch {
    #[default]
    Nothing,
    /// The processes agree on a run, in a call of MPI that nobody can end.
    Beginning,
    Run(Run),
    /// The last run has failed, and this process waits for all others to end.
    Ending,
}

/// A run: its cord says whether it has failed, its bell ends it everywhere.
struct Run {
    number: u64,
    cord: Arc<dyn Alarm>,
    bell: Arc<dyn Alarm>,
    words: Words,
    /// What can be seen of the processors of this process, and what is known of all.
    board: Arc<[Sighting]>,
    lookout: Lookout,
    limits: Limits,
    /// How much time those of this process have had since the run has failed.
    stints: Vec<Option<Stint>>,
}

pub(super) struct Pulse {
    watch: Mutex<Watch>,
    beat: Option<Beat>,
    /// How many others have not said that they are going; none where nobody listens.
    staying: AtomicUsize,
    /// Whether this process has said that it is going.
    is_going: AtomicBool,
    /// Who has died or was lost while this process waited for all to end.
    lost: Mutex<Option<String>>,
    timeout: Duration,
}

/// What a goodbye needs.
struct Beat {
    socket: UdpSocket,
    others: usize,
    token: u64,
    me: usize,
    addresses: Vec<SocketAddr>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How long a peer may be silent, as the user has set it.
fn timeout() -> Result<Duration, String> {
    let Ok(text) = env::var("SUPERSTEP_PEER_TIMEOUT") else { return Ok(TIMEOUT) };
    let seconds = text.parse::<f64>().ok().filter(|seconds| seconds.is_finite() && *seconds > 0.0);
    let wrong = || format!("SUPERSTEP_PEER_TIMEOUT is {text:?}; it must be a number of seconds, more than 0");
    seconds.map(Duration::from_secs_f64).ok_or_else(wrong)
}

impl Pulse {
    /// Exchanges addresses with all other processes and starts the thread. Every process must come here.
    pub(super) fn start(mpi: &Mpi, me: usize, processes: usize) -> Result<Arc<Self>, String> {
        let timeout = timeout()?;
        let is_off = env::var("SUPERSTEP_HEARTBEAT").is_ok_and(|value| value == "0");
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).map_err(|why| format!("no socket: {why}"))?;
        socket.set_read_timeout(Some(TICK)).map_err(|why| format!("a socket without time: {why}"))?;
        let port = socket.local_addr().map_err(|why| format!("a socket without address: {why}"))?.port();
        let mut all = vec![0; CARD * processes];
        mpi.allgather(&card(port), &mut all);
        let cards: Vec<&[u8]> = all.chunks_exact(CARD).collect();
        let token = u64::from_le_bytes(cards[0][..8].try_into().unwrap_or_default());
        let mut peers: Vec<Peer> = cards.iter().map(|theirs| read_card(theirs, cards[me])).collect();
        peers[me].has_gone = true;
        if is_off || processes == 1 {
            return Ok(Arc::new(Self::new(None, 0, timeout)));
        }
        let addresses = peers.iter().flat_map(|peer| peer.addresses.clone()).collect();
        let ours = socket.try_clone().map_err(|why| format!("no second end of a socket: {why}"))?;
        let beat = Some(Beat { socket: ours, others: processes - 1, token, me, addresses });
        let pulse = Arc::new(Self::new(beat, processes - 1, timeout));
        let thread = Thread { pulse: Arc::clone(&pulse), socket, token, me, peers, timeout, launcher: parent() };
        let named = std::thread::Builder::new().name("superstep-pulse".to_owned());
        without_signals(|| named.spawn(move || thread.go()))
            .map_err(|why| format!("no thread for the heartbeat: {why}"))?;
        Ok(pulse)
    }

    fn new(beat: Option<Beat>, staying: usize, timeout: Duration) -> Self {
        let (is_going, staying) = (AtomicBool::new(false), AtomicUsize::new(staying));
        Self { watch: Mutex::default(), beat, staying, is_going, lost: Mutex::new(None), timeout }
    }

    /// Whether there is a heartbeat.
    pub(super) fn beats(&self) -> bool {
        self.beat.is_some()
    }

    /// How long a peer may be silent.
    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Watches over a run: `cord` says whether it has failed, and `bell` ends it everywhere. `board` is what can be
    /// seen of the processors of this process.
    pub(super) fn begin(
        &self,
        number: u64,
        cord: Arc<dyn Alarm>,
        bell: Arc<dyn Alarm>,
        words: Words,
        board: Arc<[Sighting]>,
        limits: Limits,
    ) {
        let processes = 1 + self.beat.as_ref().map_or(0, |beat| beat.others);
        let lookout = Lookout::new(processes * board.len(), limits);
        let stints = board.iter().map(|_| None).collect();
        *lock(&self.watch) = Watch::Run(Run { number, cord, bell, words, board, lookout, limits, stints });
    }

    /// Watches over the beginning of a run.
    pub(super) fn prepare(&self) {
        *lock(&self.watch) = Watch::Beginning;
    }

    /// The run has ended.
    pub(super) fn end(&self) {
        *lock(&self.watch) = Watch::default();
    }

    /// Tells the others that this process is going, and is not lost.
    pub(super) fn goodbye(&self) {
        self.is_going.store(true, Ordering::Release);
        self.say(GOODBYE, &[]);
    }

    /// Says that this process is going, and waits until all others have said so; or says who of them never will. There
    /// is no limit to it: who is there and says nothing has something left to do.
    pub(super) fn await_goodbyes(&self) -> Result<(), String> {
        *lock(&self.watch) = Watch::Ending;
        self.goodbye();
        while self.staying.load(Ordering::Acquire) > 0 {
            if let Some(who) = lock(&self.lost).take() {
                return Err(who);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Tells the others that a run has failed: also those that compute and do not listen to MPI.
    pub(super) fn spread(&self, number: u64, failure: &Failure) {
        let failure = failure.write();
        let mut bytes = number.to_le_bytes().to_vec();
        bytes.extend_from_slice(&failure[..failure.len().min(LONGEST)]);
        self.say(ALARM, &bytes);
    }

    fn say(&self, what: u32, more: &[u8]) {
        let Some(beat) = &self.beat else { return };
        let bytes = [&datagram(beat.token, beat.me, what)[..], more].concat();
        for address in &beat.addresses {
            // Nobody is waited for; who misses it finds out in another way.
            let _ = beat.socket.send_to(&bytes, address);
        }
    }
}

impl Pulse {
    /// Takes in that a run has failed.
    fn hear(&self, bytes: &[u8]) {
        if let Watch::Run(current) = &*lock(&self.watch)
            && let Some((run, failure)) = bytes.split_first_chunk()
            && u64::from_le_bytes(*run) == current.number
            && let Some(failure) = Failure::read(failure)
        {
            current.cord.raise(failure);
        }
    }

    /// Takes in what another process has seen of one of its processors.
    fn hear_of_one(&self, bytes: &[u8], now: Instant) {
        if let Watch::Run(current) = &mut *lock(&self.watch)
            && let Some((run, report)) = bytes.split_first_chunk()
            && u64::from_le_bytes(*run) == current.number
            && let Some(report) = Report::read(report)
        {
            current.lookout.hear(report, now);
        }
    }
}

fn datagram(token: u64, me: usize, what: u32) -> [u8; DATAGRAM] {
    let mut bytes = [0; DATAGRAM];
    bytes[..8].copy_from_slice(&token.to_le_bytes());
    bytes[8..12].copy_from_slice(&(me as u32).to_le_bytes());
    bytes[12..].copy_from_slice(&what.to_le_bytes());
    bytes
}

/// Who sent a datagram and what it says, if it is one of ours.
fn read_datagram(bytes: &[u8], token: u64) -> Option<(usize, u32, &[u8])> {
    let (theirs, rest) = bytes.split_first_chunk()?;
    let (from, rest) = rest.split_first_chunk()?;
    let (what, more) = rest.split_first_chunk()?;
    let (from, what) = (u32::from_le_bytes(*from) as usize, u32::from_le_bytes(*what));
    (u64::from_le_bytes(*theirs) == token && (matches!(what, ALARM | SEEN) || more.is_empty()))
        .then_some((from, what, more))
}

struct Thread {
    pulse: Arc<Pulse>,
    socket: UdpSocket,
    token: u64,
    me: usize,
    peers: Vec<Peer>,
    timeout: Duration,
    launcher: libc::pid_t,
}

impl Thread {
    fn go(mut self) {
        let (mut last_beat, mut last_told): (Option<Instant>, Option<Instant>) = (None, None);
        let mut last_tick = Instant::now();
        loop {
            self.listen();
            let now = Instant::now();
            // Whoever was stopped itself has heard nobody meanwhile.
            if now - last_tick > WARNING / 2 {
                self.peers.iter_mut().for_each(|peer| peer.heard = now);
            }
            last_tick = now;
            if last_beat.is_none_or(|last| now - last >= BEAT) {
                last_beat = Some(now);
                self.beat();
                self.look_for_the_dead(now);
            }
            self.look_around(now, &mut last_told);
            self.judge(now);
        }
    }

    fn beat(&self) {
        let is_going = self.pulse.is_going.load(Ordering::Acquire);
        let bytes = datagram(self.token, self.me, if is_going { GOODBYE } else { HERE });
        // Who is going waits for all others to say so too, and the first time may have been lost.
        let is_told = |(number, peer): &(usize, &Peer)| *number != self.me && (is_going || !peer.has_gone);
        for (_, peer) in self.peers.iter().enumerate().filter(is_told) {
            for address in &peer.addresses {
                // A link that is cut says so here, or not; either way the other side will miss us.
                let _ = self.socket.send_to(&bytes, address);
            }
        }
    }

    /// Takes whatever comes within a tick.
    fn listen(&mut self) {
        let until = Instant::now() + TICK;
        let mut bytes = [0; 2 * LONGEST];
        while let Ok((len, address)) = self.socket.recv_from(&mut bytes) {
            if let Some((from, what, more)) = read_datagram(&bytes[..len], self.token)
                && let Some(peer) = self.peers.get_mut(from)
            {
                match what {
                    ALARM => self.pulse.hear(more),
                    SEEN => self.pulse.hear_of_one(more, Instant::now()),
                    _ => {}
                }
                peer.heard = Instant::now();
                peer.is_dead |= what == DYING;
                if what == GOODBYE && !std::mem::replace(&mut peer.has_gone, true) {
                    self.pulse.staying.fetch_sub(1, Ordering::Release);
                }
                // The way it came is one that works.
                peer.addresses = vec![address];
                if std::mem::take(&mut peer.is_named) {
                    eprintln!("superstep: process {from} on {} is heard again", peer.host);
                }
            }
            if Instant::now() > until {
                break;
            }
        }
    }

    /// Sees who of this machine is no more.
    fn look_for_the_dead(&mut self, now: Instant) {
        for peer in self.peers.iter_mut().filter(|peer| !peer.has_gone) {
            let is_gone = |pid: libc::pid_t| {
                // SAFETY: no signal is sent, only whether one could be is asked.
                let code = unsafe { libc::kill(pid, 0) };
                code != 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH)
            };
            if peer.is_dead || peer.pid.is_some_and(is_gone) {
                // As silent as it will ever be.
                peer.heard = now.checked_sub(self.timeout).unwrap_or(now);
            }
        }
    }

    /// Looks at the processors of this process, and whether one of the run has waited long: process 0 says so, and the
    /// others tell it what they see.
    fn look_around(&self, now: Instant, last_told: &mut Option<Instant>) {
        let mut watch = lock(&self.pulse.watch);
        let Watch::Run(run) = &mut *watch else { return };
        let Some(period) = run.limits.period() else { return };
        let first = self.me * run.board.len();
        for (at, sighting) in run.board.iter().enumerate() {
            run.lookout.look(first + at, sighting.mark(), now);
        }
        let place = |at: usize| run.board.get(at.wrapping_sub(first)).map_or_else(String::new, Sighting::place);
        if self.me == 0 {
            let verdict = if run.cord.raised().is_some() { None } else { run.lookout.judge(now, None, place) };
            let bell = Arc::clone(&run.bell);
            drop(watch);
            match verdict {
                None => {}
                Some(Verdict::Notice(line)) => eprintln!("superstep: {line}"),
                Some(Verdict::Stalled(words)) => bell.raise(Failure::Stalled { words }),
            }
            return;
        }
        if last_told.is_some_and(|last| now - last < period) {
            return;
        }
        *last_told = Some(now);
        for report in (first..first + run.board.len()).filter_map(|at| run.lookout.report(at, place(at), now)) {
            let head = datagram(self.token, self.me, SEEN);
            let bytes = [&head[..], &run.number.to_le_bytes(), &report.write()].concat();
            for address in &self.peers[0].addresses {
                // What is lost is told again.
                let _ = self.socket.send_to(&bytes, address);
            }
        }
    }

    /// Names the silent, gives up on the lost, and ends a process that its run cannot end.
    fn judge(&mut self, now: Instant) {
        let mut watch = lock(&self.pulse.watch);
        let bell = match &mut *watch {
            Watch::Nothing => return,
            Watch::Beginning => None,
            Watch::Ending => {
                drop(watch);
                let lost = |peer: &Peer| !peer.has_gone && now.saturating_duration_since(peer.heard) >= self.timeout;
                if let Some(number) = self.peers.iter().position(lost) {
                    let who = format!("process {number} on {} has died or was lost", self.peers[number].host);
                    *lock(&self.pulse.lost) = Some(who);
                }
                return;
            }
            Watch::Run(run) => {
                if let Some(failure) = run.cord.raised() {
                    if run.has_overstayed() {
                        give_up(&(run.words)(&failure));
                    }
                    return;
                }
                Some(Arc::clone(&run.bell))
            }
        };
        drop(watch);
        if parent() != self.launcher {
            give_up("the launcher of this program has died");
        }
        let first_heard =
            self.peers.iter().position(|peer| !peer.is_named && !peer.has_gone || peer.pid == Some(own()));
        for (number, peer) in self.peers.iter_mut().enumerate().filter(|(_, peer)| !peer.has_gone) {
            let silence = now.saturating_duration_since(peer.heard);
            if silence >= self.timeout {
                let host = peer.host.clone();
                let failure = Failure::Lost { process: number, host, seconds: self.timeout.as_secs() };
                match bell {
                    Some(bell) => return bell.raise(failure),
                    None => give_up(&failure.to_string()),
                }
            }
            if silence >= WARNING && !peer.is_named {
                peer.is_named = true;
                if first_heard.is_none_or(|first| first >= self.me) {
                    let (host, more) = (&peer.host, self.timeout.saturating_sub(silence).as_secs());
                    eprintln!(
                        "superstep: nothing was heard from process {number} on {host} for {} s; the run ends if that \
                         lasts {more} s longer",
                        silence.as_secs()
                    );
                }
            }
        }
    }
}

fn own() -> libc::pid_t {
    libc::pid_t::try_from(std::process::id()).unwrap_or(0)
}

fn parent() -> libc::pid_t {
    libc::pid_t::try_from(std::os::unix::process::parent_id()).unwrap_or(0)
}

impl Run {
    /// Whether a processor of this process has had all the time that it has after a failure.
    fn has_overstayed(&mut self) -> bool {
        let own = own();
        self.board.iter().zip(&mut self.stints).any(|(sighting, stint)| {
            let task = sighting.task();
            let had = stint.get_or_insert_with(|| Stint::of(own, task)).had(TICK);
            task != 0 && had > 2 * GRACE * if sighting.has_heard() { UNWINDING } else { 1 }
        })
    }
}

/// Ends the process, with what has happened, and tells the others that nothing more will come of it.
pub(super) fn give_up(why: &str) -> ! {
    if let Some(Ok(world)) = WORLD.get() {
        world.pulse.say(DYING, &[]);
    }
    processes::give_up(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_datagrams_with_the_token_are_looked_at() {
        let bytes = datagram(77, 3, HERE);
        assert_eq!(read_datagram(&bytes, 77), Some((3, HERE, &[][..])));
        assert_eq!(read_datagram(&bytes, 78), None);
        assert_eq!(read_datagram(&bytes[..15], 77), None);
        assert_eq!(read_datagram(&[&bytes[..], &[0]].concat(), 77), None);
        let alarm = [&datagram(77, 3, ALARM)[..], b"why"].concat();
        assert_eq!(read_datagram(&alarm, 77), Some((3, ALARM, &b"why"[..])));
    }

    #[test]
    fn a_card_says_where_its_process_is() {
        let card = card(4711);
        let peer = read_card(&card, &card);
        assert!(!peer.addresses.is_empty() && peer.addresses.iter().all(|address| address.port() == 4711));
        assert_eq!(peer.pid, Some(own()));
        let mut elsewhere = card;
        elsewhere[9] ^= 1;
        assert_eq!(read_card(&elsewhere, &card).pid, None);
    }
}
