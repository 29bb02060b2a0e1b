//! What processes tell each other at the start: where they are, and how they can be reached.

use crate::{
    secret::Secret,
    system,
    wire::{Damaged, Reader, Writer as _},
};
use std::net::Ipv4Addr;

/// How many addresses of a process the others try.
const ADDRESSES: usize = 4;
/// How many bytes of a host's name travel.
const NAME: usize = 32;

/// What a process tells the others.
pub(super) struct Hello {
    /// A number that nobody can guess; that of process 0 is the token of all.
    pub(super) token: u64,
    /// A number for the machine and what of its processes can be seen.
    pub(super) machine: u64,
    pub(super) pid: i32,
    pub(super) port: u16,
    pub(super) addresses: Vec<Ipv4Addr>,
    pub(super) host: String,
}

impl Hello {
    pub(super) const BYTES: usize = 24 + 4 * ADDRESSES + NAME;

    /// What this process tells, which listens at `port`.
    pub(super) fn mine(port: u16) -> Self {
        let pid = std::process::id().cast_signed();
        Self {
            token: Secret::draw().0[0],
            machine: machine(),
            pid,
            port,
            addresses: interfaces(),
            host: system::host_name(),
        }
    }

    pub(super) fn write(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let mut out = &mut bytes[..];
        out.put([self.token, self.machine]);
        out.put(self.pid);
        out.put([self.port, self.addresses.len() as u16]);
        let nothing = [Ipv4Addr::UNSPECIFIED; ADDRESSES];
        for address in self.addresses.iter().chain(&nothing).take(ADDRESSES) {
            out.put(address.octets());
        }
        out.bytes(&self.host.as_bytes()[..self.host.len().min(NAME)]);
        bytes
    }

    pub(super) fn read(bytes: &[u8]) -> Result<Self, Damaged> {
        let mut reader = Reader::new(bytes);
        let ([token, machine], pid, [port, count]) = (reader.get()?, reader.get()?, reader.get()?);
        let addresses = reader.get::<[[u8; 4]; ADDRESSES]>()?.map(Ipv4Addr::from);
        let addresses = addresses[..usize::from(count).min(ADDRESSES)].to_vec();
        let host = String::from_utf8_lossy(reader.bytes(NAME)?).trim_end_matches('\0').to_owned();
        Ok(Self { token, machine, pid, port, addresses, host })
    }
}

/// A number for this machine and what of its processes can be seen from here.
fn machine() -> u64 {
    Secret::of_seed(0).number(system::machine())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hello_says_where_its_process_is() {
        let hello = Hello::mine(4711);
        let read = Hello::read(&hello.write()).expect("it makes sense");
        assert!(!read.addresses.is_empty());
        assert_eq!((read.port, read.pid), (4711, std::process::id().cast_signed()));
        assert_eq!((read.token, read.machine, &read.addresses), (hello.token, hello.machine, &hello.addresses));
        assert_eq!(read.host, hello.host[..hello.host.len().min(NAME)]);
    }
}
