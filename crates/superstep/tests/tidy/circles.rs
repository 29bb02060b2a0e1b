//! No file depends on one that depends on it.
//!
//! A file depends on another if it names something that the other defines. Who re-exports the name on the way does not
//! matter: a folder's `mod.rs` is no way round. What is compiled for tests alone does not count.

use crate::{
    none,
    source::{Source, closed, names, sources},
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The crates that are looked at, by their root modules.
const CRATES: [&str; 6] = [
    "bench/src/lib.rs",
    "crates/bsp/src/lib.rs",
    "crates/cli/src/main.rs",
    "crates/fabric/src/lib.rs",
    "crates/model/src/lib.rs",
    "crates/superstep/src/lib.rs",
];

/// Folders in which there still are circles. One that has none any more is removed here.
const KNOWN: &[&str] = &[];

/// A name that a module imports: what it is called there, the path it stands for, and whether others see it too.
#[derive(Clone, Debug)]
struct Import {
    name: String,
    path: Vec<String>,
    is_public: bool,
}

/// A module with a file of its own.
struct Module<'a> {
    source: &'a Source,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    imports: Vec<Import>,
    /// The code without its imports.
    code: String,
}

/// What a path leads to.
#[derive(Clone, Copy)]
enum Found {
    Module(usize),
    /// Something that this module defines.
    Inside(usize),
}

/// The modules of a crate, its root first.
struct Tree<'a>(Vec<Module<'a>>);

impl<'a> Tree<'a> {
    fn read(sources: &'a [Source], root: &str) -> Self {
        let mut tree = Self(Vec::new());
        tree.add(sources, root, None);
        tree
    }

    /// Adds the module of a file, and those that it declares.
    fn add(&mut self, sources: &'a [Source], path: &str, parent: Option<usize>) -> Option<usize> {
        let source = sources.iter().find(|source| source.path == path)?;
        let (imports, code) = imports(&source.code);
        let number = self.0.len();
        self.0.push(Module { source, parent, children: BTreeMap::new(), imports, code });
        let (folder, file) = path.rsplit_once('/').expect("a source lies in a folder");
        let folder = match file.trim_end_matches(".rs") {
            "lib" | "main" | "mod" => folder.to_owned(),
            name => format!("{folder}/{name}"),
        };
        for name in declared(&source.code) {
            let places = [format!("{folder}/{name}.rs"), format!("{folder}/{name}/mod.rs")];
            if let Some(child) = places.iter().find_map(|place| self.add(sources, place, Some(number))) {
                self.0[number].children.insert(name.to_owned(), child);
            }
        }
        Some(number)
    }

    /// Where `path` leads from `module`, if it stays in the crate.
    fn resolve(&self, module: usize, path: &[String], depth: usize) -> Option<Found> {
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            _ if depth > 8 => None,
            "crate" => Some(0),
            "self" => Some(module),
            "super" => self.0[module].parent,
            name => return self.look_up(module, name, rest, depth, false),
        };
        self.walk(start?, rest, depth)
    }

    /// Where `path` leads from inside of `module`.
    fn walk(&self, module: usize, path: &[String], depth: usize) -> Option<Found> {
        match path {
            [] => Some(Found::Module(module)),
            [first, rest @ ..] if first == "super" => self.walk(self.0[module].parent?, rest, depth),
            [first, rest @ ..] => self.look_up(module, first, rest, depth, true),
        }
    }

    /// Where a name of `module`, and a path behind it, leads. If nothing is known of the name and `may_define`, the
    /// module defines it.
    fn look_up(&self, module: usize, name: &str, rest: &[String], depth: usize, may_define: bool) -> Option<Found> {
        let Module { children, imports, .. } = &self.0[module];
        if let Some(&child) = children.get(name) {
            return self.walk(child, rest, depth);
        }
        let is_meant = |import: &&Import| import.name == name && import.path.last().is_some_and(|last| last != "*");
        if let Some(import) = imports.iter().find(is_meant) {
            // A path of another crate leads nowhere.
            return match self.resolve(module, &import.path, depth + 1)? {
                Found::Module(found) => self.walk(found, rest, depth),
                found @ Found::Inside(_) => Some(found),
            };
        }
        let through = imports.iter().filter(|import| import.path.last().is_some_and(|last| last == "*"));
        for import in through {
            let all = &import.path[..import.path.len() - 1];
            if let Some(Found::Module(found)) = self.resolve(module, all, depth + 1)
                && self.defines(found, name)
            {
                return self.look_up(found, name, rest, depth + 1, true);
            }
        }
        may_define.then_some(Found::Inside(module))
    }

    /// Whether `name` is something that a module defines or imports.
    fn defines(&self, module: usize, name: &str) -> bool {
        let module = &self.0[module];
        let mut before = "";
        let is_defined = names(&module.code).any(|(_, found)| {
            let is_item = ["fn", "struct", "enum", "trait", "type", "const", "static"].contains(&before);
            before = found;
            is_item && found == name
        });
        is_defined || module.children.contains_key(name) || module.imports.iter().any(|import| import.name == name)
    }

    /// The modules that a module depends on, each with a name that says why.
    fn uses(&self, module: usize) -> BTreeMap<usize, String> {
        let mut uses = BTreeMap::new();
        let mut note = |path: &[String], why: &str| {
            if let Some(Found::Module(used) | Found::Inside(used)) = self.resolve(module, path, 0)
                && used != module
            {
                uses.entry(used).or_insert_with(|| why.to_owned());
            }
        };
        let code = &self.0[module].code;
        for import in &self.0[module].imports {
            // Who only passes a name on does not depend on it.
            if !import.is_public || names(code).any(|(_, name)| name == import.name) {
                let path = import.path.strip_suffix(&["*".to_owned()]).unwrap_or(&import.path);
                note(path, &import.path.join("::"));
            }
        }
        for path in paths(code) {
            note(&path, &path.join("::"));
        }
        uses
    }
}

/// The names of the modules that `code` declares to have files of their own.
fn declared(code: &str) -> Vec<&str> {
    let mut before = "";
    let mut declared = Vec::new();
    for (at, name) in names(code) {
        if before == "mod" && code[at + name.len()..].starts_with(';') {
            declared.push(name);
        }
        before = name;
    }
    declared
}

/// The modules that stand inside of a file, as ranges of its code.
pub(crate) fn inner_modules(code: &str) -> Vec<(usize, usize)> {
    let mut before = "";
    let mut found = Vec::new();
    for (at, name) in names(code) {
        let behind = at + name.len();
        if before == "mod" && code[behind..].trim_start().starts_with('{') {
            let open = behind + code[behind..].find('{').expect("it was seen");
            found.push((open, closed(code, open)));
        }
        before = name;
    }
    found
}

/// Takes the imports out of some code.
fn imports(code: &str) -> (Vec<Import>, String) {
    let (mut imports, mut rest) = (Vec::new(), code.to_owned());
    let inner = inner_modules(code);
    for (at, _) in names(code).filter(|&(_, name)| name == "use") {
        // A bound on what a type captures looks alike.
        let Some(end) = code[at..].find(';').map(|len| at + len).filter(|_| !code[at + 3..].starts_with('<')) else {
            continue;
        };
        let before = code[..at].trim_end();
        let is_public = before.ends_with("pub")
            || before.ends_with(')')
                && before.rfind("pub(").is_some_and(|open| closed(before, open + 3) == before.len());
        let depth = inner.iter().filter(|(open, close)| (*open..*close).contains(&at)).count();
        let mut found = Vec::new();
        expand(&code[at + 3..end], &[], &mut found);
        for (name, path) in found {
            // From inside of a module of the file, the file is `super`.
            let path = match path.iter().take_while(|step| *step == "super").count() {
                supers if supers > 0 && depth > 0 => {
                    let kept = path[supers.min(depth)..].to_vec();
                    if kept.first().is_some_and(|step| step == "super") {
                        kept
                    } else {
                        [vec!["self".to_owned()], kept].concat()
                    }
                }
                _ => path,
            };
            imports.push(Import { name, path, is_public });
        }
        rest.replace_range(at..=end, &" ".repeat(end + 1 - at));
    }
    (imports, rest)
}

/// The names that a tree of imports brings, and their paths.
fn expand(tree: &str, before: &[String], found: &mut Vec<(String, Vec<String>)>) {
    let tree = tree.trim().trim_start_matches("::");
    if let Some(open) = tree.find('{') {
        let before = [before, &split_path(&tree[..open])].concat();
        let (inside, mut depth, mut start) = (&tree[open + 1..closed(tree, open) - 1], 0, 0);
        for (at, letter) in inside.char_indices() {
            match letter {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    expand(&inside[start..at], &before, found);
                    start = at + 1;
                }
                _ => {}
            }
        }
        return expand(&inside[start..], &before, found);
    }
    let (path, alias) = tree.split_once(" as ").unwrap_or((tree, ""));
    let mut path = [before, &split_path(path)].concat();
    if path.len() > before.len() {
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let name = if alias.is_empty() { path.last().cloned().unwrap_or_default() } else { alias.trim().to_owned() };
        found.push((name, path));
    }
}

fn split_path(path: &str) -> Vec<String> {
    path.split("::").map(str::trim).filter(|step| !step.is_empty()).map(str::to_owned).collect()
}

/// The paths of more than one step that some code names.
fn paths(code: &str) -> Vec<Vec<String>> {
    let inner = inner_modules(code);
    let mut paths: Vec<Vec<String>> = Vec::new();
    let mut end = 0;
    for (at, name) in names(code) {
        let continues = end > 0 && &code[end..at] == "::" && !paths.is_empty();
        if continues {
            paths.last_mut().expect("there is one").push(name.to_owned());
        } else if !code[..at].ends_with("::") && !code[..at].ends_with("pub(in ") {
            let depth = inner.iter().filter(|(open, close)| (*open..*close).contains(&at)).count();
            paths.push(if name == "super" && depth > 0 { vec!["self".to_owned()] } else { vec![name.to_owned()] });
        } else {
            continue;
        }
        end = at + name.len();
    }
    paths.retain(|path| path.len() > 1);
    paths
}

/// The shortest way from a module back to itself, if there is one.
fn circle(uses: &[BTreeMap<usize, String>], start: usize) -> Option<Vec<usize>> {
    let mut came_from = BTreeMap::new();
    let mut next = VecDeque::from([start]);
    while let Some(at) = next.pop_front() {
        for &used in uses[at].keys() {
            if used == start {
                let mut way = vec![at];
                while let Some(&before) = came_from.get(way.last().expect("it has begun")) {
                    way.push(before);
                }
                way.reverse();
                return Some(way);
            }
            if let std::collections::btree_map::Entry::Vacant(entry) = came_from.entry(used) {
                entry.insert(at);
                next.push_back(used);
            }
        }
    }
    None
}

/// The folder that all of these files lie in.
fn folder(files: &[&str]) -> String {
    let split = |file: &str| file.split('/').map(str::to_owned).collect::<Vec<_>>();
    let mut common = split(files[0]);
    common.pop();
    for file in files {
        let same = common.iter().zip(split(file)).take_while(|(a, b)| **a == *b).count();
        common.truncate(same);
    }
    common.join("/")
}

#[test]
fn no_file_depends_on_one_that_depends_on_it() {
    let sources = sources();
    let (mut found, mut folders) = (Vec::new(), BTreeSet::new());
    for root in CRATES {
        let tree = Tree::read(&sources, root);
        assert!(tree.0.len() > 5, "{root} has more modules than {}", tree.0.len());
        let uses: Vec<_> = (0..tree.0.len()).map(|module| tree.uses(module)).collect();
        let path = |module: usize| tree.0[module].source.path.as_str();
        for module in 0..tree.0.len() {
            let Some(way) = circle(&uses, module) else { continue };
            // Each circle is told once, from its first file.
            if way.iter().any(|&other| other < module) {
                continue;
            }
            let folder = folder(&way.iter().map(|&module| path(module)).collect::<Vec<_>>());
            folders.insert(folder.clone());
            if !KNOWN.contains(&folder.as_str()) {
                let step = |at: usize| {
                    let (from, to) = (way[at], way[(at + 1) % way.len()]);
                    format!("{} names {} of {}", path(from), uses[from][&to], path(to))
                };
                found.push((0..way.len()).map(step).collect::<Vec<_>>().join(",\n  "));
            }
        }
    }
    found.extend(
        KNOWN.iter().filter(|known| !folders.contains(**known)).map(|known| format!("{known} has no circle any more")),
    );
    none(&found, "files do not depend on each other in a circle");
}

#[test]
fn paths_lead_through_those_who_pass_a_name_on_to_the_file_that_defines_it() {
    let source = |path: &str, code: &str| Source { path: path.to_owned(), text: String::new(), code: code.to_owned() };
    let sources = [
        source("x/lib.rs", "mod a; mod b;"),
        source("x/a/mod.rs", "mod one; mod two; pub(crate) use one::{One, more as less};"),
        source("x/a/one.rs", "use super::two::Two; pub struct One; fn more(_: Two) {}"),
        source("x/a/two.rs", "pub struct Two(super::One);"),
        source("x/b.rs", "use crate::a; fn f() { a::less() } mod inner { use super::g; }"),
    ];
    let tree = Tree::read(&sources, "x/lib.rs");
    let uses: Vec<_> = (0..tree.0.len()).map(|module| tree.uses(module).into_keys().collect::<Vec<_>>()).collect();
    assert_eq!(uses, [vec![], vec![], vec![3], vec![2], vec![1, 2]]);
    let uses: Vec<_> = (0..tree.0.len()).map(|module| tree.uses(module)).collect();
    assert_eq!(circle(&uses, 2), Some(vec![2, 3]));
    assert_eq!(circle(&uses, 4), None);
}
