#![doc = include_str!("../../docs/sssp.md")]

use super::{
    graph::{NONE, Weighted},
    mail::Mail,
};
use crate::Trouble;
use superstep::{Group, Min, Or};

/// How wide buckets are where nobody says it: so that a vertex has a few edges that stay within its bucket.
///
/// ```
/// use superstep::Config;
/// use superstep_programs::gap::{Weighted, sssp};
///
/// let width = Config::new().procs(2).run(|g| sssp::width(&Weighted::new(g, 2, &[(0, 1, 100), (1, 0, 200)])));
/// assert_eq!(width.unwrap(), 400);
/// ```
pub fn width(graph: &Weighted) -> u32 {
    let degree = graph.edges().div_ceil(graph.vertices().max(1)).max(1);
    (2 * u64::from(graph.longest()) / degree as u64).clamp(1, u64::from(NONE)) as u32
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
    let mut search = Search::new(g, graph, source, width.max(1));
    loop {
        let next = search.buckets.iter().position(|bucket| !bucket.is_empty()).unwrap_or(usize::MAX);
        let is_long = search.is_long;
        let (next, is_long) = g.step(|s| (s.reduce(next, Min), s.reduce(is_long, Or)));
        if is_long {
            return Err(Trouble::from("a distance has no room in 32 bits; give shorter edges"));
        }
        if next == usize::MAX {
            return Ok(search.distances);
        }
        search.empty(next);
        search.tell(g);
    }
}

/// A search under way.
struct Search<'a> {
    graph: &'a Weighted,
    me: u32,
    width: u32,
    /// By place.
    distances: Vec<u32>,
    /// Places by distance; some are there twice, and count where their distance is.
    buckets: Vec<Vec<u32>>,
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
            width,
            distances: vec![NONE; graph.vertices.here()],
            buckets: Vec::new(),
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
            self.buckets[bucket].push(place as u32);
        }
    }

    /// Follows the edges of all vertices in a bucket, and of those that come into it meanwhile.
    fn empty(&mut self, number: usize) {
        let graph = self.graph;
        while let Some(mut bucket) =
            self.buckets.get_mut(number).map(std::mem::take).filter(|bucket| !bucket.is_empty())
        {
            for place in bucket.drain(..) {
                let distance = self.distances[place as usize];
                if (distance / self.width) as usize != number {
                    continue;
                }
                if distance >= self.most {
                    self.is_long = true;
                    return;
                }
                let (slots, lengths) = graph.rows.row(place as usize);
                for (&slot, &length) in slots.iter().zip(lengths) {
                    let way = distance + length;
                    if way < self.found[slot as usize] {
                        self.found[slot as usize] = way;
                        self.follow(slot, way);
                    }
                }
            }
        }
    }

    /// A shorter way to the vertex of a slot.
    #[inline]
    fn follow(&mut self, slot: u32, way: u32) {
        let home = self.graph.home(slot);
        if home.owner == self.me {
            self.reach(home.place as usize, way);
        } else if !std::mem::replace(&mut self.is_shorter[slot as usize], true) {
            self.shorter.push(slot);
        }
    }

    /// Tells the owners of vertices what was found. One superstep.
    fn tell(&mut self, g: &mut Group) {
        for slot in self.shorter.drain(..) {
            self.is_shorter[slot as usize] = false;
            self.mail.put(self.graph.home(slot), self.found[slot as usize]);
        }
        let mut mail = std::mem::replace(&mut self.mail, Mail::new(g));
        mail.hand_over(g, |place, way| self.reach(place, way));
        self.mail = mail;
    }
}
