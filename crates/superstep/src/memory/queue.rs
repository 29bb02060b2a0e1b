//! Queues: typed messages that arrive with the boundary.

use crate::{
    engine::{
        Address, Core, Group, Object, Outbox, Payload, Phase, Record, Step, Value, damaged, decode, encode, type_hash,
    },
    error::{Result, place},
};
use fabric::Circle;
use std::{
    any::type_name,
    cell::{Cell, RefCell},
    collections::VecDeque,
    panic::Location,
    rc::Rc,
};

/// Messages of one source.
type Batch<G, T> = Vec<(G, T)>;

/// This processor's end of a queue.
struct End<G, T> {
    /// What this step has sent, by target.
    sent: RefCell<Vec<Batch<G, T>>>,
    /// What the last step's messages are.
    here: RefCell<VecDeque<(G, T)>>,
    /// What this boundary has brought, by rank of the sender.
    coming: RefCell<VecDeque<(G, T)>>,
    has_sent: Cell<bool>,
    site: &'static Location<'static>,
}

impl<G: Value, T: Value> Object for End<G, T> {
    fn describe(&self) -> String {
        format!("queue of ({}, {}) of {}", type_name::<G>(), type_name::<T>(), place(self.site))
    }

    fn flush(&self, number: u32, outbox: &mut Outbox, circle: &dyn Circle) -> Result {
        self.has_sent.set(false);
        for (to, batch) in self.sent.borrow_mut().iter_mut().enumerate().filter(|(_, batch)| !batch.is_empty()) {
            let batch = std::mem::take(batch);
            if circle.shares(to) {
                outbox.push_moved(to, Address::Object(number), Box::new(batch));
                continue;
            }
            outbox.push(to, Address::Object(number), Record::Data, |out| -> Result {
                for (tag, value) in &batch {
                    push_part(out, tag)?;
                    push_part(out, value)?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    fn deliver(&self, _: usize, payload: Payload<'_>) -> Result {
        let mut coming = self.coming.borrow_mut();
        match payload {
            Payload::Moved(batch) => coming.extend(*batch.downcast::<Batch<G, T>>().map_err(|_| damaged())?),
            Payload::Bytes(mut bytes) => {
                while !bytes.is_empty() {
                    coming.push_back((decode(split_part(&mut bytes)?)?, decode(split_part(&mut bytes)?)?));
                }
            }
        }
        Ok(())
    }

    fn settle(&self) {
        let mut here = self.here.borrow_mut();
        here.clear();
        std::mem::swap(&mut *here, &mut *self.coming.borrow_mut());
    }

    fn abandon(&self) {
        self.has_sent.set(false);
        // Dropping them may unwind; they are out of the way by then.
        drop((self.sent.take(), self.coming.take()));
    }

    fn renumber(&self, _: &[usize]) {
        self.sent.borrow_mut().clear();
    }
}

fn push_part<T: Value>(out: &mut Vec<u8>, value: &T) -> Result {
    let at = out.len();
    out.extend_from_slice(&[0; 8]);
    encode(value, out)?;
    let len = (out.len() - at - 8) as u64;
    out[at..at + 8].copy_from_slice(&len.to_le_bytes());
    Ok(())
}

fn split_part<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8]> {
    let (len, rest) = bytes.split_first_chunk().ok_or_else(damaged)?;
    let len = usize::try_from(u64::from_le_bytes(*len)).map_err(|_| damaged())?;
    let (part, rest) = rest.split_at_checked(len).ok_or_else(damaged)?;
    *bytes = rest;
    Ok(part)
}

/// Messages between the processors of a group, each a tag and a payload.
///
/// What is sent in a step can be read after its boundary and until the next one; what is not read by then is gone.
/// Messages come by the rank of their senders and then in the order of sending.
///
/// ```
/// let words = superstep::Config::new().procs(3).run_all(|g| {
///     let queue = g.queue::<usize, String>();
///     g.step(|s| s.send(&queue, 0, s.rank(), format!("from {}", s.rank())));
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
    core: Rc<Core>,
    end: Rc<End<G, T>>,
    number: u32,
}

impl Group {
    /// Makes a queue of messages with tags of type `G` and payloads of type `T`. Collective.
    ///
    /// ```
    /// let counts = superstep::Config::new().procs(2).run_all(|g| {
    ///     let queue = g.queue::<(), u32>();
    ///     g.step(|s| s.send(&queue, 1, (), 5));
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
        let end = Rc::new(End::<G, T> {
            sent: RefCell::default(),
            here: RefCell::default(),
            coming: RefCell::default(),
            has_sent: Cell::new(false),
            site: Location::caller(),
        });
        let number = self.core().add_object(Rc::clone(&end) as Rc<dyn Object>, type_hash::<End<G, T>>());
        self.core().registry().queues.push(number);
        Queue { core: Rc::clone(self.core()), end, number }
    }
}

impl<G: Value, T: Value> Queue<G, T> {
    /// Takes the messages of the last step, one after another.
    ///
    /// ```
    /// let sum = superstep::Config::new().procs(3).run(|g| {
    ///     let queue = g.queue::<(), usize>();
    ///     g.step(|s| s.send(&queue, 0, (), s.rank()));
    ///     queue.drain().map(|(_, value)| value).sum::<usize>()
    /// });
    /// assert_eq!(sum.unwrap(), 3);
    /// ```
    pub fn drain(&self) -> impl Iterator<Item = (G, T)> + '_ {
        std::iter::from_fn(|| self.end.here.borrow_mut().pop_front())
    }

    /// How many messages of the last step are left.
    ///
    /// ```
    /// let lens = superstep::Config::new().procs(2).run(|g| {
    ///     let queue = g.queue::<(), u8>();
    ///     g.step(|s| s.send(&queue, 0, (), 1));
    ///     let before = queue.len();
    ///     queue.drain().next();
    ///     (before, queue.len())
    /// });
    /// assert_eq!(lens.unwrap(), (2, 1));
    /// ```
    pub fn len(&self) -> usize {
        self.end.here.borrow().len()
    }

    /// Whether none are left.
    ///
    /// ```
    /// let empty = superstep::Config::new().procs(2).run_all(|g| {
    ///     let queue = g.queue::<(), u8>();
    ///     g.step(|s| s.send(&queue, 0, (), 1));
    ///     queue.is_empty()
    /// });
    /// assert_eq!(empty.unwrap(), [false, true]);
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<G: Value, T: Value> Drop for Queue<G, T> {
    fn drop(&mut self) {
        if self.core.phase.get() != Phase::Ended {
            self.core.registry().drop_object(self.number);
        }
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
    ///     g.step(|s| s.send(&queue, 1 - s.rank(), 'a', s.rank()));
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
    pub fn send<G: Value, T: Value>(&self, queue: &Queue<G, T>, to: usize, tag: G, value: T) {
        self.try_send(queue, to, tag, value).unwrap_or_else(|error| error.raise());
    }

    /// Sends like [`send`](Self::send), or returns why that cannot be done.
    ///
    /// ```
    /// use superstep::{Config, ErrorKind, Local};
    ///
    /// let kind = Config::new().procs(2).run(|g| {
    ///     let queue = g.queue::<(), ()>();
    ///     g.step(|s| Local(s.try_send(&queue, 2, (), ()).unwrap_err().kind()))
    /// });
    /// assert_eq!(kind.unwrap(), ErrorKind::RankOutOfRange);
    /// ```
    #[track_caller]
    #[inline]
    pub fn try_send<G: Value, T: Value>(&self, queue: &Queue<G, T>, to: usize, tag: G, value: T) -> Result {
        self.core.check_member(&queue.core, "queue", Location::caller())?;
        self.core.check_rank(to, Location::caller())?;
        if !queue.end.has_sent.get() {
            let mut registry = self.core.registry();
            let is_there = registry.object(queue.number).is_some();
            self.core.check_declared(is_there, &|| queue.end.describe(), Location::caller())?;
            registry.outgoing.push(queue.number);
            queue.end.has_sent.set(true);
        }
        let mut sent = queue.end.sent.borrow_mut();
        if sent.len() <= to {
            sent.resize_with(self.size(), Vec::new);
        }
        sent[to].push((tag, value));
        Ok(())
    }
}
