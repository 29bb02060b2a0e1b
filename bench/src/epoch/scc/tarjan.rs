//! Tarjan's algorithm, without recursion.

/// The edges that leave each vertex, one list after another.
pub(super) struct Rows {
    starts: Vec<usize>,
    targets: Vec<usize>,
}

impl Rows {
    pub(super) fn new(vertices: usize, edges: &[(usize, usize)]) -> Self {
        let mut starts = vec![0; vertices + 1];
        for &(from, _) in edges {
            starts[from + 1] += 1;
        }
        for vertex in 0..vertices {
            starts[vertex + 1] += starts[vertex];
        }
        let (mut ends, mut targets) = (starts.clone(), vec![0; edges.len()]);
        for &(from, to) in edges {
            targets[ends[from]] = to;
            ends[from] += 1;
        }
        Self { starts, targets }
    }

    fn vertices(&self) -> usize {
        self.starts.len() - 1
    }
}

const NONE: usize = usize::MAX;

/// A number for each vertex, the same for those of one component, and how many components there are.
pub(super) fn components(graph: &Rows) -> (Vec<usize>, usize) {
    let vertices = graph.vertices();
    let (mut orders, mut lows) = (vec![NONE; vertices], vec![NONE; vertices]);
    let (mut components, mut count) = (vec![NONE; vertices], 0);
    // Vertices without a component, and the way down to the current one with its next edge.
    let (mut open, mut way): (Vec<usize>, Vec<(usize, usize)>) = (Vec::new(), Vec::new());
    let mut order = 0;
    for root in 0..vertices {
        if orders[root] != NONE {
            continue;
        }
        way.push((root, graph.starts[root]));
        while let Some(&mut (vertex, ref mut next)) = way.last_mut() {
            if orders[vertex] == NONE {
                (orders[vertex], lows[vertex]) = (order, order);
                order += 1;
                open.push(vertex);
            }
            if *next < graph.starts[vertex + 1] {
                let to = graph.targets[*next];
                *next += 1;
                if orders[to] == NONE {
                    way.push((to, graph.starts[to]));
                } else if components[to] == NONE {
                    lows[vertex] = lows[vertex].min(orders[to]);
                }
                continue;
            }
            way.pop();
            if let Some(&(above, _)) = way.last() {
                lows[above] = lows[above].min(lows[vertex]);
            }
            if lows[vertex] == orders[vertex] {
                while let Some(member) = open.pop() {
                    components[member] = count;
                    if member == vertex {
                        break;
                    }
                }
                count += 1;
            }
        }
    }
    (components, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_components_and_what_lies_between_them_is_not() {
        // Two cycles of two and three, with a way from the first to the second, and a vertex alone.
        let edges = [(0, 1), (1, 0), (1, 2), (2, 3), (3, 4), (4, 2), (5, 0)];
        let (found, count) = components(&Rows::new(6, &edges));
        assert_eq!(count, 3);
        assert_eq!((found[0] == found[1], found[2] == found[3], found[3] == found[4]), (true, true, true));
        assert!(found[0] != found[2] && found[5] != found[0] && found[5] != found[2]);
    }
}
