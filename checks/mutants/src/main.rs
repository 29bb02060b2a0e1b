//! Changes the library in one place at a time, and sees whether the tests notice.
//!
//! All changes are written into one copy of the sources, each behind a switch that is read at run time. So the tests are
//! built once, and a mutant costs no more than the tests that it meets. `checks/mutants.sh` makes the copy.

mod built;
mod compile;
mod find;
mod known;
mod left_alone;
mod meet;
mod schema;
mod values;

use find::find;
use known::{Known, all_files, copy, key};
use meet::{Tests, Verdict, learn};
use schema::Source;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    env,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Mutex,
    time::{Duration, Instant},
};

fn main() -> ExitCode {
    let given: Vec<String> = env::args().skip(1).collect();
    let [minutes, seed, globs @ ..] = &given[..] else {
        eprintln!(
            "usage: superstep-mutants MINUTES SEED GLOB...; in a tree to build, beside a copy of the sources in `../fresh`"
        );
        return ExitCode::from(2);
    };
    let (Ok(minutes), Ok(seed)) = (minutes.parse(), seed.parse()) else {
        eprintln!("minutes and the seed are numbers");
        return ExitCode::from(2);
    };
    match mutate(minutes, seed, globs) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The changes of some files that are not left alone.
fn sources(all: &BTreeMap<String, Vec<u8>>, globs: &[String]) -> Result<BTreeMap<String, Source>, String> {
    let text = |file: &str| all.get(file).map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default();
    let config = text(".cargo/mutants.toml");
    let is_source = |file: &&String| Path::new(file).extension().is_some_and(|end| end == "rs");
    let files: Vec<String> = all.keys().filter(is_source).cloned().collect();
    let mut texts = BTreeMap::new();
    let mut unbuilt = Vec::new();
    for file in left_alone::files(&config, &left_alone::named(&files, globs)) {
        let text = text(&file);
        let found = find(&text).map_err(|e| format!("{file}: {e}"))?;
        let folder = match PathBuf::from(&file) {
            path if path.ends_with("mod.rs") || path.ends_with("lib.rs") => path.with_file_name(""),
            path => path.with_extension(""),
        };
        unbuilt.extend(found.unbuilt.iter().map(|module| folder.join(module)));
        texts.insert(file, (text, found.sites));
    }
    texts.retain(|file, _| !unbuilt.iter().any(|module| Path::new(file).with_extension("").starts_with(module)));
    let full = |file: &str, name: &str| format!("{file}:{name}");
    let names = texts.iter().flat_map(|(file, (_, sites))| {
        sites.iter().flat_map(move |site| site.changes.iter().map(move |change| full(file, &change.name)))
    });
    let wanted: HashSet<String> = left_alone::names(&config, &names.collect::<Vec<_>>()).into_iter().collect();
    let (mut sources, mut first) = (BTreeMap::new(), 1);
    for (file, (text, mut sites)) in texts {
        for site in &mut sites {
            site.changes.retain(|change| wanted.contains(&full(&file, &change.name)));
        }
        let many: usize = sites.iter().map(|site| site.changes.len()).sum();
        let switch = if file.starts_with("crates/fabric/") { "crate::mutant" } else { "::fabric::mutant" };
        sources.insert(file, Source { text, sites, first, switch });
        first += many as u32;
    }
    Ok(sources)
}

/// Puts what there is into an order that a seed decides.
fn shuffle<T>(all: &mut [T], mut seed: u64) {
    for end in (1..all.len()).rev() {
        seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = (seed ^ (seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        all.swap(end, ((word ^ (word >> 31)) % (end as u64 + 1)) as usize);
    }
}

fn mutate(minutes: u64, seed: u64, globs: &[String]) -> Result<(), String> {
    let files = all_files(Path::new("../fresh"));
    let key = key(&files, globs);
    let sources = sources(&files, globs)?;
    let mut all = BTreeMap::new();
    for (file, source) in &sources {
        let changes = source.sites.iter().flat_map(|site| &site.changes);
        for (number, change) in (source.first..).zip(changes) {
            all.insert(number, (format!("{file}:{}", change.name), format!("{file}:{}", change.function)));
        }
    }
    let most = all.keys().last().copied().ok_or(format!("there is nothing to change in {}", globs.join(" ")))?;
    println!("== {} changes in {} files, seed {seed}", all.len(), sources.len());
    copy(&files, &|file| compile::is_changed(file, &sources))?;
    let (start, known) = (Instant::now(), Known::load(key));
    let (mut dropped, known) = known.map_or((HashSet::new(), None), |known| (known.dropped, Some(known.tests)));
    let lowest = files.get(compile::LOWEST).ok_or("this is no copy of the library")?;
    let programs = compile::build(&sources, lowest, &mut dropped)?;
    println!("== {} programs of tests, built in {} s", programs.len(), start.elapsed().as_secs());
    let start = Instant::now();
    let learned = || learn(&programs, most, &env::temp_dir());
    let (tests, failed) = known.map_or_else(learned, |tests| Ok((tests, Vec::new())))?;
    println!("== {} tests pass without a mutant, in {} s", tests.len(), start.elapsed().as_secs());
    let mut known = Known { dropped, tests };
    if failed.is_empty() {
        known = known.kept(key);
    } else {
        println!("== without a mutant there fail, and are left out: {}", failed.join(", "));
    }
    let Known { dropped, tests } = known;
    let mut mutants: Vec<(u32, &str)> =
        all.iter().filter(|(n, _)| !dropped.contains(n)).map(|(n, (_, function))| (*n, function.as_str())).collect();
    shuffle(&mut mutants, seed);
    let tests = Tests { programs: &programs, tests: &tests, catches: Mutex::new(HashMap::new()) };
    let (counts, missed) = (Mutex::new([0_u32; 2]), Mutex::new(Vec::new()));
    tests.meet_all(&mutants, Instant::now() + Duration::from_secs(60 * minutes), |number, verdict| {
        let [met, late] = &mut *counts.lock().expect("nobody panics here");
        *met += 1;
        *late += u32::from(verdict == Verdict::Late);
        let end = match verdict {
            Verdict::Caught | Verdict::Late => return,
            Verdict::Missed => "",
            Verdict::Unmet => " (no test comes there)",
        };
        println!("{met}. {number} {}{end}", all[&number].0);
        missed.lock().expect("nobody panics here").push(format!("{}{end}", all[&number].0));
    });
    let [met, late] = counts.into_inner().expect("nobody panics here");
    let mut missed = missed.into_inner().expect("nobody panics here");
    missed.sort();
    println!("== not caught");
    missed.iter().for_each(|name| println!("{name}"));
    let caught = met as usize - missed.len();
    println!("caught {caught} of {met} mutants, {late} of them by time; {} more do not compile", dropped.len());
    if !failed.is_empty() {
        return Err(format!("without a mutant there fail: {}", failed.join(", ")));
    }
    // Without a minute, all is built and known for another time.
    if met == 0 && minutes > 0 { Err("no mutant met a test".to_owned()) } else { Ok(()) }
}
