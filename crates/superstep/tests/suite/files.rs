//! Files: what is read is what is there, on any number of processors, and what goes wrong is one error for all.

use crate::{
    arrays::{fill, uneven},
    check, everywhere, is_everybodys, on_sizes,
};
use std::{fs, path::PathBuf};
use superstep::{
    Array, Block, BlockCyclic, Cyclic, Distribution, Error, ErrorKind, Group, Min, Sum, Tiles,
    files::{Fault, Number, plan_fault},
};

/// A folder of this claim's own, which all members know, and which the leader removes.
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    is_leader: bool,
}

impl Folder {
    pub(crate) fn new(g: &mut Group) -> Self {
        let mine = g.is_leader().then(|| {
            let number = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
            let id = format!("{}-{:?}-{number}", std::process::id(), std::thread::current().id());
            let path = std::env::temp_dir().join(format!("superstep-files-{}", id.replace(['(', ')'], "")));
            fs::create_dir(&path).unwrap();
            path
        });
        let path = g.step(|s| s.broadcast(0, mine));
        Self { path, is_leader: g.is_leader() }
    }

    /// Lets the leader write a file.
    pub(crate) fn put(&self, g: &mut Group, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path.join(name);
        if self.is_leader {
            fs::write(&path, bytes).unwrap();
        }
        g.step(|_| ());
        path
    }

    /// The names of what is there, as the leader finds them.
    pub(crate) fn names(&self, g: &mut Group) -> Vec<String> {
        let mine = self.is_leader.then(|| {
            let entries = fs::read_dir(&self.path).unwrap();
            let mut names: Vec<String> =
                entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        });
        g.step(|s| s.broadcast(0, mine))
    }

    pub(crate) fn remove(self, g: &mut Group) {
        g.step(|_| ());
        if self.is_leader {
            fs::remove_dir_all(&self.path).unwrap();
        }
    }
}

#[track_caller]
pub(crate) fn is_refused<T>(g: &mut Group, outcome: superstep::Result<T>, says: &[&str]) {
    let error: Error = outcome.err().expect("it is refused");
    check(&error, ErrorKind::File, says);
    is_everybodys(g, &error);
}

pub(crate) fn in_and_out<T: Number + PartialEq + std::fmt::Debug, D: Distribution, E: Distribution, const N: usize>(
    g: &mut Group,
    folder: &Folder,
    (shape, d, e): ([usize; N], D, E),
    value: impl Fn(usize) -> T,
) {
    let (npy, raw) = (folder.path.join("a.npy"), folder.path.join("a.raw"));
    let a: Array<T, D, N> = g.array_with(shape, d);
    fill(&a, &value);
    g.write_npy(&npy, &a).unwrap();
    g.write_raw(&raw, &a).unwrap();
    assert_eq!(folder.names(g), ["a.npy", "a.raw"]);
    let len = fs::metadata(&raw).unwrap().len();
    assert_eq!(len, (a.len() * size_of::<T>()) as u64);
    let b = g.read_npy_with::<T, E, N>(&npy, e.clone()).unwrap();
    let c: Array<T, E, N> = g.array_with(shape, e);
    g.load_raw(&raw, &c).unwrap();
    for array in [&b, &c] {
        assert_eq!(array.shape(), shape);
        for (offset, found) in array.local().iter().enumerate() {
            assert!(array.global(offset).is_none_or(|index| value(index) == *found));
        }
    }
    g.step(|_| ());
}

#[test]
fn an_array_is_read_as_it_was_written_in_any_distribution() {
    everywhere(|g| {
        let (folder, p) = (Folder::new(g), g.size());
        in_and_out(g, &folder, ([23], Block::new(), Cyclic::new()), |i| i as f64 / 3.0);
        in_and_out(g, &folder, ([23], uneven(23, p), BlockCyclic::new(2)), |i| i as i8);
        in_and_out(g, &folder, ([7, 5], Cyclic::<1>, uneven(7, p)), |i| i as u32);
        in_and_out(g, &folder, ([6, 4], Tiles([2, 2]), Block::<2>), |i| [i as f32, -1.0]);
        in_and_out(g, &folder, ([3, 2, 2, 1, 2], Block::<3>, Block::<1>), |i| i as u16);
        in_and_out(g, &folder, ([0], Block::new(), Block::new()), |i| i as u64);
        // Long enough to be read piece by piece, and to be laid out anew.
        in_and_out(g, &folder, ([70_000], Cyclic::new(), BlockCyclic::new(30_000)), |i| i as u64);
        folder.remove(g);
    });
}

#[test]
fn numbers_whose_highest_byte_comes_first_are_turned() {
    everywhere(|g| {
        let folder = Folder::new(g);
        let mut bytes =
            b"\x93NUMPY\x01\x00\x3b\x00{'descr': '>i2', 'fortran_order': False, 'shape': (3,)}\n     ".to_vec();
        bytes[8] = (bytes.len() - 10) as u8;
        bytes.extend([0, 1, 1, 0, 255, 254]);
        let path = folder.put(g, "big.npy", bytes);
        let a = g.read_npy::<i16, Block, 1>(&path).unwrap();
        assert_eq!(g.step(|s| s.mirror(&a, ..)), [1, 256, -2]);
        folder.remove(g);
    });
}

#[test]
fn files_of_arrays_that_do_not_fit_are_refused_by_name() {
    everywhere(|g| {
        let folder = Folder::new(g);
        let a = g.array::<f64, Block>(10);
        let path = folder.path.join("a.npy");
        g.write_npy(&path, &a).unwrap();
        let text = path.display().to_string();
        let none = folder.path.join("none.npy");
        let outcome = g.read_npy::<f64, Block, 1>(&none);
        is_refused(g, outcome, &["none.npy cannot be read: No such file"]);
        let outcome = g.read_npy::<f32, Block, 1>(&path);
        is_refused(g, outcome, &[&text, "elements of type f64, and f32 was asked for"]);
        let outcome = g.read_npy::<f64, Block, 2>(&path);
        is_refused(g, outcome, &[&text, "shape [10], and one of 2 dimensions was asked for"]);
        let b = g.array::<f64, Cyclic>(11);
        let outcome = g.load_npy(&path, &b);
        is_refused(g, outcome, &[&text, "one of [11] was asked for"]);
        let outcome = g.read_raw::<[u8; 7], Block>(&path);
        is_refused(g, outcome, &[&text, "208 bytes, and elements have 7 each"]);
        let outcome = g.load_raw(&path, &b);
        is_refused(g, outcome, &[&text, "has 26 elements, and the array 11"]);
        let outcome = g.read_npy::<f64, Block, 1>(&folder.path);
        is_refused(g, outcome, &["it is a folder"]);
        let outcome = g.write_npy(&folder.path, &a);
        is_refused(g, outcome, &["cannot be written: it is a folder"]);
        let outcome = g.write_raw("", &a);
        is_refused(g, outcome, &["cannot be written: its name is empty"]);
        let outcome = g.write_raw(folder.path.join("no/where"), &a);
        is_refused(g, outcome, &["where cannot be written: No such file"]);
        let text_file = folder.put(g, "text.npy", "hello, world");
        let outcome = g.read_npy::<f64, Block, 1>(&text_file);
        is_refused(g, outcome, &["is no .npy file"]);
        let mut cut = fs::read(&path).unwrap();
        g.step(|_| ());
        cut.truncate(150);
        let cut = folder.put(g, "cut.npy", cut);
        let outcome = g.read_npy::<f64, Block, 1>(&cut);
        is_refused(g, outcome, &["has 150 bytes, and 208 by its header"]);
        assert_eq!(folder.names(g), ["a.npy", "cut.npy", "text.npy"]);
        folder.remove(g);
    });
}

/// Each call of the system fails in turn, on the last member: the file is the old one or the new one, and nothing else.
#[test]
fn a_write_that_fails_leaves_the_old_file_or_the_new_one() {
    everywhere(|g| {
        let folder = Folder::new(g);
        let (a, path, p) = (g.array::<u8, Block>(64), folder.path.join("a.raw"), g.size());
        // Every kind of fault on some number of processors, and two of them on each.
        for fault in [[Fault::NoSpace, Fault::Short], [Fault::Broken, Fault::Interrupted]][p % 2] {
            for victim in [0, p - 1] {
                let mut failed = 0;
                for call in 0.. {
                    fill(&a, |_| 1);
                    g.write_raw(&path, &a).unwrap();
                    fill(&a, |_| 2);
                    plan_fault((g.rank() == victim).then_some((call, fault)));
                    let outcome = g.write_raw(&path, &a);
                    let calls = plan_fault(None);
                    let calls = g.step(|s| s.collect(calls))[victim];
                    let found = fs::read(&path).unwrap();
                    g.step(|_| ());
                    match &outcome {
                        Ok(()) => assert_eq!(found, [2; 64]),
                        Err(error) => {
                            check(error, ErrorKind::File, &["a.raw cannot be written: "]);
                            is_everybodys(g, error);
                            // What fails behind the rename does not take the file back.
                            assert!(found == [1; 64] || found == [2; 64], "{found:?}");
                            failed += 1;
                        }
                    }
                    assert_eq!(folder.names(g), ["a.raw"]);
                    if call > calls {
                        break;
                    }
                }
                let is_harmless = matches!(fault, Fault::Short | Fault::Interrupted);
                assert_eq!(failed == 0, is_harmless, "{fault:?} on rank {victim}: {failed} failed");
            }
        }
        folder.remove(g);
    });
}

/// Lines as plain code finds them.
fn plain(text: &[u8]) -> Vec<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = text.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    if lines.last().is_some_and(Vec::is_empty) {
        lines.pop();
    }
    lines
}

#[test]
fn every_line_is_on_one_processor_in_the_order_of_the_file() {
    everywhere(|g| {
        let folder = Folder::new(g);
        let long = [b"x".repeat(700_000), b"\ny\n".to_vec()].concat();
        let texts: [&[u8]; 10] = [
            b"",
            b"\n",
            b"one",
            b"one\n",
            b"a\n\n\nb",
            b"\n\n\n\n\n\n\n",
            b"\xff\xfe\x00\r\n\x80\n",
            b"a rather long line, which lies over the shares of several processors\nb\n",
            b"1\n22\n333\n4444\n55555\n666666\n7777777\n88888888\n999999999\n",
            &long,
        ];
        for text in texts {
            let path = folder.put(g, "text", text);
            let lines = g.read_lines(&path).unwrap();
            let mine: Vec<Vec<u8>> = lines.iter().map(<[u8]>::to_vec).collect();
            let mut visited = Vec::new();
            let count = g.each_line(&path, |line| {
                visited.push(line.to_vec());
                Ok::<_, String>(())
            });
            assert_eq!((count.unwrap(), &visited), (plain(text).len() as u64, &mine));
            let first = lines.first_number() as usize - 1;
            assert_eq!(mine[..], plain(text)[first..first + mine.len()]);
            let all = g.step(|s| s.collect(mine)).concat();
            assert!(all == plain(text));
        }
        folder.remove(g);
    });
}

#[test]
fn the_first_line_that_is_refused_is_named_by_its_number() {
    everywhere(|g| {
        let folder = Folder::new(g);
        let text: String =
            (1..=40).map(|i| if i % 13 == 0 { format!("bad {i}\n") } else { format!("{i}\n") }).collect();
        let path = folder.put(g, "numbers", text);
        let outcome = g.each_line(&path, |line| {
            let text = std::str::from_utf8(line).unwrap();
            text.parse::<u32>().map(|_| ()).map_err(|error| format!("{text}: {error}"))
        });
        is_refused(g, outcome, &["numbers, line 13: bad 13: invalid digit"]);
        folder.remove(g);
    });
}

#[test]
fn lines_are_written_in_the_order_of_ranks_and_records_are_dealt() {
    everywhere(|g| {
        let (folder, me, p) = (Folder::new(g), g.rank(), g.size());
        let path = folder.path.join("lines");
        g.write_lines(&path, (0..me % 3).map(|i| format!("{me} {i}"))).unwrap();
        let expected: String = (0..p).flat_map(|r| (0..r % 3).map(move |i| format!("{r} {i}\n"))).collect();
        assert_eq!(fs::read_to_string(&path).unwrap(), expected);
        let path = folder.put(g, "records", (0..60).collect::<Vec<u8>>());
        let records = g.read_records(&path, 5).unwrap();
        let first = records.first_number() as usize;
        for (number, record) in (first..).zip(&records) {
            assert_eq!(record[0] as usize, 5 * number);
        }
        let counts = g.step(|s| s.collect(records.iter().len()));
        assert_eq!(counts.iter().sum::<usize>(), 12);
        assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1);
        for size in [0, 7] {
            let outcome = g.read_records(&path, size);
            is_refused(g, outcome, &["records has 60 bytes, and records have"]);
        }
        folder.remove(g);
    });
}

#[test]
fn matrices_are_read_and_bad_lines_are_named() {
    everywhere(|g| {
        let folder = Folder::new(g);
        let banner = "%%MatrixMarket matrix coordinate";
        let text = format!("{banner} integer general\n% a comment\n\n4 3 4\n1 1 5\n4 3 -2\n1 1 1\n2 2 7");
        let path = folder.put(g, "a.mtx", text);
        let a = g.read_matrix::<i64, Block, Cyclic>(&path, Sum).unwrap();
        let mut mine = Vec::new();
        a.forall(|i, j, value| mine.push((i, j, value)));
        let all = g.step(|s| s.collect(mine)).concat();
        assert_eq!((a.shape(), all), ([4, 3], vec![(0, 0, 6), (1, 1, 7), (3, 2, -2)]));
        let path = folder.put(g, "b.mtx", format!("{banner} pattern symmetric\n3 3 2\n2 2\n3 1\n"));
        let a = g.read_matrix::<f32, Cyclic, Block>(&path, Sum).unwrap();
        let mut mine = Vec::new();
        a.forall(|i, j, value| mine.push((i, j, value)));
        let mut all = g.step(|s| s.collect(mine)).concat();
        all.sort_by_key(|&(i, j, _)| (i, j));
        assert_eq!(all, [(0, 2, 1.0), (1, 1, 1.0), (2, 0, 1.0)]);
        for (text, says) in [
            (String::new(), "does not say how many"),
            ("hello\n".into(), "line 1: it does not begin with %%MatrixMarket matrix"),
            ("%%MatrixMarket matrix array real general\n1 1\n".into(), "line 1: array matrices are not read"),
            (format!("{banner} complex general\n"), "line 1: complex matrices are not read"),
            (format!("{banner} real hermitian\n"), "line 1: hermitian matrices are not read"),
            (format!("{banner} real general\n2 2\n"), "line 2: how many rows"),
            (format!("{banner} real symmetric\n2 3 1\n1 1 1\n"), "line 2: a symmetric matrix"),
            (format!("{banner} real general\n2 2 1\n3 1 1\n"), "line 3: row 3 of 2"),
            (format!("{banner} real general\n2 2 1\n%\n1 0 1\n"), "line 4: column 0 of 2"),
            (format!("{banner} real general\n2 2 1\n1 1 x\n"), "line 3: x is no f64"),
            (format!("{banner} real general\n2 2 1\n1 1\n"), "line 3: there is no value"),
            (format!("{banner} real general\n2 2 1\n1 1 1 1\n"), "line 3: 1 behind the entry"),
            (format!("{banner} real general\n2 2 2\n1 1 1\n"), "has 1 entries, and says that there are 2"),
        ] {
            let path = folder.put(g, "bad.mtx", text);
            let outcome = g.read_matrix::<f64, Block, Block>(&path, Sum);
            is_refused(g, outcome, &["bad.mtx", says]);
        }
        folder.remove(g);
    });
}

#[test]
fn edges_are_read_and_bad_lines_are_named() {
    everywhere(|g| {
        let folder = Folder::new(g);
        let path = folder.put(g, "a.el", "# a square\n0 1\n1 2\n\n2\t3\r\n3 0\n0 1\n");
        let graph = g.read_edges::<Cyclic>(&path).unwrap();
        assert_eq!((graph.vertices(), graph.edges(g)), (4, 4));
        let path = folder.put(g, "a.wel", "0 1 7\n5 2 1\n0 1 3");
        let a = g.read_weighted_edges::<u32, Block>(&path, Min).unwrap();
        let mut mine = Vec::new();
        a.forall(|i, j, weight| mine.push((i, j, weight)));
        assert_eq!((a.shape(), g.step(|s| s.collect(mine)).concat()), ([6, 6], vec![(0, 1, 3), (5, 2, 1)]));
        for (text, says) in [
            ("0 1\n2\n", "line 2: an edge is two numbers"),
            ("0 1\n-1 2\n", "line 2: an edge is two numbers"),
            ("0 1 2\n", "line 1: 2 behind the edge; `read_weighted_edges` reads weights"),
        ] {
            let path = folder.put(g, "bad.el", text);
            let outcome = g.read_edges::<Block>(&path);
            is_refused(g, outcome, &["bad.el, ", says]);
        }
        for (text, says) in
            [("0 1\n", "line 1: there is no value"), ("0 1 x\n", "x is no u32"), ("0 1 2 3", "3 behind")]
        {
            let path = folder.put(g, "bad.wel", text);
            let outcome = g.read_weighted_edges::<u32, Block>(&path, Min);
            is_refused(g, outcome, &["bad.wel, ", says]);
        }
        folder.remove(g);
    });
}

/// What has no length that is known before it is read is refused, and nobody waits for it.
#[cfg(unix)]
#[test]
fn pipes_and_devices_are_refused() {
    on_sizes(&[1, 3], |g| {
        let folder = Folder::new(g);
        let pipe = folder.path.join("pipe");
        g.leader(|| assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success()));
        g.step(|_| ());
        for path in [&pipe, std::path::Path::new("/dev/zero")] {
            let outcome = g.read_lines(path);
            is_refused(g, outcome, &["it is no plain file"]);
            let outcome = g.read_raw::<u8, Block>(path);
            is_refused(g, outcome, &["it is no plain file"]);
        }
        folder.remove(g);
    });
}

/// Groups that write one file at the same time: it is one of theirs, and whole.
#[test]
fn of_two_groups_that_write_one_file_one_has_the_name() {
    on_sizes(&[2, 4], |g| {
        let folder = Folder::new(g);
        let path = folder.path.join("both");
        for round in 0..4 {
            g.split(2, |sub| {
                let a = sub.array::<u8, Block>(30_000);
                a.local_mut().fill(sub.id() as u8 + 1);
                sub.write_raw(&path, &a).unwrap();
            });
            let there = g.read_raw::<u8, Block>(&path).unwrap();
            let all = g.step(|s| s.mirror(&there, ..));
            assert!(all.len() == 30_000 && all.iter().all(|x| *x == all[0] && *x > 0), "round {round}");
        }
        assert_eq!(folder.names(g), ["both"]);
        folder.remove(g);
    });
}

/// Members that name different files get one error.
#[test]
fn members_that_name_different_files_are_told() {
    on_sizes(&[2, 3], |g| {
        let folder = Folder::new(g);
        let paths = ["a", "b"].map(|name| folder.put(g, name, [1, 2, 3]));
        let mine = &paths[usize::from(g.rank() == 1)];
        let errors = [
            g.read_raw::<u8, Block>(mine).map(drop).unwrap_err(),
            g.read_lines(mine).map(drop).unwrap_err(),
            g.write_lines(mine, ["x"]).unwrap_err(),
        ];
        for error in errors {
            check(&error, ErrorKind::DeclMismatch, &["the file "]);
            is_everybodys(g, &error);
        }
        folder.remove(g);
    });
}

/// Lists that name a vertex for which nobody has memory are refused by name.
#[test]
fn a_vertex_beyond_all_memory_is_refused() {
    on_sizes(&[1, 2, 3], |g| {
        let folder = Folder::new(g);
        let path = folder.put(g, "far.wel", "0 900000000000 1\n");
        let outcome = g.read_weighted_edges::<u32, Block>(&path, superstep::Min);
        is_refused(g, outcome, &["far.wel has 900000000001 vertices, for which there is no memory"]);
        let path =
            folder.put(g, "wide.mtx", "%%MatrixMarket matrix coordinate real general\n3 9000000000000 1\n1 1 2\n");
        let outcome = g.read_matrix::<f64, Block, Block>(&path, superstep::Sum);
        is_refused(g, outcome, &["wide.mtx has 9000000000000 columns, for which there is no memory"]);
        folder.remove(g);
    });
}
