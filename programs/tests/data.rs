//! The programs on data find what plain code on one thread does, on every fabric that needs no launcher.

mod support;

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::{Path, PathBuf},
};
use superstep::{Block, Config, Group};
use superstep_programs::{
    Fact,
    data::{self, Join, KMeans, Kmers, Program, Words, kmeans::lloyd, kmers::Reads},
    random::Random,
};
use support::{count, error_of, everywhere, same_everywhere};

/// A folder of a test's own, gone when the test has ended.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("superstep-programs-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("the folder is made");
        Self(path)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().expect("it lies in the folder")).expect("the folder is made");
        fs::write(&path, bytes).expect("the file is written");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// The most of these, in order.
fn top<K: Ord, C: Ord + Copy>(all: impl IntoIterator<Item = (K, C)>, top: usize) -> Vec<(K, C)> {
    let mut all: Vec<(K, C)> = all.into_iter().collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    all.truncate(top);
    all
}

fn list<K: Into<String>, C: Into<i128>>(pairs: Vec<(K, C)>) -> Fact {
    Fact::List(pairs.into_iter().map(|(name, count)| (name.into(), count.into())).collect())
}

/// Words are counted as plain code does it, in files of these names.
#[track_caller]
fn words_are_counted(name: &str, files: &[(&str, Vec<u8>)]) {
    let folder = Folder::new(name);
    let mut counts = BTreeMap::<String, u64>::new();
    for (name, bytes) in files {
        folder.write(name, bytes);
        for word in bytes.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
            *counts.entry(String::from_utf8_lossy(word).into_owned()).or_default() += 1;
        }
    }
    fs::create_dir_all(folder.0.join("empty")).expect("the folder is made");
    let words = Words { path: folder.0.clone(), top: 7 };
    let facts = same_everywhere(|g| data::run(g, &Program::Words(words.clone())));
    assert_eq!(count(&facts, "files"), files.len() as i128);
    assert_eq!(count(&facts, "bytes"), files.iter().map(|(_, bytes)| bytes.len() as i128).sum::<i128>());
    assert_eq!(count(&facts, "words"), counts.values().map(|&count| i128::from(count)).sum::<i128>());
    assert_eq!(count(&facts, "distinct"), counts.len() as i128);
    assert_eq!(facts.last().map(|fact| &fact.1), Some(&list(top(counts, 7))));
}

#[test]
fn the_words_of_a_folder_are_counted() {
    let mut random = Random::new(11);
    let mut text = |words: usize| -> Vec<u8> {
        let mut word = || format!("{}{}", "wörd".repeat(random.below(4)), random.below(30)).into_bytes();
        let mut text: Vec<u8> = (0..words).flat_map(|_| [word(), b" \n\t".to_vec()].concat()).collect();
        text.truncate(text.len().saturating_sub(3));
        text
    };
    words_are_counted("words-none", &[]);
    words_are_counted("words-empty", &[("a", vec![]), ("b/c", b" \n ".to_vec())]);
    words_are_counted("words-one", &[("a", b"x".to_vec())]);
    let files = [("a", text(100)), ("b/c", text(1)), ("b/d/e", text(700)), ("z", text(3)), ("b.c", text(20))];
    words_are_counted("words-more", &files);
    // One word is longer than many parts; and where one file ends a word does, too.
    words_are_counted("words-long", &[("a", vec![b'x'; 20_000]), ("b", b"x y".to_vec()), ("c", b"y".to_vec())]);
}

#[test]
fn a_folder_that_is_not_there_is_one_error() {
    let words = Words { path: "no such folder".into(), top: 1 };
    let error = error_of(|g| data::run(g, &Program::Words(words.clone())));
    assert!(error.contains("no such folder: ") && error.contains("os error 2"), "{error}");
}

fn k_means() -> KMeans {
    KMeans { file: None, points: 500, dimensions: 3, clusters: 5, rounds: 9, seed: 2 }
}

#[test]
fn means_are_found_with_the_same_bits_on_as_many_processors() {
    let mut bits = HashMap::new();
    for asked in [k_means(), KMeans { points: 13, clusters: 13, ..k_means() }, KMeans { points: 30, ..k_means() }] {
        for ((fabric, procs), facts) in everywhere(|g| data::run(g, &Program::KMeans(asked.clone()))) {
            let known = bits.entry((asked.points, procs)).or_insert_with(|| facts.clone());
            assert_eq!(known, &facts, "{procs} on {fabric:?}");
        }
    }
}

/// Lloyd's algorithm in plain loops; the sum of squares before the centres moved last, and how many rounds there were.
fn means_by_hand(points: &[Vec<f64>], mut centres: Vec<Vec<f64>>, rounds: usize) -> (Vec<Vec<f64>>, f64, usize) {
    let square = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum::<f64>();
    let mut joined = Vec::new();
    for round in 1.. {
        let order = |point: &Vec<f64>| {
            let distances = centres.iter().map(|centre| square(point, centre));
            distances.enumerate().fold((0, f64::INFINITY), |best, next| if next.1 < best.1 { next } else { best })
        };
        let nearest: Vec<(usize, f64)> = points.iter().map(order).collect();
        for (at, centre) in centres.iter_mut().enumerate() {
            let its = || points.iter().zip(&nearest).filter(|(_, nearest)| nearest.0 == at).map(|(point, _)| point);
            for (j, x) in centre.iter_mut().enumerate().filter(|_| its().count() > 0) {
                *x = its().map(|point| point[j]).sum::<f64>() / its().count() as f64;
            }
        }
        let now: Vec<usize> = nearest.iter().map(|nearest| nearest.0).collect();
        if now == joined || round == rounds {
            return (centres, nearest.iter().map(|nearest| nearest.1).sum(), round);
        }
        joined = now;
    }
    unreachable!()
}

#[test]
fn means_are_those_of_plain_loops() {
    let mut random = Random::new(8);
    for (count, d, k) in [(1, 1, 1), (7, 2, 3), (300, 4, 17), (100, 1, 8)] {
        let points: Vec<Vec<f64>> = (0..count).map(|_| (0..d).map(|_| random.unit()).collect()).collect();
        let centres = points[..k].to_vec();
        let (expected, inertia, rounds) = means_by_hand(&points, centres.clone(), 12);
        for procs in [1, 2, 5] {
            let found = Config::new().procs(procs).run(|g| {
                let mine: Vec<f64> = points.iter().skip(g.rank()).step_by(g.size()).flatten().copied().collect();
                superstep::Local(lloyd(g, &mine, d, centres.concat(), 12))
            });
            let found = found.unwrap();
            let is_near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12;
            assert!(found.centres.iter().zip(&expected.concat()).all(is_near), "{found:?}");
            assert!(found.rounds == rounds && is_near((&found.inertia, &inertia)), "{rounds} {inertia} {found:?}");
        }
    }
}

#[test]
fn points_are_read_from_a_file() {
    let folder = Folder::new("points");
    let path = folder.0.join("points.npy");
    let write = |shape: [usize; 2], value: fn(usize) -> f64| {
        let outcome = Config::new().procs(2).run(|g: &mut Group| {
            let a = g.array_with::<f64, _, 2>(shape, Block::new());
            a.forall_mut_in((.., ..), |[i, _], x| *x = value(i));
            g.write_npy(&path, &a)
        });
        outcome.expect("the points are written");
    };
    let asked = KMeans { file: Some(path.clone()), clusters: 2, ..k_means() };
    write([20, 2], |i| (i % 2 * 100 + i) as f64);
    let facts = same_everywhere(|g| data::run(g, &Program::KMeans(asked.clone())));
    assert_eq!(["points", "least", "most"].map(|name| count(&facts, name)), [20, 10, 10]);
    write([20, 2], |i| if i == 13 { f64::NAN } else { 0.0 });
    assert!(error_of(|g| data::run(g, &Program::KMeans(asked.clone()))).contains("no finite number"));
    write([1, 2], |_| 0.0);
    assert!(error_of(|g| data::run(g, &Program::KMeans(asked.clone()))).contains("2 clusters of 1 points"));
    let none = KMeans { file: Some(folder.0.join("none.npy")), ..k_means() };
    assert!(error_of(|g| data::run(g, &Program::KMeans(none.clone()))).contains("none.npy"));
}

fn join() -> Join {
    Join { left: None, right: None, rows: 3000, keys: 400, names: 7, seed: 3, top: 3 }
}

#[test]
fn tables_are_joined_and_grouped() {
    let asked = join();
    let mut random = Random::new(3);
    let left: Vec<(usize, i128)> = (0..3000).map(|_| (random.below(500), random.below(2001) as i128 - 1000)).collect();
    let mut random = Random::new(!3);
    let right: Vec<(usize, String)> =
        (0..400).map(|_| (random.below(400), format!("name-{}", random.below(7)))).collect();
    let (mut joined, mut sums) = (0, BTreeMap::<String, i128>::new());
    for (key, amount) in &left {
        for (_, name) in right.iter().filter(|(other, _)| other == key) {
            joined += 1;
            *sums.entry(name.clone()).or_default() += amount;
        }
    }
    let facts = same_everywhere(|g| data::run(g, &Program::Join(asked.clone())));
    assert_eq!(["joined", "groups", "sum"].map(|name| count(&facts, name)), [joined, 7, sums.values().sum()]);
    assert_eq!(facts.last().map(|fact| &fact.1), Some(&list(top(sums, 3))));
    for (rows, keys) in [(0, 1), (1, 1), (5, 50)] {
        same_everywhere(|g| data::run(g, &Program::Join(Join { rows, keys, ..join() })));
    }
}

#[test]
fn tables_are_read_from_files() {
    let folder = Folder::new("tables");
    let path = |name: &str| Some(folder.0.join(name));
    let asked = Join { left: path("left.csv"), right: path("right.csv"), ..join() };
    folder.write("left.csv", "key,amount\n1,10\n2, -4\n\n1,5\r\n9,9223372036854775807\n9,9223372036854775807\n7,1");
    folder.write("right.csv", "key,name\n1,Zürich\n2,Bern\n1,Bern\n9,a b\n");
    let facts = same_everywhere(|g| data::run(g, &Program::Join(asked.clone())));
    let most = 2 * i128::from(i64::MAX);
    assert_eq!(["left", "right", "joined"].map(|name| count(&facts, name)), [6, 4, 7]);
    assert_eq!(facts.last().map(|fact| &fact.1), Some(&list(vec![("a b", most), ("Zürich", 15), ("Bern", 11)])));
    for (text, what) in
        [("k,v\n1,2\n3", "line 3: there is no comma"), ("k,v\n1,x\n", "line 2: there is no whole number")]
    {
        folder.write("left.csv", text);
        let error = error_of(|g| data::run(g, &Program::Join(asked.clone())));
        assert!(error.contains("left.csv: ") && error.contains(what), "{error}");
    }
}

fn kmers(file: Option<PathBuf>, k: u32, canonical: bool) -> Program {
    Program::Kmers(Kmers { file, k, canonical, reads: 60, seed: 5, top: 4 })
}

/// The words of some pieces, each with its count.
fn words_by_hand(pieces: &[&[u8]], k: usize, canonical: bool) -> BTreeMap<String, i128> {
    let mut counts = BTreeMap::new();
    for word in pieces.iter().flat_map(|piece| piece.windows(k)) {
        let word = String::from_utf8_lossy(word).to_uppercase();
        if word.chars().all(|letter| "ACGT".contains(letter)) {
            let other = |letter| "TGCA".as_bytes()["ACGT".find(letter).expect("it is one of these")] as char;
            let other: String = word.chars().rev().map(other).collect();
            *counts.entry(if canonical { word.min(other) } else { word }).or_insert(0) += 1;
        }
    }
    counts
}

#[track_caller]
fn words_are_those(program: Program, expected: BTreeMap<String, i128>) {
    let facts = same_everywhere(|g| data::run(g, &program));
    let once = expected.values().filter(|&&count| count == 1).count() as i128;
    let numbers = ["words", "distinct", "once"].map(|name| count(&facts, name));
    assert_eq!(numbers, [expected.values().sum(), expected.len() as i128, once]);
    assert_eq!(facts.last().map(|fact| &fact.1), Some(&list(top(expected, 4))));
}

#[test]
fn the_words_of_pieces_that_are_made_up_are_counted() {
    let reads = Reads { count: 60, seed: 5 };
    let letters = |read: Vec<u8>| read.iter().map(|&at| b"ACGT"[usize::from(at)]).collect::<Vec<u8>>();
    let pieces: Vec<Vec<u8>> = (0..60).map(|number| letters(reads.read(number))).collect();
    let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
    for (k, canonical) in [(1, false), (21, false), (21, true), (32, true)] {
        words_are_those(kmers(None, k, canonical), words_by_hand(&pieces, k as usize, canonical));
    }
}

#[test]
fn the_words_of_files_are_counted() {
    let folder = Folder::new("kmers");
    let expect = |path: &Path, pieces: &[&[u8]]| {
        for (k, canonical) in [(1, false), (3, false), (5, true), (11, false)] {
            words_are_those(kmers(Some(path.into()), k, canonical), words_by_hand(pieces, k as usize, canonical));
        }
    };
    // Sequences go on over lines, and over more processors than one.
    let fasta = folder.write("a.fa", ">one\nACGTAC\nGT\nA\n\nCNACGT\r\nTTGACC\n>two\nG\nT\nT\nA\nC\nA\nACC\n>none\n");
    expect(&fasta, &[b"ACGTACGTACNACGTTTGACC", b"GTTACAACC"]);
    let fastq = folder.write("a.fq", "@r1\nACGTACCA\n+\n@CGTACCA\n@r2\nttgaNacca\n+r2\nACGTACGTA\n");
    expect(&fastq, &[b"ACGTACCA", b"TTGANACCA"]);
    let plain = folder.write("a.txt", "ACGTTGCA\nAC\n\nGTTGCACG");
    expect(&plain, &[b"ACGTTGCA", b"AC", b"GTTGCACG"]);
    expect(&folder.write("empty", ""), &[]);
    let wrong = folder.write("wrong.fq", "@r1\nACG\n+\nIII\nACGT\n");
    let error = error_of(|g| data::run(g, &kmers(Some(wrong.clone()), 3, false)));
    assert!(error.contains("wrong.fq: line 5: a read begins with"), "{error}");
}
