//! The heartbeat between processes: MPI never says that a link is cut or that a peer has stopped.
//!
//! A small thread in each process sends a datagram to every other one each second, through a socket of its own, and
//! notes when it last heard from each. A long computation does not silence a process, because this thread goes on; a
//! stopped process or a cut link does. Addresses and a token that nobody can guess are exchanged through MPI at the
//! start, and a datagram without the token is not looked at.
//!
//! What follows from silence happens only while a run is under way. After ten seconds the silent one is named on
//! standard error. After the time that the user has set, the run ends with [`Lost`](crate::Failure::Lost). One that
//! comes back before goes on as if nothing had happened. A process of this machine that has died is seen at once.
//!
//! The thread is also the last resort: when a run has failed and its processors have not ended soon after, because they
//! compute or sit in a call of MPI that will never return, it ends the process.

mod datagram;
mod hello;
mod state;
mod thread;
mod verdict;

#[cfg(fuzzing)]
pub(crate) use state::fuzz;
pub(super) use state::{GRACE, LONGEST, Pulse, TICK, give_up};

use super::calls::Mpi;
use crate::{settings, system::without_signals, wire::Damaged};
use hello::Hello;
use state::{Beat, STARTED};
use std::{
    net::{Ipv4Addr, UdpSocket},
    sync::Arc,
    time::Duration,
};
use thread::{Peer, Thread, parent};

/// Unless the user says otherwise, who is silent for so long is lost.
const TIMEOUT: Duration = Duration::from_secs(60);

/// How long a peer may be silent, as the user has set it.
fn timeout() -> Result<Duration, String> {
    let seconds = |text: &str| Duration::try_from_secs_f64(text.parse().ok()?).ok().filter(|limit| !limit.is_zero());
    let found = settings::read("SUPERSTEP_PEER_TIMEOUT", "a number of seconds, more than 0", seconds);
    found.map(|found| found.unwrap_or(TIMEOUT)).map_err(|wrong| wrong.to_string())
}

/// Whether the user wants no heartbeat.
fn is_off() -> Result<bool, String> {
    let switch = |text: &str| ["0", "1"].contains(&text).then(|| text == "0");
    let found = settings::read("SUPERSTEP_HEARTBEAT", "0 or 1", switch);
    found.map(|found| found.unwrap_or(false)).map_err(|wrong| wrong.to_string())
}

/// A door for fuzzing: reads what the environment says.
#[cfg(fuzzing)]
pub(in crate::mpi) fn fuzz_settings() {
    let _ = (timeout(), is_off());
}

/// Exchanges addresses with all other processes and starts the thread. Every process must come here.
pub(super) fn start(mpi: &Mpi, me: usize, processes: usize) -> Result<Arc<Pulse>, String> {
    let timeout = timeout()?;
    let is_off = is_off()?;
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).map_err(|why| format!("no socket: {why}"))?;
    socket.set_read_timeout(Some(TICK)).map_err(|why| format!("a socket without time: {why}"))?;
    let port = socket.local_addr().map_err(|why| format!("a socket without address: {why}"))?.port();
    let mut all = vec![0; Hello::BYTES * processes];
    mpi.allgather(&Hello::mine(port).write(), &mut all);
    let hellos: Result<Vec<Hello>, Damaged> = all.chunks_exact(Hello::BYTES).map(Hello::read).collect();
    let hellos = hellos.map_err(|Damaged| "what processes have told of themselves makes no sense")?;
    let (token, machine) = (hellos[0].token, hellos[me].machine);
    let mut peers: Vec<Peer> = hellos.into_iter().map(|theirs| Peer::new(theirs, machine)).collect();
    peers[me].has_gone = true;
    if is_off || processes == 1 {
        return Ok(Arc::new(Pulse::new(None, 0, timeout)));
    }
    let addresses = peers.iter().flat_map(|peer| peer.addresses.clone()).collect();
    let ours = socket.try_clone().map_err(|why| format!("no second end of a socket: {why}"))?;
    let beat = Some(Beat { socket: ours, others: processes - 1, token, me, addresses });
    let pulse = Arc::new(Pulse::new(beat, processes - 1, timeout));
    let thread = Thread { pulse: Arc::clone(&pulse), socket, token, me, peers, timeout, launcher: parent() };
    let named = std::thread::Builder::new().name("superstep-pulse".to_owned());
    without_signals(|| named.spawn(move || thread.go()))
        .map_err(|why| format!("no thread for the heartbeat: {why}"))?;
    Ok(Arc::clone(STARTED.get_or_init(|| pulse)))
}
