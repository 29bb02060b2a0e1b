//! Jacobi's relaxation of a rod that is hot at one end: only neighbours wait for each other.
//!
//! Every processor reads the whole rod by its own places. Before each sweep the two at each border make the elements
//! around it coherent, and nobody else takes part.

fn main() -> superstep::Result {
    const PART: usize = 8;
    const SWEEPS: usize = 2000;

    superstep::run(|world| {
        let (me, size) = (world.rank(), world.size());
        let len = PART * size;
        let rod = world.paged::<f64, 1>([len], [PART]);
        let (first, end) = (PART * me, PART * (me + 1));
        if me == 0 {
            rod.write(0, 100.0);
        }
        for _ in 0..SWEEPS {
            if me > 0 {
                world.cohere(&rod, first - 1..=first, &[me - 1, me]);
            }
            if me + 1 < size {
                world.cohere(&rod, end - 1..=end, &[me, me + 1]);
            }
            let inner = first.max(1)..end.min(len - 1);
            let after: Vec<f64> = inner.clone().map(|i| 0.5 * (rod.read(i - 1) + rod.read(i + 1))).collect();
            for (i, value) in inner.zip(after) {
                rod.write(i, value);
            }
        }
        if me == size - 1 {
            println!("beside the cold end it is {:.3} degrees", rod.read(len - 2));
            assert!((first..end - 1).all(|i| rod.read(i) >= rod.read(i + 1)));
        }
    })
}
