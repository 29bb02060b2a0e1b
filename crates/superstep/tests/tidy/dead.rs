//! Nothing is offered that nobody takes.
//!
//! The compiler warns of private items that are not used. What is `pub` in a crate that is not published, or visible to
//! the crate or the parent module, it takes for used.

use crate::{
    circles::inner_modules,
    none,
    source::{Source, names, sources},
};
use std::collections::{HashMap, HashSet};

/// Where `pub` is no promise to users: everything that is offered there is for this workspace.
const INTERNAL: [&str; 3] = ["bench/src/", "bench/peers/src/", "crates/fabric/src/"];

/// Where what is offered to the crate or the parent module is looked at.
const LIBRARIES: [&str; 5] =
    ["crates/superstep/src/", "crates/bsp/src/", "crates/cli/src/", "crates/model/src/", "crates/neststep/src/"];

/// What is still offered in vain. What is not any more is removed here.
const KNOWN: &[&str] = &["CAME", "DIRECT_GET", "HELD"];

/// What a `pub` stands before, and what it says of whom it is for.
struct Offer<'a> {
    name: &'a str,
    at: usize,
    is_limited: bool,
}

/// The items and fields that some code offers.
fn offers(code: &str) -> Vec<Offer<'_>> {
    let mut found = Vec::new();
    for (at, _) in names(code).filter(|&(_, name)| name == "pub") {
        let mut rest = &code[at + 3..];
        let is_limited = rest.starts_with('(');
        if is_limited {
            rest = rest.split_once(')').map_or("", |(_, behind)| behind);
        }
        let start = code.len() - rest.len();
        let words = ["const", "unsafe", "async", "extern", "fn", "struct", "enum", "trait", "type", "static", "union"];
        let first = names(rest).find(|(_, name)| !words.contains(name));
        // Modules and imports only pass on what others offer.
        found.extend(first.filter(|(_, name)| !["mod", "use", "crate"].contains(name)).map(|(offset, name)| Offer {
            name,
            at: start + offset,
            is_limited,
        }));
    }
    found
}

/// Whether the file itself needs the offer: its own modules are others, and what an offered item is made of has to be
/// seen with it.
fn is_needed(code: &str, offer: &Offer<'_>, offers: &[Offer<'_>]) -> bool {
    let names_it = |text: &str| names(text).any(|(_, name)| name == offer.name);
    let outline = |other: &Offer<'_>| {
        let rest = &code[other.at..];
        rest[..rest.find(['{', ';']).unwrap_or(rest.len())].to_owned()
    };
    let is_inside = inner_modules(code).iter().any(|(open, close)| (*open..*close).contains(&offer.at));
    is_inside && names(code).filter(|(_, name)| *name == offer.name).count() > 1
        || offers.iter().any(|other| other.name != offer.name && names_it(&outline(other)))
}

/// How many files name what, tests among them but for these.
fn naming(sources: &[Source]) -> HashMap<&str, usize> {
    let mut count = HashMap::new();
    for source in sources.iter().filter(|source| !source.path.starts_with("crates/superstep/tests/tidy/")) {
        let code: HashSet<&str> = names(&source.text).map(|(_, name)| name).collect();
        for name in code {
            *count.entry(name).or_default() += 1;
        }
    }
    count
}

#[test]
fn what_is_offered_is_named_elsewhere() {
    let sources = sources();
    let naming = naming(&sources);
    let (mut found, mut known) = (Vec::new(), KNOWN.to_vec());
    for source in &sources {
        let is_internal = INTERNAL.iter().any(|folder| source.path.starts_with(folder));
        if !is_internal && !LIBRARIES.iter().any(|folder| source.path.starts_with(folder)) {
            continue;
        }
        let offers = offers(&source.code);
        for offer in offers.iter().filter(|offer| is_internal || offer.is_limited) {
            if naming[offer.name] == 1 && !is_needed(&source.code, offer, &offers) {
                let line = source.code[..offer.at].lines().count().max(1);
                match known.iter().position(|known| *known == offer.name) {
                    Some(at) => drop(known.swap_remove(at)),
                    None => found.push(format!("{}:{line} offers `{}`", source.path, offer.name)),
                }
            }
        }
    }
    found.extend(known.iter().map(|known| format!("`{known}` is not offered in vain any more")));
    none(&found, "what nobody else names is private, or not there");
}

#[test]
fn offers_are_items_and_fields() {
    let code = "pub(crate) const fn f() {} pub struct S { pub(super) a: u8, pub b: u8 } pub use x; pub(crate) mod m;";
    let found: Vec<_> = offers(code).iter().map(|offer| (offer.name, offer.is_limited)).collect();
    assert_eq!(found, [("f", true), ("S", false), ("a", true), ("b", false)]);
}
