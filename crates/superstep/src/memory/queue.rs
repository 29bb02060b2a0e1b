//! Queues: typed messages that arrive with the boundary.

use crate::{
    engine::{
        Abandons, Address, Buried, Group, Lease, Outbox, Payload, Receives, Sends, Step, Tag, Tenant, Turns, Value,
        damaged, decode, encode, hooks, type_hash,
    },
    error::{Result, place},
};
use fabric::{
    Circle,
    wire::{Reader, write_part},
};
use std::{
    any::type_name,
    cell::{Cell, RefCell},
    collections::VecDeque,
    mem::needs_drop,
    panic::Location,
    rc::Rc,
};

type Messages<G, T> = Vec<(G, T)>;

struct Part<G, T> {
    /// What this step has sent, by target.
    sent: RefCell<Vec<Messages<G, T>>>,
    /// What the last step's messages are.
    here: RefCell<VecDeque<(G, T)>>,
    /// What this boundary has brought, by rank of the sender.
    coming: RefCell<VecDeque<(G, T)>>,
    has_sent: Cell<bool>,
    site: &'static Location<'static>,
}

impl<G: Value, T: Value> Tenant for Part<G, T> {
    fn describe(&self) -> String {
        format!("queue of ({}, {}) of {}", type_name::<G>(), type_name::<T>(), place(self.site))
    }

    hooks!(sends, receives, turns, abandons);
}

impl<G: Value, T: Value> Sends for Part<G, T> {
    fn send(&self, number: u32, outbox: &mut Outbox, circle: &dyn Circle) -> Result {
        self.has_sent.set(false);
        for (to, messages) in self.sent.borrow_mut().iter_mut().enumerate().filter(|(_, messages)| !messages.is_empty())
        {
            let messages = std::mem::take(messages);
            if circle.shares(to) {
                outbox.push_moved(to, Address::Tenant(number), Box::new(messages));
                continue;
            }
            outbox.push(to, Address::Tenant(number), Tag::Data, |out| -> Result {
                for (tag, value) in &messages {
                    write_part(out, |out| encode(tag, out))?;
                    write_part(out, |out| encode(value, out))?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

impl<G: Value, T: Value> Receives for Part<G, T> {
    fn receive(&self, _: usize, payload: Payload<'_>) -> Result {
        let mut coming = self.coming.borrow_mut();
        match payload {
            Payload::Moved(messages) => coming.extend(*messages.downcast::<Messages<G, T>>().map_err(|_| damaged())?),
            Payload::Bytes(bytes) => {
                let mut parts = Reader::new(bytes);
                while !parts.is_empty() {
                    let mut part = || parts.part().map_err(|_| damaged());
                    coming.push_back((decode(part()?)?, decode(part()?)?));
                }
            }
        }
        Ok(())
    }
}

impl<G: Value, T: Value> Turns for Part<G, T> {
    fn turn(&self, buried: &mut Buried) {
        let (mut here, mut coming) = (self.here.borrow_mut(), self.coming.borrow_mut());
        if needs_drop::<(G, T)>() && !here.is_empty() {
            // What was not read is the program's, and may ask for this very queue when it is dropped.
            buried.push(Box::new(std::mem::take(&mut *here)));
        }
        here.clear();
        std::mem::swap(&mut *here, &mut *coming);
    }
}

impl<G: Value, T: Value> Abandons for Part<G, T> {
    fn abandon(&self, buried: &mut Buried) {
        self.has_sent.set(false);
        buried.push(Box::new((self.sent.take(), self.coming.take())));
    }
}

/// Messages between the processors of a group, each a tag and a payload.
///
/// What is sent in a step can be read after its boundary and until the group's next step ends; what is not read by
/// then is gone. Meanwhile the group may make arrays, split, or hold an epoch. Messages come by the rank of their
/// senders and then in the order of sending.
///
/// ```
/// let words = superstep::Config::new().procs(3).run_all(|g| {
///     let queue = g.queue::<usize, String>();
///     g.step(|s| s.send(0, &queue, s.rank(), format!("from {}", s.rank())));
///     queue.drain().map(|(tag, word)| format!("{tag}: {word}")).collect::<Vec<_>>()
/// });
/// assert_eq!(words.unwrap()[0], ["0: from 0", "1: from 1", "2: from 2"]);
/// ```
///
/// A handle stays on its processor:
///
/// ```compile_fail,E0277
/// superstep::run(|g| {
///     let queue = g.queue::<u8, u8>();
///     std::thread::scope(|threads| { threads.spawn(|| queue.len()); });
/// });
/// ```
pub struct Queue<G: Value, T: Value> {
    core: Lease,
    part: Rc<Part<G, T>>,
}

impl Group {
    /// Makes a queue of messages with tags of type `G` and payloads of type `T`. Collective.
    ///
    /// ```
    /// let counts = superstep::Config::new().procs(2).run_all(|g| {
    ///     let queue = g.queue::<(), u32>();
    ///     g.step(|s| s.send(1, &queue, (), 5));
    ///     queue.len()
    /// });
    /// assert_eq!(counts.unwrap(), [0, 2]);
    /// ```
    ///
    /// # Cost
    ///
    /// Nothing: whether all members agree is checked at the next boundary.
    #[track_caller]
    pub fn queue<G: Value, T: Value>(&mut self) -> Queue<G, T> {
        let part = Rc::new(Part::<G, T> {
            sent: RefCell::default(),
            here: RefCell::default(),
            coming: RefCell::default(),
            has_sent: Cell::new(false),
            site: Location::caller(),
        });
        let core = self.core().add_tenant(Rc::clone(&part) as Rc<dyn Tenant>, type_hash::<Part<G, T>>());
        Queue { core, part }
    }
}

impl<G: Value, T: Value> Queue<G, T> {
    /// Takes the messages of the last step, one after another.
    ///
    /// ```
    /// let sum = superstep::Config::new().procs(3).run(|g| {
    ///     let queue = g.queue::<(), usize>();
    ///     g.step(|s| s.send(0, &queue, (), s.rank()));
    ///     queue.drain().map(|(_, value)| value).sum::<usize>()
    /// });
    /// assert_eq!(sum.unwrap(), 3);
    /// ```
    pub fn drain(&self) -> impl Iterator<Item = (G, T)> + '_ {
        std::iter::from_fn(|| self.part.here.borrow_mut().pop_front())
    }

    /// How many messages of the last step are left.
    ///
    /// ```
    /// let lens = superstep::Config::new().procs(2).run(|g| {
    ///     let queue = g.queue::<(), u8>();
    ///     g.step(|s| s.send(0, &queue, (), 1));
    ///     let before = queue.len();
    ///     queue.drain().next();
    ///     (before, queue.len())
    /// });
    /// assert_eq!(lens.unwrap(), (2, 1));
    /// ```
    pub fn len(&self) -> usize {
        self.part.here.borrow().len()
    }

    /// Whether none are left.
    ///
    /// ```
    /// let empty = superstep::Config::new().procs(2).run_all(|g| {
    ///     let queue = g.queue::<(), u8>();
    ///     g.step(|s| s.send(0, &queue, (), 1));
    ///     queue.is_empty()
    /// });
    /// assert_eq!(empty.unwrap(), [false, true]);
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<G: Value, T: Value> std::fmt::Debug for Queue<G, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Queue<{}, {}>({} messages)", type_name::<G>(), type_name::<T>(), self.len())
    }
}

impl Step {
    /// Sends a message to member `to`, who can read it after the boundary.
    ///
    /// ```
    /// let words = superstep::Config::new().procs(2).run_all(|g| {
    ///     let queue = g.queue::<char, usize>();
    ///     g.step(|s| s.send(1 - s.rank(), &queue, 'a', s.rank()));
    ///     queue.drain().collect::<Vec<_>>()
    /// });
    /// assert_eq!(words.unwrap(), [[('a', 1)], [('a', 0)]]);
    /// ```
    ///
    /// # Cost
    ///
    /// n g for n words, sent and received. Between threads messages move and are not encoded.
    ///
    /// # Panics
    ///
    /// If there is no such member, or if another group made the queue. [`try_send`](Self::try_send) returns the error.
    #[track_caller]
    #[inline]
    pub fn send<G: Value, T: Value>(&self, to: usize, queue: &Queue<G, T>, tag: G, value: T) {
        self.try_send(to, queue, tag, value).unwrap_or_else(|error| error.raise());
    }

    /// Sends like [`send`](Self::send), or returns why that cannot be done.
    ///
    /// ```
    /// use superstep::{Config, ErrorKind, Local};
    ///
    /// let kind = Config::new().procs(2).run(|g| {
    ///     let queue = g.queue::<(), ()>();
    ///     g.step(|s| Local(s.try_send(2, &queue, (), ()).unwrap_err().kind()))
    /// });
    /// assert_eq!(kind.unwrap(), ErrorKind::RankOutOfRange);
    /// ```
    #[track_caller]
    #[inline]
    pub fn try_send<G: Value, T: Value>(&self, to: usize, queue: &Queue<G, T>, tag: G, value: T) -> Result {
        self.core.check_member(&queue.core, "queue", Location::caller())?;
        self.core.check_rank(to, Location::caller())?;
        if !queue.part.has_sent.get() {
            let registry = self.core.registry();
            let is_there = registry.tenant(queue.core.number).is_some();
            self.core.check_declared(is_there, &|| queue.part.describe(), Location::caller())?;
            registry.announce(queue.core.number);
            queue.part.has_sent.set(true);
        }
        let mut sent = queue.part.sent.borrow_mut();
        if sent.len() <= to {
            sent.resize_with(self.size(), Vec::new);
        }
        sent[to].push((tag, value));
        Ok(())
    }
}
