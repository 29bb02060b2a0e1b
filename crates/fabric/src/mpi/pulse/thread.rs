//! The thread of the heartbeat: it beats, listens, and judges who is silent.

use super::{
    datagram::{self, Word},
    hello::Hello,
    state::{BEAT, LONGEST, Pulse, TICK, Watch, give_up},
};
use crate::{
    failure::Failure,
    lock::lock,
    sight::{Sighting, monitor},
    system::is_alive,
    wire::Writer as _,
};
use std::{
    io,
    net::{SocketAddr, UdpSocket},
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

/// Who is silent for so long is named.
const WARNING: Duration = Duration::from_secs(10);

pub(super) struct Peer {
    pub(super) addresses: Vec<SocketAddr>,
    host: String,
    /// Of a process of this machine.
    pid: Option<libc::pid_t>,
    heard: Instant,
    is_named: bool,
    pub(super) has_gone: bool,
    /// Whether it has been ended in the middle of a run.
    is_dead: bool,
}

impl Peer {
    /// The process that has told this; `machine` is the number of this process's own.
    pub(super) fn new(hello: Hello, machine: u64) -> Self {
        Self {
            addresses: hello.addresses.iter().map(|&address| (address, hello.port).into()).collect(),
            host: hello.host,
            pid: (hello.machine == machine).then_some(hello.pid),
            heard: Instant::now(),
            is_named: false,
            has_gone: false,
            is_dead: false,
        }
    }
}

pub(super) struct Thread {
    pub(super) pulse: Arc<Pulse>,
    pub(super) socket: UdpSocket,
    pub(super) token: u64,
    pub(super) me: usize,
    pub(super) peers: Vec<Peer>,
    pub(super) timeout: Duration,
    pub(super) launcher: libc::pid_t,
}

impl Thread {
    pub(super) fn go(mut self) {
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
                self.pulse.repeat_verdict();
                let leader = &self.peers[0];
                let is_lost = now.saturating_duration_since(leader.heard) >= self.timeout;
                self.pulse.is_leaderless.store(leader.has_gone || is_lost, Ordering::Release);
            }
            self.look_around(now, &mut last_told);
            self.judge(now);
        }
    }

    fn beat(&self) {
        let is_going = self.pulse.is_going.load(Ordering::Acquire);
        let bytes = datagram::write(self.token, self.me, if is_going { Word::Goodbye } else { Word::Here }, &[]);
        // Who is going waits for all others to say so too, and the first time may have been lost.
        let is_told = |(number, peer): &(usize, &Peer)| *number != self.me && (is_going || !peer.has_gone);
        for (_, peer) in self.peers.iter().enumerate().filter(is_told) {
            datagram::send(&self.socket, &peer.addresses, &bytes);
        }
    }

    /// Takes whatever comes within a tick.
    fn listen(&mut self) {
        let until = Instant::now() + TICK;
        let mut bytes = [0; 2 * LONGEST];
        loop {
            let (len, address) = match self.socket.recv_from(&mut bytes) {
                Ok(found) => found,
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => {
                    // It may be that nothing can ever be heard again, and then nothing here would take any time.
                    std::thread::sleep(TICK);
                    break;
                }
            };
            if let Some((from, word, more)) = datagram::read(&bytes[..len], self.token)
                && let Some(peer) = self.peers.get_mut(from)
            {
                match word {
                    Word::Alarm => self.pulse.hear(more),
                    Word::Verdict if from == 0 => self.pulse.hear_verdict(more),
                    Word::Seen => self.pulse.hear_of_one(more, Instant::now()),
                    Word::Here | Word::Goodbye | Word::Dying | Word::Verdict => {}
                }
                peer.heard = Instant::now();
                peer.is_dead |= word == Word::Dying;
                if word == Word::Goodbye && !std::mem::replace(&mut peer.has_gone, true) {
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

    /// Sees who of this machine is no more. A launcher may take its time to wait for one that has died.
    fn look_for_the_dead(&mut self, now: Instant) {
        for peer in self.peers.iter_mut().filter(|peer| !peer.has_gone) {
            if peer.is_dead || peer.pid.is_some_and(|pid| !is_alive(pid)) {
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
        let first = self.me * run.sightings.len();
        for (at, sighting) in run.sightings.iter().enumerate() {
            run.lookout.look(first + at, sighting.progress(), now);
        }
        let place = |at: usize| run.sightings.get(at.wrapping_sub(first)).map_or_else(String::new, Sighting::place);
        if self.me == 0 {
            let verdict = if run.local_alarm.raised().is_some() { None } else { run.lookout.judge(now, None, place) };
            let alarm = Arc::clone(&run.alarm);
            drop(watch);
            if let Some(verdict) = verdict {
                monitor::act(&*alarm, verdict);
            }
            return;
        }
        if last_told.is_some_and(|last| now - last < period) {
            return;
        }
        *last_told = Some(now);
        for report in (first..first + run.sightings.len()).filter_map(|at| run.lookout.report(at, place(at), now)) {
            let mut seen = Vec::new();
            seen.put(run.number);
            seen.bytes(&report.write());
            let bytes = datagram::write(self.token, self.me, Word::Seen, &seen);
            datagram::send(&self.socket, &self.peers[0].addresses, &bytes);
        }
    }

    /// Names the silent, gives up on the lost, and ends a process that its run cannot end.
    fn judge(&mut self, now: Instant) {
        let mut watch = lock(&self.pulse.watch);
        let alarm = match &mut *watch {
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
                if let Some(failure) = run.local_alarm.raised() {
                    if run.has_overstayed() {
                        give_up(&(run.words)(&failure));
                    }
                    return;
                }
                Some(Arc::clone(&run.alarm))
            }
        };
        drop(watch);
        self.pulse.give_up_if_deaf();
        if parent() != self.launcher {
            give_up("the launcher of this program has died");
        }
        let first_heard = self
            .peers
            .iter()
            .position(|peer| !peer.is_named && !peer.has_gone || peer.pid == Some(std::process::id().cast_signed()));
        for (number, peer) in self.peers.iter_mut().enumerate().filter(|(_, peer)| !peer.has_gone) {
            let silence = now.saturating_duration_since(peer.heard);
            if silence >= self.timeout {
                let host = peer.host.clone();
                let failure = Failure::Lost { process: number, host, seconds: self.timeout.as_secs() };
                match alarm {
                    Some(alarm) => return alarm.raise(failure),
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

/// The launcher of this process, if it lives.
pub(super) fn parent() -> libc::pid_t {
    libc::pid_t::try_from(std::os::unix::process::parent_id()).unwrap_or(0)
}
