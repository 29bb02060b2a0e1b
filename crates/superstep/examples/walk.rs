//! A walk over a graph that sends itself on: how far each vertex is from the first.
//!
//! Vertex v belongs to processor v modulo p, and leads to 2v + 1, 3v + 1 and v / 2. Nobody knows how long the walk is;
//! the epoch ends when no visit is under way anywhere.

use superstep::{Epoch, Handle};

const VERTICES: usize = 1000;

/// The vertices of one processor, each with its distance.
struct Part {
    distances: Vec<u32>,
}

fn next(vertex: usize) -> [usize; 3] {
    [(2 * vertex + 1) % VERTICES, (3 * vertex + 1) % VERTICES, vertex / 2]
}

/// Comes to a vertex, and goes on if no shorter way was known.
fn visit(part: &mut Part, e: &Epoch, (graph, vertex, distance): (Handle<Part>, usize, u32)) {
    let known = &mut part.distances[vertex / e.size()];
    if *known <= distance {
        return;
    }
    *known = distance;
    for to in next(vertex) {
        e.send(to % e.size(), &graph, (graph, to, distance + 1), visit);
    }
}

fn main() -> superstep::Result {
    superstep::run(|world| {
        let (me, size) = (world.rank(), world.size());
        let part = world.object(Part { distances: vec![u32::MAX; VERTICES.div_ceil(size)] });
        world.epoch(|e| {
            if me == 0 {
                e.send(0, &part, (part.handle(), 0, 0), visit);
            }
        });
        let mine: Vec<u32> = part.with(|part| part.distances.clone());
        let all = world.step(|s| s.collect_slice(&mine));
        world.leader(|| {
            let distance = |vertex: usize| all[vertex % size][vertex / size];
            let farthest = (0..VERTICES).map(distance).filter(|&distance| distance < u32::MAX).max();
            println!("the farthest vertex is {} steps away", farthest.unwrap_or(0));
            for vertex in (0..VERTICES).filter(|&vertex| distance(vertex) < u32::MAX) {
                assert!(next(vertex).into_iter().all(|to| distance(to) <= distance(vertex) + 1));
            }
        });
    })
}
