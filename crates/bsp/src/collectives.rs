//! Collectives: each is one superstep, in which everybody takes part.
//!
//! What they move goes beside puts, gets and messages, which happen at the same boundary; so messages that were sent
//! before can be read after.

use crate::{
    ending::{Collective, Ending, NOTES},
    failing::{Fault, fail},
    life,
    machine::Machine,
    program,
};

/// Combines `left` and `right`, of so many bytes, into `result`.
pub(crate) type Operator<'a> = &'a dyn Fn(&mut [u8], &[u8], &[u8]);

/// What a collective is about: its root if it has one, where data comes from and goes to, and how much for each.
pub(crate) struct Call {
    pub(crate) which: Collective,
    pub(crate) root: i64,
    pub(crate) source: usize,
    pub(crate) target: usize,
    pub(crate) len: i64,
}

impl Call {
    /// Checks it, and returns the root and the length.
    fn check(&self, machine: &Machine) -> (usize, usize) {
        let name = self.which.name();
        let Ok(len) = usize::try_from(self.len) else {
            fail(name, Fault::BadSize { what: "the number of bytes", value: self.len })
        };
        let Some(root) = usize::try_from(self.root).ok().filter(|&root| root < machine.size) else {
            fail(name, Fault::Rank { pid: self.root, size: machine.size })
        };
        if len.checked_mul(machine.size).is_none() {
            fail(name, Fault::OutOfMemory);
        }
        let is_root = machine.rank == root;
        let (reads, writes) = match self.which {
            Collective::Broadcast => (is_root, !is_root),
            Collective::Gather => (true, is_root),
            Collective::Scatter => (is_root, true),
            Collective::Fold | Collective::Scan | Collective::Exchange => (true, true),
        };
        if len > 0 && reads && self.source == 0 {
            fail(name, Fault::NullPointer("the source"));
        }
        if len > 0 && writes && self.target == 0 {
            fail(name, Fault::NullPointer("the destination"));
        }
        (root, len)
    }

    /// Does it.
    pub(crate) fn run(&self, operator: Option<Operator<'_>>) {
        let name = self.which.name();
        let machine = life::machine(name);
        let (root, len) = self.check(machine);
        let (rank, size) = (machine.rank, machine.size);
        for to in 0..size {
            let (is_sent, at) = match self.which {
                Collective::Broadcast => (rank == root, 0),
                Collective::Gather => (to == root, 0),
                Collective::Scatter => (rank == root, to * len),
                Collective::Exchange => (true, to * len),
                Collective::Fold => (true, 0),
                Collective::Scan => (rank <= to, 0),
            };
            if is_sent {
                // SAFETY: M1: the source has as much for each as the call says.
                let bytes = unsafe { program::bytes(self.source + at, len) };
                if !machine.stream(to, NOTES).push(bytes) {
                    fail(name, Fault::OutOfMemory);
                }
            }
        }
        machine.boundary(Ending::Collective(self.which), (root as u64) << 48 ^ len as u64);
        let moved = |from: usize| -> Vec<u8> {
            let bytes = life::machine(name).moved(from);
            if bytes.len() != len {
                fail(name, Fault::Damaged { from });
            }
            bytes.to_vec()
        };
        let write = |from: usize, at: usize| {
            // SAFETY: M1: the target has room for as much as the call says.
            unsafe { program::write(self.target + at, &moved(from)) };
        };
        match self.which {
            Collective::Broadcast if rank == root => {}
            Collective::Broadcast | Collective::Scatter => write(root, 0),
            Collective::Gather if rank != root => {}
            Collective::Gather | Collective::Exchange => (0..size).for_each(|from| write(from, from * len)),
            Collective::Fold | Collective::Scan => {
                let last = if self.which == Collective::Scan { rank } else { size - 1 };
                let mut result = moved(0);
                for from in 1..=last {
                    let right = moved(from);
                    let mut next = result.clone();
                    // The program's own function runs, which may ask for the machine itself.
                    if let Some(operator) = operator {
                        operator(&mut next, &result, &right);
                    }
                    result = next;
                }
                // SAFETY: M1, as above.
                unsafe { program::write(self.target, &result) };
            }
        }
        life::machine(name).settle();
    }
}
