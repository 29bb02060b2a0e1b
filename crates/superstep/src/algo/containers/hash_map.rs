//! Tables of keys and values.

use super::{
    home::Home,
    table::{Table, owner},
    update::{Keyed, Update},
};
use crate::{
    engine::{Group, Sum, Value},
    epoch::{Answer, Epoch, Method, Object},
};
use fabric::code::Two;
use std::{hash::Hash, marker::PhantomData, panic::Location};

/// A table of keys and values that lies spread over the processors of a group, by the hash of its keys.
///
/// ```
/// use superstep::Config;
///
/// let text = ["the cat and the dog", "the end"];
/// let counts = Config::new().procs(2).run_all(|g| {
///     let words = g.hash_map::<String, u32>();
///     let mine = text[g.rank()];
///     g.epoch(|e| for word in mine.split(' ') {
///         words.update(e, word.to_owned(), 1, |count, more| *count += more);
///     });
///     (words.count(g), g.epoch(|e| words.get(e, &"the".to_owned())))
/// });
/// assert_eq!(counts.unwrap(), [(5, Some(3)); 2]);
/// ```
pub struct HashMap<K: 'static, V: 'static> {
    pub(super) home: Home,
    pub(super) part: Object<Table<K, V>>,
}

impl Group {
    /// Makes an empty [table](HashMap). Collective.
    ///
    /// ```
    /// let count = superstep::Config::new().procs(2).run(|g| g.hash_map::<u64, f64>().count(g));
    /// assert_eq!(count.unwrap(), 0);
    /// ```
    ///
    /// # Cost
    ///
    /// No communication.
    #[track_caller]
    pub fn hash_map<K: 'static, V: 'static>(&mut self) -> HashMap<K, V> {
        let home = Home::new::<HashMap<K, V>>(self, Location::caller());
        HashMap { home, part: self.object(Table::default()) }
    }
}

impl<K: 'static, V: 'static> HashMap<K, V> {
    /// Hands every entry that is here to `body`, in any order.
    ///
    /// ```
    /// let sums = superstep::Config::new().procs(2).run_all(|g| {
    ///     let table = g.hash_map();
    ///     g.epoch(|e| if e.rank() == 0 { for x in 0..10 { table.insert(e, x, 1) } });
    ///     let mut keys = 0;
    ///     table.forall_mut(|key, value| { keys += key; *value += 1 });
    ///     keys
    /// });
    /// assert_eq!(sums.unwrap().iter().sum::<i32>(), 45);
    /// ```
    #[track_caller]
    pub fn forall_mut(&self, mut body: impl FnMut(&K, &mut V)) {
        self.part.with(|table| table.iter_mut().for_each(|(key, value)| body(key, value)));
    }

    /// How many entries are here.
    ///
    /// ```
    /// let counts = superstep::Config::new().procs(2).run_all(|g| {
    ///     let table = g.hash_map();
    ///     g.epoch(|e| for x in 0..100 { table.insert(e, x, 'x') });
    ///     table.owned_count()
    /// });
    /// assert_eq!(counts.unwrap().iter().sum::<usize>(), 100);
    /// ```
    #[track_caller]
    pub fn owned_count(&self) -> usize {
        self.part.with(|table| table.len())
    }

    /// How many entries there are, on all processors together. Collective.
    ///
    /// ```
    /// let counts = superstep::Config::new().procs(3).run_all(|g| {
    ///     let table = g.hash_map();
    ///     g.epoch(|e| for x in 0..=e.rank() { table.insert(e, x, 'x') });
    ///     table.count(g)
    /// });
    /// assert_eq!(counts.unwrap(), [3; 3]);
    /// ```
    ///
    /// # Cost
    ///
    /// l.
    #[track_caller]
    pub fn count(&self, g: &mut Group) -> usize {
        self.home.check(g.core(), Location::caller());
        let mine = self.owned_count();
        g.step(|s| s.reduce(mine, Sum))
    }

    /// Drops every entry that is here.
    ///
    /// ```
    /// let count = superstep::Config::new().procs(2).run(|g| {
    ///     let table = g.hash_map();
    ///     g.epoch(|e| table.insert(e, e.rank(), 'x'));
    ///     table.clear();
    ///     table.count(g)
    /// });
    /// assert_eq!(count.unwrap(), 0);
    /// ```
    #[track_caller]
    pub fn clear(&self) {
        self.part.with(Table::clear);
    }
}

impl<K: Value + Hash + Eq, V: 'static> HashMap<K, V> {
    /// The rank of the processor that has the entry of this key, if there is one. It depends on the key and on the
    /// number of processors alone.
    ///
    /// ```
    /// let owners = superstep::Config::new().procs(3).run_all(|g| {
    ///     g.hash_map::<String, u32>().owner(&"word".to_owned())
    /// });
    /// let owners = owners.unwrap();
    /// assert!(owners.iter().all(|&owner| owner == owners[0] && owner < 3));
    /// ```
    #[inline]
    pub fn owner(&self, key: &K) -> usize {
        owner(key, self.home.size)
    }

    #[inline]
    fn place(&self, e: &Epoch, key: &K, site: &Location<'_>) -> usize {
        self.home.check(&e.core, site);
        self.owner(key)
    }

    /// Changes the value of `key` where it is: `method` runs there, with the value and `args`; if there is no entry,
    /// one with the default value is made first. Returns at once. The method is a function or a closure that captures
    /// nothing.
    ///
    /// ```
    /// let longest = superstep::Config::new().procs(2).run_all(|g| {
    ///     let lists = g.hash_map::<u8, Vec<usize>>();
    ///     g.epoch(|e| for x in 0..3 { lists.update(e, x, e.rank(), |list, rank| list.push(rank)) });
    ///     g.epoch(|e| lists.get(e, &2).map(|list| list.len()))
    /// });
    /// assert_eq!(longest.unwrap(), [Some(2); 2]);
    /// ```
    ///
    /// # Cost
    ///
    /// That of a [`send`](Epoch::send).
    #[track_caller]
    #[inline]
    pub fn update<A: Value>(&self, e: &Epoch, key: K, args: A, method: fn(&mut V, A))
    where
        V: Default,
    {
        let owner = self.place(e, &key, Location::caller());
        e.send_deed::<Update<Table<K, V>, A>>(owner, &self.part, (key, args), Two::<Update<Table<K, V>, A>>(method));
    }
}

impl<K: Value + Hash + Eq, V: Value> HashMap<K, V> {
    /// Makes `value` the value of `key`. Returns at once.
    ///
    /// ```
    /// let value = superstep::Config::new().procs(2).run(|g| {
    ///     let table = g.hash_map();
    ///     g.epoch(|e| if e.rank() == 1 { table.insert(e, "answer".to_owned(), 42) });
    ///     g.epoch(|e| table.get(e, &"answer".to_owned()))
    /// });
    /// assert_eq!(value.unwrap(), Some(42));
    /// ```
    #[track_caller]
    #[inline]
    pub fn insert(&self, e: &Epoch, key: K, value: V) {
        let owner = self.place(e, &key, Location::caller());
        e.send_by::<Insert<K, V>>(owner, &self.part, (key, value));
    }

    /// The value of `key`, wherever it is, if there is one. Waits for it.
    ///
    /// ```
    /// let values = superstep::Config::new().procs(2).run_all(|g| {
    ///     let table = g.hash_map();
    ///     g.epoch(|e| {
    ///         table.insert(e, e.rank(), 'x');
    ///         [e.rank(), 9].map(|key| table.get(e, &key))
    ///     })
    /// });
    /// assert_eq!(values.unwrap(), [[Some('x'), None]; 2]);
    /// ```
    ///
    /// # Cost
    ///
    /// The way there and back, unless the entry is here.
    #[track_caller]
    pub fn get(&self, e: &Epoch, key: &K) -> Option<V> {
        let owner = self.place(e, key, Location::caller());
        e.call(owner, &self.part, key.clone(), |table, _, key| table.get(&key).cloned())
    }

    /// Asks for the value of `key`, as [`get`](Self::get) does, and does not wait for it.
    ///
    /// ```
    /// let found = superstep::Config::new().procs(2).run(|g| {
    ///     let table = g.hash_map();
    ///     g.epoch(|e| for x in 0..5 { table.insert(e, x, x * x) });
    ///     let asked: Vec<_> = g.epoch(|e| (3..7).map(|x| table.ask(e, &x)).collect());
    ///     asked.into_iter().map(|answer| answer.value()).collect::<Vec<_>>()
    /// });
    /// assert_eq!(found.unwrap(), [Some(9), Some(16), None, None]);
    /// ```
    #[track_caller]
    pub fn ask(&self, e: &Epoch, key: &K) -> Answer<Option<V>> {
        let owner = self.place(e, key, Location::caller());
        e.ask(owner, &self.part, key.clone(), |table, _, key| table.get(&key).cloned())
    }

    /// Takes the entry of `key` out, wherever it is, and gives its value back if there was one. Waits for it.
    ///
    /// ```
    /// let taken = superstep::Config::new().procs(2).run_all(|g| {
    ///     let table = g.hash_map();
    ///     g.epoch(|e| table.insert(e, 7, 'x'));
    ///     g.epoch(|e| table.remove(e, &7))
    /// });
    /// assert_eq!(taken.unwrap().into_iter().flatten().count(), 1);
    /// ```
    #[track_caller]
    pub fn remove(&self, e: &Epoch, key: &K) -> Option<V> {
        let owner = self.place(e, key, Location::caller());
        e.call(owner, &self.part, key.clone(), |table, _, key| table.remove(&key))
    }
}

impl<K: Value + Hash + Eq, V: Default + 'static> Keyed for Table<K, V> {
    type Key = K;
    type Element = V;

    #[inline]
    fn element(&mut self, key: K) -> &mut V {
        self.entry(key).or_default()
    }
}

struct Insert<K, V>(PhantomData<fn(K, V)>);

impl<K: Value + Hash + Eq, V: Value> Method for Insert<K, V> {
    type On = Table<K, V>;
    type Args = (K, V);
    type Answer = ();

    #[inline]
    fn run(table: &mut Table<K, V>, _: &Epoch, (key, value): (K, V)) {
        table.insert(key, value);
    }
}

impl<K: 'static, V: 'static> std::fmt::Debug for HashMap<K, V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.home.describe())
    }
}
