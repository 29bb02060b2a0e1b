//! The quicksort of figure 3 of seed 000, beside the same on the API. Tests and measurements share it.

use neststep::neststep;
use superstep::{Array, Block, Each, Group, Sum};

/// The index of the interval that a key belongs to.
fn findloc(key: f32, pivots: &[f32]) -> usize {
    pivots.iter().position(|pivot| key <= *pivot).unwrap_or(pivots.len() - 1)
}

/// Some number that is the same everywhere.
pub(crate) fn rand(seed: usize) -> usize {
    (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33
}

neststep! {
    /// Figure 3 of seed 000, from stage 1 on.
    pub(crate) fn quicksort(sh a: [f32]</>, sh b: [f32]</>) {
        let p = #;
        sh size: [usize; p];
        sh pivs: [f32; p];
        let mut t: Vec<f32> = Vec::new();
        let mut myslice: Vec<Vec<f32>> = vec![Vec::new(); p];
        let mut mysize: Vec<usize> = Vec::new();
        let mut prefsize: Vec<usize> = Vec::new();
        let mut ssize = vec![0; p];
        let myndp = a.local().len();

        step { /*1*/
            let pivi = a.global(rand($) % myndp).unwrap();
            pivs[$] = a[pivi];
        }
        step { /*2*/
            pivs.sort_by(f32::total_cmp);
            for i in 0..p { size[i] = 0; }
            forall (i, a) {
                let j = findloc(a[i], &pivs);
                myslice[j].push(a[i]);
                size[j] += 1;
            }
            mysize = size.to_vec();
        } combine (size[:]<+ ; prefsize[:]>);
        step { /*3*/
            let mut psumsize = 0;
            for i in 0..p {
                b[psumsize + prefsize[i] : psumsize + prefsize[i] + mysize[i] - 1] = myslice[i][0 : mysize[i] - 1];
                ssize[i] = psumsize;
                psumsize += size[i];
            }
            mirror(b[ssize[$] : ssize[$] + size[$] - 1]);
        }
        step { /*4*/
            t = vec![0.0; size[$]];
            t[0 : size[$] - 1] = b[ssize[$] : ssize[$] + size[$] - 1];
        }
        step { /*5*/
            t.sort_by(f32::total_cmp);
            b[ssize[$] : ssize[$] + size[$] - 1] = t[0 : size[$] - 1];
        }
    }
}

/// The same by hand.
pub(crate) fn quicksort_by_hand(g: &mut Group, a: &Array<f32, Block>, b: &Array<f32, Block>) {
    let (p, me) = (g.size(), g.rank());
    let mine = a.local()[rand(me) % a.local().len()];
    let mut pivots = g.step(|s| s.collect(mine));
    pivots.sort_by(f32::total_cmp);
    let mut slices: Vec<Vec<f32>> = vec![Vec::new(); p];
    a.forall(|_, x| slices[findloc(x, &pivots)].push(x));
    let sizes: Vec<usize> = slices.iter().map(Vec::len).collect();
    let (below, sizes) = g.step(|s| (s.prefix(sizes.clone(), Each(Sum)), s.reduce(sizes, Each(Sum))));
    let starts: Vec<usize> = (0..p).map(|i| sizes[..i].iter().sum()).collect();
    let start = starts[me];
    let mut mine = g.step(|s| {
        for (i, slice) in slices.iter().enumerate() {
            let at = starts[i] + below.get(i).copied().unwrap_or(0);
            s.update(b, at..at + slice.len(), slice);
        }
        s.mirror(b, start..start + sizes[me])
    });
    mine.sort_by(f32::total_cmp);
    g.step(|s| s.update(b, start..start + mine.len(), &mine));
}
