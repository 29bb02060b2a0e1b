//! What processes tell each other at the start: where they are, and how they can be reached.

use super::{ADDRESSES, CARD, NAME, Peer};
use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::Instant,
};

/// What this process tells the others.
pub(super) fn card(port: u16) -> [u8; CARD] {
    let mut card = [0; CARD];
    card[..8].copy_from_slice(&random().to_le_bytes());
    card[8..16].copy_from_slice(&machine().to_le_bytes());
    card[16..20].copy_from_slice(&std::process::id().to_le_bytes());
    card[20..22].copy_from_slice(&port.to_le_bytes());
    let addresses = interfaces();
    card[22..24].copy_from_slice(&(addresses.len() as u16).to_le_bytes());
    for (place, address) in card[24..].chunks_exact_mut(4).zip(&addresses) {
        place.copy_from_slice(&address.octets());
    }
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim().as_bytes();
    let len = name.len().min(NAME);
    card[CARD - NAME..][..len].copy_from_slice(&name[..len]);
    card
}

/// What another process has told; `mine` is my own card.
pub(super) fn read_card(card: &[u8], mine: &[u8]) -> Peer {
    let port = u16::from_le_bytes([card[20], card[21]]);
    let count = usize::from(u16::from_le_bytes([card[22], card[23]])).min(ADDRESSES);
    let addresses = card[24..].chunks_exact(4).take(count);
    let addresses = addresses.map(|octets| {
        let address = Ipv4Addr::new(octets[0], octets[1], octets[2], octets[3]);
        SocketAddr::new(IpAddr::V4(address), port)
    });
    let is_here = card[8..16] == mine[8..16];
    let pid = i32::from_le_bytes([card[16], card[17], card[18], card[19]]);
    let name: Vec<u8> = card[CARD - NAME..].iter().copied().take_while(|&byte| byte != 0).collect();
    Peer {
        addresses: addresses.collect(),
        host: String::from_utf8_lossy(&name).into_owned(),
        pid: is_here.then_some(pid),
        heard: Instant::now(),
        is_named: false,
        has_gone: false,
        is_dead: false,
    }
}

/// A number that nobody can guess.
fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    // The standard library seeds each of these from the system's source of randomness.
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

/// A number for this machine and what of its processes can be seen from here.
fn machine() -> u64 {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let space = std::fs::read_link("/proc/self/ns/pid").map(|link| link.to_string_lossy().into_owned());
    let words = boot + &space.unwrap_or_default();
    words.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// The addresses at which others may reach this process: those of its interfaces, and last the one for itself.
fn interfaces() -> Vec<Ipv4Addr> {
    let mut found = Vec::new();
    let mut list: *mut libc::ifaddrs = std::ptr::null_mut();
    // SAFETY: `list` is where the call leaves a list.
    if unsafe { libc::getifaddrs(&raw mut list) } == 0 {
        let mut next = list;
        while !next.is_null() {
            // SAFETY: it is an entry of the list, which is freed below.
            let entry = unsafe { &*next };
            next = entry.ifa_next;
            if entry.ifa_addr.is_null() {
                continue;
            }
            // SAFETY: an address that is there has a family.
            if i32::from(unsafe { (*entry.ifa_addr).sa_family }) != libc::AF_INET {
                continue;
            }
            // SAFETY: one of this family is such an address, wherever it lies.
            let address = unsafe { entry.ifa_addr.cast::<libc::sockaddr_in>().read_unaligned() };
            found.push(Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr)));
        }
        // SAFETY: the list is the one from above, and nothing points into it any more.
        unsafe { libc::freeifaddrs(list) };
    }
    found.sort_by_key(Ipv4Addr::is_loopback);
    found.truncate(ADDRESSES);
    found
}
