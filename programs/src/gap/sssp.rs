#![doc = include_str!("../../docs/sssp.md")]

use super::{
    graph::{NONE, Weighted},
    mail::Mail,
};
use crate::Trouble;
use superstep::{Group, Min, Or};

/// How many buckets are emptied before processors speak with each other.
const STEPS: usize = 4;

/// How wide buckets are where nobody says it: so narrow that hardly any edge stays within its bucket, and few vertices
/// are left more than once.
///
/// ```
/// use superstep::Config;
/// use superstep_programs::gap::{Weighted, sssp};
///
/// let width = Config::new().procs(2).run(|g| sssp::width(&Weighted::new(g, 2, &[(0, 1, 100), (1, 0, 200)])));
/// assert_eq!(width.unwrap(), 25);
/// ```
pub fn width(graph: &Weighted) -> u32 {
    let degree = graph.edges().div_ceil(graph.vertices().max(1)).max(1);
    (u64::from(graph.longest()) / (8 * degree as u64)).max(1) as u32
}

/// The lengths of shortest ways from a vertex to each of this processor's: [`NONE`] where there is no way. Collective.
///
/// `width` is that of the buckets into which distances are put.
///
/// ```
/// use superstep::Config;
/// use superstep_programs::gap::{NONE, Weighted, sssp};
///
/// let distances = Config::new().procs(2).run_all(|g| {
///     let graph = Weighted::new(g, 4, &[(0, 1, 9), (0, 2, 3), (2, 1, 4)]);
///     sssp::distances(g, &graph, 0, 2).unwrap()
/// });
/// assert_eq!(distances.unwrap(), [[0, 7], [3, NONE]]);
/// ```
///
/// # Errors
///
/// If a distance has no room in 32 bits.
pub fn distances(g: &mut Group, graph: &Weighted, source: usize, width: u32) -> Result<Vec<u32>, Trouble> {
    let mut search = Search::new(g, graph, source, width);
    loop {
        match search.tell(g) {
            Round::Done => return Ok(search.distances),
            Round::From(bucket) => search.empty(bucket),
            Round::Long => {
                return Err(Trouble::from("a distance has no room in 32 bits; give shorter edges"));
            }
        }
    }
}

/// What is to be done next, the same on all processors.
enum Round {
    /// The buckets from this one on are to be emptied.
    From(usize),
    Done,
    /// A distance has no room.
    Long,
}

/// A search under way.
struct Search<'a> {
    graph: &'a Weighted,
    me: u32,
    /// How many distances a bucket has.
    width: u32,
    /// By place.
    distances: Vec<u32>,
    /// Places and what was then their distance, by that; they count where it still is.
    buckets: Vec<Vec<(u32, u32)>>,
    /// No bucket below has anything.
    lowest: usize,
    /// By slot: the shortest way to its vertex that was found here.
    found: Vec<u32>,
    /// Slots of other processors' vertices for which a shorter way was found.
    shorter: Vec<u32>,
    /// By slot: whether it is one of those.
    is_shorter: Vec<bool>,
    mail: Mail<u32>,
    /// From here on distances may have no room.
    most: u32,
    is_long: bool,
}

impl<'a> Search<'a> {
    fn new(g: &Group, graph: &'a Weighted, source: usize, width: u32) -> Self {
        let slots = graph.slots();
        let mut search = Self {
            graph,
            me: g.rank() as u32,
            width: width.max(1),
            distances: vec![NONE; graph.vertices.here()],
            buckets: Vec::new(),
            lowest: 0,
            found: vec![NONE; slots],
            shorter: Vec::new(),
            is_shorter: vec![false; slots],
            mail: Mail::new(g),
            most: NONE - graph.longest(),
            is_long: false,
        };
        if let Some(place) = graph.vertices.place(source) {
            search.reach(place, 0);
        }
        search
    }

    /// Takes a way to a vertex of this processor.
    #[inline]
    fn reach(&mut self, place: usize, distance: u32) {
        if distance < self.distances[place] {
            self.distances[place] = distance;
            let bucket = (distance / self.width) as usize;
            if bucket >= self.buckets.len() {
                self.buckets.resize_with(bucket + 1, Vec::new);
            }
            self.buckets[bucket].push((place as u32, distance));
            self.lowest = self.lowest.min(bucket);
        }
    }

    /// Follows the edges of all vertices in a few buckets, lower ones first, and of those that come there meanwhile.
    fn empty(&mut self, first: usize) {
        for number in first..first + STEPS {
            while let Some(bucket) =
                self.buckets.get_mut(number).map(std::mem::take).filter(|bucket| !bucket.is_empty())
            {
                for (place, distance) in bucket {
                    if self.distances[place as usize] == distance {
                        self.leave(place as usize, distance);
                    }
                }
            }
        }
    }

    /// Follows the edges of a vertex.
    fn leave(&mut self, place: usize, distance: u32) {
        if distance >= self.most {
            self.is_long = true;
            return;
        }
        let (slots, lengths) = self.graph.rows.row(place);
        for (&slot, &length) in slots.iter().zip(lengths) {
            let way = distance + length;
            if way < self.found[slot as usize] {
                self.found[slot as usize] = way;
                let home = self.graph.home(slot);
                if home.owner == self.me {
                    self.reach(home.place as usize, way);
                } else if !std::mem::replace(&mut self.is_shorter[slot as usize], true) {
                    self.shorter.push(slot);
                }
            }
        }
    }

    /// Tells the owners of vertices what was found, and agrees on what is next. One superstep.
    fn tell(&mut self, g: &mut Group) -> Round {
        while self.buckets.get(self.lowest).is_some_and(Vec::is_empty) {
            self.lowest += 1;
        }
        let mut next = if self.lowest < self.buckets.len() { self.lowest } else { usize::MAX };
        for slot in self.shorter.drain(..) {
            self.is_shorter[slot as usize] = false;
            let way = self.found[slot as usize];
            next = next.min((way / self.width) as usize);
            self.mail.put(self.graph.home(slot), way);
        }
        let is_long = self.is_long;
        let mut mail = std::mem::replace(&mut self.mail, Mail::new(g));
        let (next, is_long) = mail.hand_over_with(
            g,
            |s| (s.reduce(next, Min), s.reduce(is_long, Or)),
            |place, way| self.reach(place, way),
        );
        self.mail = mail;
        match next {
            _ if is_long => Round::Long,
            usize::MAX => Round::Done,
            next => Round::From(next),
        }
    }
}
