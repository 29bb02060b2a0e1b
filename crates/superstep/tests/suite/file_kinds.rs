//! What files may look like: every type of number, header and matrix, and names that are no plain files.

use crate::{
    arrays::fill,
    everywhere,
    files::{Folder, in_and_out, is_refused},
    on_sizes,
};
use std::fs;
use superstep::{Array, Block, Cyclic, Group, Sum, Tiles, files::Number};

/// One type of number: it is written under the name that `NumPy` has for it, and comes back.
fn number<T: Number + PartialEq + std::fmt::Debug>(g: &mut Group, descr: &str, value: impl Fn(usize) -> T + Copy) {
    let folder = Folder::new(g);
    in_and_out(g, &folder, ([11], Block::new(), Cyclic::new()), value);
    let head = fs::read(folder.path.join("a.npy")).unwrap();
    let head = String::from_utf8_lossy(&head[10..128]).into_owned();
    assert!(head.contains(&format!("'descr': '{descr}'")) && head.contains("'shape': (11,)"), "{head}");
    folder.remove(g);
}

/// Issue 20: all numeric types, and 1 to 5 dimensions.
#[test]
fn every_type_of_number_and_every_number_of_dimensions_comes_back() {
    on_sizes(&[1, 3], |g| {
        number(g, "|u1", |i| i as u8);
        number(g, "|i1", |i| -(i as i8));
        number(g, "<u2", |i| i as u16 + u16::MAX / 2);
        number(g, "<i2", |i| i as i16 + i16::MIN);
        number(g, "<u4", |i| u32::MAX - i as u32);
        number(g, "<i4", |i| i as i32 + i32::MIN);
        number(g, "<u8", |i| u64::MAX - i as u64);
        number(g, "<i8", |i| i as i64 + i64::MIN);
        number(g, "<f4", |i| i as f32 / 3.0);
        number(g, "<f8", |i| i as f64 / 3.0);
        number(g, "<c8", |i| [i as f32, -0.5]);
        number(g, "<c16", |i| [i as f64, -0.5]);
        number(g, "<u8", |i| usize::MAX - i);
        number(g, "<i8", |i| isize::MIN + i as isize);
        let folder = Folder::new(g);
        in_and_out(g, &folder, ([5, 3], Block::<1>, Cyclic::<2>), |i| i as u32);
        in_and_out(g, &folder, ([2, 3, 4], Cyclic::<2>, Tiles([1, 2, 3])), |i| i as i16);
        in_and_out(g, &folder, ([2, 1, 3, 2], Block::<3>, Cyclic::<1>), |i| i as f32);
        in_and_out(g, &folder, ([2, 2, 1, 2, 3], Cyclic::<3>, Block::new()), |i| i as f64);
        folder.remove(g);
    });
}

/// A file of the three numbers 1, 2 and 3, or as many as the shape says.
fn npy(version: u8, text: &str, numbers: u16) -> Vec<u8> {
    let mut bytes = [b"\x93NUMPY", &[version, 0][..]].concat();
    match version {
        1 => bytes.extend((text.len() as u16).to_le_bytes()),
        _ => bytes.extend((text.len() as u32).to_le_bytes()),
    }
    bytes.extend(text.as_bytes());
    bytes.extend((1..=numbers).flat_map(u16::to_le_bytes));
    bytes
}

/// Issue 20: headers of every version, and what they say that arrays cannot have.
#[test]
fn headers_of_every_version_are_read_and_other_orders_are_refused() {
    everywhere(|g| {
        let folder = Folder::new(g);
        for (version, text) in [
            (1, "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }"),
            (2, "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }   \n"),
            (3, "{'shape': (3,), 'descr': '=u2', 'fortran_order': False}"),
            (1, "{\"descr\": \"<u2\", 'fortran_order': False, 'shape': (3L,)}"),
            // One dimension has no order.
            (2, "{'descr': '<u2', 'fortran_order': True, 'shape': (3,), }"),
        ] {
            let path = folder.put(g, "a.npy", npy(version, text, 3));
            let a = g.read_npy::<u16, Block, 1>(&path).unwrap();
            assert_eq!(g.step(|s| s.mirror(&a, ..)), [1, 2, 3], "{version} {text}");
        }
        for (version, text, says) in [
            (1, "{'descr': '<u2', 'fortran_order': True, 'shape': (3, 1), }", "save it in C order"),
            (1, "{'descr': '|b1', 'fortran_order': False, 'shape': (3, 2), }", "elements of type b1, and u16 was"),
            (2, "{'descr': '<f2', 'fortran_order': False, 'shape': (3, 1), }", "elements of type f16, and u16 was"),
            (3, "{'descr': '<u2', 'fortran_order': False, 'shape': (), }", "shape [], and one of 2 dimensions"),
            (4, "{'descr': '<u2', 'fortran_order': False, 'shape': (3, 1), }", "version 4 of the .npy format"),
            (1, "{'descr': '<u2', 'fortran_order': False, 'shape': (3, 2), }", "bytes by its header"),
            (
                1,
                "{'descr': '<u2', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
                "more than there can be",
            ),
            (1, "{'descr': '<u2', 'fortran_order': False}", "makes no sense"),
        ] {
            // A shape of no dimensions is that of one number.
            let path = folder.put(g, "bad.npy", npy(version, text, if text.contains("()") { 1 } else { 3 }));
            let outcome = g.read_npy::<u16, Block, 2>(&path);
            let says = says.replace("bytes by its header", "by its header, which says shape [3, 2]");
            is_refused(g, outcome, &["bad.npy", &says]);
        }
        folder.remove(g);
    });
}

/// Issue 20: real, integer and pattern, general and symmetric, whatever their letters and comments.
#[test]
fn matrices_of_every_sort_are_read() {
    everywhere(|g| {
        let folder = Folder::new(g);
        let long = "% a comment of many words\n".repeat(300);
        for (text, expected) in [
            ("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 0.5\n2 1 -1e3\n".into(), [0.5, -1e3, -1e3]),
            ("%%matrixmarket MATRIX Coordinate Integer Symmetric\n2 2 2\n2 1 7\n1 1 3".into(), [3.0, 7.0, 7.0]),
            (
                format!(
                    "%%MatrixMarket matrix coordinate double general\n{long}\n2 2 3\n{long}1 1 1\n1 2 2\r\n2 1 3\n"
                ),
                [1.0, 2.0, 3.0],
            ),
            ("%%MatrixMarket\tmatrix  coordinate pattern general\n2 2 3\n1 1\n\n1 2\n%\n2 1".into(), [1.0; 3]),
        ] {
            let path = folder.put(g, "a.mtx", &text);
            let a = g.read_matrix::<f64, Block, Cyclic>(&path, Sum).unwrap();
            let mut mine = Vec::new();
            a.forall(|i, j, value| mine.push((i, j, value)));
            let mut all = g.step(|s| s.collect(mine)).concat();
            all.sort_by_key(|&(i, j, _)| (i, j));
            assert_eq!(all, [(0, 0, expected[0]), (0, 1, expected[1]), (1, 0, expected[2])], "{text}");
        }
        for (text, says) in [
            ("%%MatrixMarket matrix coordinate real skew-symmetric\n", "line 1: skew-symmetric matrices are not read"),
            ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n2 2 2\n", "has 2 entries, and says that"),
            ("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1 1\n", "line 3: 1 behind the entry"),
            ("%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 1.5\n", "line 3: 1.5 is no i64"),
            ("%%MatrixMarket matrix coordinate integer general\n% none\n", "does not say how many rows and columns"),
        ] {
            let path = folder.put(g, "bad.mtx", text);
            let outcome = g.read_matrix::<i64, Block, Block>(&path, Sum);
            is_refused(g, outcome, &["bad.mtx", says]);
        }
        folder.remove(g);
    });
}

/// What has another name until it is whole takes the place of a link, and what that leads to is as it was.
#[cfg(unix)]
#[test]
fn a_link_is_replaced_and_what_it_leads_to_is_not() {
    on_sizes(&[1, 3], |g| {
        let folder = Folder::new(g);
        let (target, link, dead) =
            (folder.put(g, "target", "as it was\n"), folder.path.join("link"), folder.path.join("dead"));
        g.leader(|| {
            std::os::unix::fs::symlink(&target, &link).unwrap();
            std::os::unix::fs::symlink(folder.path.join("nowhere"), &dead).unwrap();
        });
        g.step(|_| ());
        // It is read through, and one that leads nowhere is no file.
        assert_eq!(g.each_line(&link, |_| Ok::<_, String>(())), Ok(1));
        let outcome = g.read_lines(&dead);
        is_refused(g, outcome, &["dead cannot be read: No such file"]);
        for path in [&link, &dead] {
            g.write_lines(path, [g.rank().to_string()]).unwrap();
            assert_eq!(g.each_line(path, |_| Ok::<_, String>(())), Ok(g.size() as u64));
            assert!(!fs::symlink_metadata(path).unwrap().is_symlink());
        }
        assert_eq!(fs::read_to_string(&target).unwrap(), "as it was\n");
        assert_eq!(folder.names(g), ["dead", "link", "target"]);
        folder.remove(g);
    });
}

/// A folder in which nothing can be made, whoever asks.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_takes_no_files_is_named() {
    on_sizes(&[1, 2], |g| {
        let a = g.array::<u8, Block>(5);
        let outcome = g.write_raw("/proc/superstep.raw", &a);
        is_refused(g, outcome, &["/proc/superstep.raw cannot be written: "]);
        let outcome = g.write_lines("/proc/superstep.txt", ["x"]);
        is_refused(g, outcome, &["/proc/superstep.txt cannot be written: "]);
        let outcome = g.checkpoint("/proc/superstep");
        is_refused(g, outcome, &["/proc/superstep cannot be made: "]);
    });
}

/// Longer arrays than are laid out anew at once.
#[test]
fn long_arrays_are_laid_out_anew_slab_by_slab() {
    on_sizes(&[1, 2], |g| {
        let folder = Folder::new(g);
        let value = |i: usize| [i as u64; 32];
        let a: Array<[u64; 32], Cyclic<1>, 2> = g.array_with([3, 7000], Cyclic);
        let rows = g.paged::<[u64; 32], 2>([150, 60], [7, 29]);
        let mut saved = g.checkpoint(folder.path.join("saved")).unwrap();
        saved.add("a", &a);
        saved.add("rows", &rows);
        fill(&a, value);
        rows.indices().for_each(|at| rows.write(at, value(at[0] * 60 + at[1])));
        saved.save(g).unwrap();
        g.write_raw(folder.path.join("a.raw"), &a).unwrap();
        let is_right = |g: &mut Group| {
            for (offset, found) in a.local().iter().enumerate() {
                assert!(a.global(offset).is_none_or(|index| value(index) == *found), "element {offset}");
            }
            rows.indices().for_each(|at| assert_eq!(rows.read(at), value(at[0] * 60 + at[1])));
            g.step(|_| ());
        };
        fill(&a, |_| [9; 32]);
        rows.indices().for_each(|at| rows.write(at, [9; 32]));
        assert!(saved.restore(g).unwrap());
        is_right(g);
        fill(&a, |_| [9; 32]);
        g.load_raw(folder.path.join("a.raw"), &a).unwrap();
        is_right(g);
        folder.remove(g);
    });
}
