//! FT: every thread has some planes and some rows, and reads those of others where they are.

use super::{Member, read, team, write};
use crate::{Sample, contenders::huge};
use std::sync::RwLock;
use superstep_programs::nas::{Class, Value, cube::Cube, fft::Complex, ft};

/// By thread: its planes, or its rows of all planes; whole slabs, one after another.
type Slabs = [RwLock<Vec<Complex>>];

pub(crate) fn run(class: Class, threads: usize) -> Sample {
    let (extents, iterations) = ft::size(class);
    let [columns, rows, planes] = extents;
    let [by_plane, by_row] = [(); 2].map(|()| (0..threads).map(|_| RwLock::default()).collect::<Vec<_>>());
    team(threads, |member| {
        let (my_rows, my_planes) = (member.share(rows).len(), member.share(planes).len());
        *write(&by_plane[member.rank]) = huge::zeroed(my_planes * rows * columns);
        *write(&by_row[member.rank]) = huge::zeroed(my_rows * planes * columns);
        let mut work =
            Work { member, cube: Cube::new(extents), extents, there: huge::zeroed(my_rows * planes * columns) };
        // Once without a clock, as the suite does.
        work.begin(&by_plane);
        work.look(1, &by_row);
        let (seconds, sums) = member.timed(|| {
            work.begin(&by_plane);
            (1..=iterations).map(|time| work.look(time, &by_row)).collect::<Vec<_>>()
        });
        (seconds, ft::values(class, &sums).iter().all(Value::is_right))
    })
}

struct Work<'a> {
    member: &'a Member<'a>,
    cube: Cube,
    extents: [usize; 3],
    /// Transformed: this thread's rows of all planes.
    there: Vec<Complex>,
}

impl Work<'_> {
    fn begin(&mut self, by_plane: &Slabs) {
        let [columns, rows, planes] = self.extents;
        let mine = self.member.share(planes);
        for (slab, plane) in write(&by_plane[self.member.rank]).chunks_exact_mut(columns * rows).zip(mine) {
            self.cube.begin(plane, slab);
        }
        self.member.meet();
        for (slab, row) in self.there.chunks_exact_mut(columns * planes).zip(self.member.share(rows)) {
            turned(by_plane, columns, (row, rows), slab);
            self.cube.across(slab);
        }
    }

    fn look(&mut self, time: usize, by_row: &Slabs) -> Complex {
        let [columns, rows, planes] = self.extents;
        self.cube.go_to(time);
        let len = columns * planes;
        let mut mine = write(&by_row[self.member.rank]);
        let slabs = mine.chunks_exact_mut(len).zip(self.there.chunks_exact(len));
        for ((slab, there), row) in slabs.zip(self.member.share(rows)) {
            slab.copy_from_slice(there);
            self.cube.back_across(row, slab);
        }
        drop(mine);
        self.member.meet();
        let (mut slab, mut sum) = (self.cube.plane_slab(), [0.0; 2]);
        for plane in self.member.share(planes) {
            turned(by_row, columns, (plane, planes), &mut slab);
            self.cube.back(&mut slab);
            let mine = self.cube.checksum(plane, &slab);
            sum = [sum[0] + mine[0], sum[1] + mine[1]];
        }
        sum.map(|sum| self.member.sum(sum))
    }
}

/// Puts together the rows of this number out of all slabs, which have `count` each.
fn turned(slabs: &Slabs, columns: usize, (number, count): (usize, usize), into: &mut [Complex]) {
    let mut into = into.chunks_exact_mut(columns);
    for part in slabs {
        // The part ends first, and takes nothing of the next one's room with it.
        for (from, to) in read(part).chunks_exact(columns).skip(number).step_by(count).zip(into.by_ref()) {
            to.copy_from_slice(from);
        }
    }
}
