//! Checkpoints: what was saved comes back, on any number of processors, and what does not fit is refused by name.

use crate::{
    arrays::{fill, uneven},
    check, everywhere, failing,
    files::{Folder, is_refused},
    is_everybodys, on_sizes,
};
use std::{collections::BTreeMap, path::Path};
use superstep::{
    Area, Array, Block, Cyclic, ErrorKind, Group, Irregular, Leader, Paged, Shared, Sum, Tiles, Weighted,
    containers::{Graph, HashMap, Vector},
    files::{Checkpoint, Each, One},
};

/// One of everything that can be laid out anew.
struct Things {
    blocks: Array<f64, Block>,
    dealt: Array<u16, Cyclic<2>, 2>,
    uneven: Array<u32, Irregular>,
    tiles: Array<i64, Tiles<2>, 2>,
    paged: Paged<u64, 2>,
    total: Shared<Vec<f32>>,
    list: Vector<String>,
    table: HashMap<String, u64>,
    graph: Graph<u8, f32>,
    done: One<(usize, String)>,
}

impl Things {
    fn new(g: &mut Group) -> Self {
        let uneven = uneven(50, g.size());
        Self {
            blocks: g.array(33),
            dealt: g.array_with([5, 7], Cyclic),
            uneven: g.array_with([50], uneven),
            tiles: g.array_with([6, 9], Tiles([2, 4])),
            paged: g.paged([9, 8], [2, 3]),
            total: g.shared(Vec::new(), Leader),
            list: g.vector(3, |_| String::new()),
            table: g.hash_map(),
            graph: g.graph(11, |_| 0),
            done: One::new((0, String::new())),
        }
    }

    fn name<'a>(&'a self, saved: &mut Checkpoint<'a>) {
        saved.add("blocks", &self.blocks);
        saved.add("dealt", &self.dealt);
        saved.add("un/even", &self.uneven);
        saved.add("tiles", &self.tiles);
        saved.add("paged", &self.paged);
        saved.add("total", &self.total);
        saved.add("list", &self.list);
        saved.add("table", &self.table);
        saved.add("graph", &self.graph);
        saved.add("done", &self.done);
    }

    /// Gives everything values that this number decides.
    fn set(&self, g: &mut Group, x: usize) {
        fill(&self.blocks, |i| (i * x) as f64 + 0.5);
        fill(&self.dealt, |i| (i + x) as u16);
        fill(&self.uneven, |i| (i * i + x) as u32);
        fill(&self.tiles, |i| i as i64 - x as i64);
        for at in self.paged.indices() {
            self.paged.write(at, (at[0] * 100 + at[1] + x) as u64);
        }
        g.step(|_| self.total.set(vec![x as f32, 0.25]));
        self.list.resize(g, 5 * x, String::new());
        self.list.forall_mut(|i, text| *text = format!("{i} of {x}"));
        self.table.clear();
        g.step(|_| ());
        g.epoch(|e| {
            for key in (0..7 * x).filter(|key| key % e.size() == e.rank()) {
                self.table.insert(e, format!("key {key}"), (key * x) as u64);
            }
        });
        self.graph.forall_mut(|v, vertex| {
            vertex.value = (v * x) as u8;
            vertex.edges_mut().clear();
        });
        g.step(|_| ());
        g.epoch(|e| {
            if e.rank() == 0 {
                (0..3 * x).for_each(|k| self.graph.add_edge(e, k % 11, (k * x) % 11, k as f32));
            }
        });
        self.done.set((x, format!("rank {} at {x}", g.rank())));
    }

    /// All of it, the same on every processor.
    fn told(&self, g: &mut Group) -> String {
        let arrays = g.step(|s| {
            (
                s.mirror(&self.blocks, ..),
                s.mirror(&self.dealt, (.., ..)),
                s.mirror(&self.uneven, ..),
                s.mirror(&self.tiles, (.., ..)),
            )
        });
        let mine: Vec<([usize; 2], u64)> = self.paged.indices().map(|at| (at, self.paged.read(at))).collect();
        let list = self.list.with(|values| values.to_vec());
        let (mut table, mut graph) = (Vec::new(), Vec::new());
        self.table.forall_mut(|key, value| table.push((key.clone(), *value)));
        self.graph.forall_mut(|v, vertex| {
            let edges: Vec<(usize, f32)> = vertex.edges().iter().map(|edge| (edge.to, edge.value)).collect();
            graph.push((v, vertex.value, edges));
        });
        let all = g.step(|s| (s.collect(mine), s.collect(list), s.collect(table), s.collect(graph)));
        let paged: BTreeMap<[usize; 2], u64> = all.0.concat().into_iter().collect();
        let table: BTreeMap<String, u64> = all.2.concat().into_iter().collect();
        let done = g.step(|s| s.broadcast(0, s.rank().eq(&0).then(|| self.done.get())));
        format!(
            "{arrays:?} {paged:?} {:?} {table:?} {:?} {:?} {done:?}",
            all.1.concat(),
            all.3.concat(),
            self.total.get()
        )
    }
}

/// Issue 20: everything that was saved comes back, to the last bit, where it was.
#[test]
fn everything_comes_back_as_it_was() {
    everywhere(|g| {
        let (folder, things) = (Folder::new(g), Things::new(g));
        let mut saved = g.checkpoint(&folder.path).unwrap();
        things.name(&mut saved);
        assert!(!saved.restore(g).unwrap());
        things.set(g, 3);
        let told = things.told(g);
        saved.save(g).unwrap();
        things.set(g, 4);
        let later = things.told(g);
        assert_ne!(told, later);
        saved.save(g).unwrap();
        things.set(g, 2);
        assert!(saved.restore(g).unwrap());
        assert_eq!((things.told(g), saved.generation()), (later, Some(2)));
        assert_eq!(things.done.get().1, "rank 0 at 4");
        folder.remove(g);
    });
}

/// What each processor has for itself comes back to it: areas, values, what was pushed, and how a vector lay.
#[test]
fn what_each_processor_has_comes_back_to_it() {
    everywhere(|g| {
        let (folder, me) = (Folder::new(g), g.rank());
        let (area, mine, list): (Area<u16>, _, _) = (g.area(2 * me), Each::new(vec![me; me]), g.vector(0, |_| 0));
        (0..me).for_each(|x| list.push(x));
        list.settle(g);
        list.push(100 + me);
        area.local_mut().fill(me as u16);
        let mut saved = g.checkpoint(&folder.path).unwrap();
        saved.add("area", &area);
        saved.add("mine", &mine);
        saved.add("list", &list);
        saved.save(g).unwrap();
        area.local_mut().fill(99);
        mine.set(Vec::new());
        list.settle(g);
        list.balance(g);
        assert!(saved.restore(g).unwrap());
        assert_eq!((area.local().to_vec(), mine.get()), (vec![me as u16; 2 * me], vec![me; me]));
        assert_eq!(list.with(|values| values.to_vec()), (0..me).collect::<Vec<_>>());
        list.settle(g);
        assert_eq!(list.with(|values| values.last().copied()), Some(100 + me));
        folder.remove(g);
    });
}

/// Runs `first` on all members as subgroup 0, and then `second` on the first member alone in a subgroup of that number;
/// or the other way round.
fn on_two_sizes(g: &mut Group, is_growing: bool, first: impl Fn(&mut Group), second: impl Fn(&mut Group)) {
    let p = g.size();
    let few = |g: &mut Group, body: &dyn Fn(&mut Group)| {
        g.split(Weighted(&[1.0, (p - 1) as f64]), |sub| {
            if sub.id() == 0 {
                body(sub);
            }
        })
        .unwrap();
    };
    let many = |g: &mut Group, body: &dyn Fn(&mut Group)| g.split(1, |sub| body(sub)).unwrap();
    if is_growing {
        few(g, &first);
        many(g, &second);
    } else {
        many(g, &first);
        few(g, &second);
    }
}

/// Issue 20: restart on another number of processors.
#[test]
fn what_many_have_saved_few_take_and_the_other_way_round() {
    on_sizes(&[2, 3, 5, 8], |g| {
        for is_growing in [false, true] {
            let folder = Folder::new(g);
            let save = |sub: &mut Group| {
                let things = Things::new(sub);
                let mut saved = sub.checkpoint(&folder.path).unwrap();
                things.name(&mut saved);
                things.set(sub, 3);
                saved.save(sub).unwrap();
            };
            let restore = |sub: &mut Group| {
                let (things, expected) = (Things::new(sub), Things::new(sub));
                let mut saved = sub.checkpoint(&folder.path).unwrap();
                things.name(&mut saved);
                assert!(saved.restore(sub).unwrap());
                expected.set(sub, 3);
                assert_eq!(things.told(sub), expected.told(sub));
            };
            on_two_sizes(g, is_growing, save, restore);
            folder.remove(g);
        }
    });
}

/// Issue 20: what only its own processor can take is refused on another number of them, with a hint.
#[test]
fn values_of_each_processor_are_refused_on_another_number() {
    on_sizes(&[2, 3, 5], |g| {
        let folder = Folder::new(g);
        let save = |sub: &mut Group| {
            let mine = Each::new(sub.rank());
            let mut saved = sub.checkpoint(&folder.path).unwrap();
            saved.add("mine", &mine);
            saved.save(sub).unwrap();
        };
        let restore = |sub: &mut Group| {
            let mine = Each::new(7usize);
            let mut saved = sub.checkpoint(&folder.path).unwrap();
            saved.add("mine", &mine);
            let outcome = saved.restore(sub);
            is_refused(sub, outcome, &["`mine` is of each of", "start as many again, or keep in an array"]);
            assert_eq!(mine.get(), 7);
        };
        on_two_sizes(g, false, save, restore);
        folder.remove(g);
    });
}

/// Issue 20: a subgroup saves under its path.
#[test]
fn every_subgroup_has_its_own_checkpoint() {
    on_sizes(&[2, 3, 4, 7], |g| {
        let folder = Folder::new(g);
        let run = |g: &mut Group, is_there: bool| {
            g.split(2, |sub| {
                let (a, id) = (sub.array::<usize, Cyclic>(20), sub.id());
                let mut saved = sub.checkpoint(&folder.path).unwrap();
                saved.add("a", &a);
                assert_eq!(saved.restore(sub).unwrap(), is_there);
                if is_there {
                    assert_eq!(sub.step(|s| s.mirror(&a, ..)), (0..20).map(|i| i + id).collect::<Vec<_>>());
                }
                fill(&a, |i| i + id);
                saved.save(sub).unwrap();
            });
        };
        run(g, false);
        run(g, true);
        let names =
            g.leader(|| ["group-0", "group-1"].map(|name| folder.path.join(name).join("generation-000002").is_dir()));
        assert!(names.is_none_or(|there| there == [true, true]));
        folder.remove(g);
    });
}

/// Issue 20: what does not fit is refused by name, the same for all, and nothing is taken.
#[test]
fn what_does_not_fit_is_refused_by_name() {
    everywhere(|g| {
        let folder = Folder::new(g);
        let (a, b) = (g.array::<f64, Block>(8), g.array::<f64, Block>(9));
        let (small, paged) = (g.array::<f32, Block>(8), g.paged::<f64, 1>([8], [2]));
        fill(&a, |_| 1.0);
        let mut saved = g.checkpoint(&folder.path).unwrap();
        saved.add("a", &a);
        saved.save(g).unwrap();
        fill(&a, |_| 2.0);
        let mut refused = |parts: &[(&str, &dyn superstep::files::Save)], says: &str| {
            let mut other = g.checkpoint(&folder.path).unwrap();
            for (name, part) in parts {
                other.add(name, *part);
            }
            let outcome = other.restore(g);
            is_refused(g, outcome, &["generation-000001: ", says]);
        };
        refused(&[("b", &a)], "`b` is asked for, and `a` was saved in its place");
        refused(&[("a", &a), ("b", &b)], "`b` is asked for, and nothing was saved in its place");
        refused(&[], "`a` was saved, and nobody asks for it");
        refused(&[("a", &b)], "`a` was saved with shape [8], and has [9] now");
        refused(&[("a", &small)], "`a` was saved as an array of f64, and an array of f32 is asked for");
        refused(&[("a", &paged)], "`a` was saved as an array of f64, and a paged array of f64 is asked for");
        assert!(a.local().iter().all(|x| x.to_bits() == 2.0f64.to_bits()));
        folder.remove(g);
    });
}

/// A checkpoint, and what it keeps, belong to one group.
#[test]
fn what_another_group_has_made_is_refused() {
    everywhere(|g| {
        let folder = Folder::new(g);
        let a = g.array::<u8, Block>(8);
        let mut outer = g.checkpoint(&folder.path).unwrap();
        g.split(1, |sub| {
            let error = outer.save(sub).unwrap_err();
            check(&error, ErrorKind::NotMember, &["this checkpoint belongs to group 0;"]);
            let mut saved = sub.checkpoint(&folder.path).unwrap();
            saved.add("a", &a);
            let error = saved.save(sub).unwrap_err();
            check(&error, ErrorKind::NotMember, &["this array belongs to group 0;"]);
            sub.step(|_| ());
        });
        outer.save(g).unwrap();
        folder.remove(g);
    });
}

/// Two generations are kept, and one that is damaged does not count.
#[test]
fn two_generations_are_kept() {
    everywhere(|g| {
        let (folder, x) = (Folder::new(g), One::new(0));
        let mut saved = g.checkpoint(&folder.path).unwrap();
        saved.add("x", &x);
        for round in 1..5 {
            x.set(round);
            saved.save(g).unwrap();
        }
        assert_eq!(generations(g, &folder.path), ["generation-000003", "generation-000004"]);
        damage(g, &folder.path.join("generation-000004/0-x"));
        assert!(saved.restore(g).unwrap());
        assert_eq!((x.get(), saved.generation(), saved.damaged().len()), (3, Some(3), 1));
        assert!(saved.damaged()[0].1.contains("0-x is not as it was written"), "{:?}", saved.damaged());
        saved.save(g).unwrap();
        assert_eq!(generations(g, &folder.path), ["generation-000003", "generation-000005"]);
        for number in [3, 5] {
            damage(g, &folder.path.join(format!("generation-00000{number}/manifest.json")));
        }
        let outcome = saved.restore(g);
        is_refused(g, outcome, &["no generation in", "is whole; of generation 5 its manifest"]);
        folder.remove(g);
    });
}

/// Flips a bit of a file's last byte.
fn damage(g: &mut Group, path: &Path) {
    g.leader(|| {
        let mut bytes = std::fs::read(path).unwrap();
        *bytes.last_mut().unwrap() ^= 4;
        std::fs::write(path, bytes).unwrap();
    });
    g.step(|_| ());
}

/// The names of the generations that are there, by number.
fn generations(g: &mut Group, path: &Path) -> Vec<String> {
    let mine = g.leader(|| {
        let entries = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = entries.collect();
        names.sort();
        names
    });
    g.step(|s| s.broadcast(0, mine))
}

/// Issue 20: the copy is taken at the call, and the program goes on while it is written.
#[test]
fn what_is_saved_behind_the_program_is_what_it_was() {
    everywhere(|g| {
        let folder = Folder::new(g);
        let a = g.array::<usize, Cyclic>(100);
        let mut saved = g.checkpoint(&folder.path).unwrap();
        saved.add("a", &a);
        for round in 1..4 {
            fill(&a, |i| i * round);
            // This waits for the one before.
            saved.start(g).unwrap();
            fill(&a, |_| 0);
            assert!(!saved.turn(g).unwrap());
        }
        saved.finish(g).unwrap();
        assert_eq!(saved.generation(), Some(3));
        assert!(saved.restore(g).unwrap());
        assert_eq!(g.step(|s| s.mirror(&a, ..)), (0..100).map(|i| 3 * i).collect::<Vec<_>>());
        folder.remove(g);
    });
}

/// A checkpoint of every format that there has been is read, by any number of processors.
#[test]
fn checkpoints_of_old_formats_are_read() {
    everywhere(|g| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/formats/1");
        let things = Things::new(g);
        let mut saved = g.checkpoint(path).unwrap();
        things.name(&mut saved);
        assert!(saved.restore(g).unwrap());
        let expected = Things::new(g);
        expected.set(g, 2);
        assert_eq!(things.told(g), expected.told(g));
        assert_eq!(g.step(|s| s.reduce(1, Sum)), g.size());
    });
}

/// Writes the checkpoint that [`checkpoints_of_old_formats_are_read`] reads, for a new format.
#[test]
#[ignore = "writes a file of the tests"]
fn write_a_checkpoint_of_this_format() {
    let path = std::env::temp_dir().join("superstep-format");
    superstep::Config::new()
        .procs(3)
        .run(|g| {
            let things = Things::new(g);
            let mut saved = g.checkpoint(&path)?;
            things.name(&mut saved);
            things.set(g, 2);
            saved.save(g)
        })
        .unwrap();
    println!("{}", path.display());
}

/// Misuse: the error of the second `add` ends the run, as every refusal does.
#[test]
fn a_name_that_is_given_twice_is_refused() {
    let named = |g: &mut Group| {
        let (folder, x) = (Folder::new(g), One::new(0));
        let mut saved = g.checkpoint(&folder.path).unwrap();
        folder.remove(g);
        saved.add("x", &x);
        saved.add("x", &x);
    };
    failing(&[1, 2, 3], named, |_, error| {
        check(&error, ErrorKind::BadConfig, &["two things of a checkpoint are called `x`", "checkpoints.rs"]);
    });
}

/// Members that name different things get one error, and do not hang.
#[test]
fn members_that_name_different_things_are_told() {
    on_sizes(&[2, 3, 4], |g| {
        let (folder, x) = (Folder::new(g), One::new(0));
        let mut saved = g.checkpoint(&folder.path).unwrap();
        saved.add(if g.is_leader() { "x" } else { "y" }, &x);
        let error = saved.save(g).unwrap_err();
        check(&error, ErrorKind::DeclMismatch, &["of a checkpoint"]);
        is_everybodys(g, &error);
        folder.remove(g);
    });
}
