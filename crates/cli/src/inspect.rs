//! `superstep inspect`: what is in a checkpoint or an `.npy` file, and whether it is whole.

use crate::{args::Inspect, failure::Failure, jsonl};
use serde_json::Value;
use std::{
    fmt::Write as _,
    io::{self, Write as _},
    path::Path,
    process::ExitCode,
};
use superstep::files::inspect::{self, Flaw, Folder, Manifest, Npy, Part};

pub(crate) fn run(args: &Inspect) -> Result<ExitCode, Failure> {
    let mut report = Report { is_json: args.json, is_verified: args.verify, text: String::new(), is_whole: true };
    if args.path.is_dir() {
        let found = report.folder(&inspect::folder(&args.path)).map_err(Failure::failed)?;
        if found == 0 {
            return Err(Failure::Failed(format!("{} holds no checkpoint", args.path.display())));
        }
    } else {
        report.npy(&inspect::npy(&args.path).map_err(Failure::failed)?);
    }
    io::stdout().write_all(report.text.as_bytes())?;
    Ok(if report.is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What is said, line by line.
struct Report {
    is_json: bool,
    is_verified: bool,
    text: String,
    /// Whether nothing is damaged.
    is_whole: bool,
}

impl Report {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// The generations of a folder and of the subgroups in it, the newest first: how many there are.
    fn folder(&mut self, folder: &Folder) -> Result<usize, String> {
        let (saved, begun) = folder.saved()?;
        for &number in &saved {
            let manifest = folder.manifest(number);
            let flaw = match &manifest {
                Ok(manifest) if self.is_verified => inspect::verify(folder, number, manifest),
                Ok(_) => None,
                Err(flaw) => Some(flaw.to_string()),
            };
            self.is_whole &= flaw.is_none();
            self.generation(&folder.generation(number), number, &manifest, flaw);
        }
        for &number in &begun {
            self.begun(&folder.generation(number), number);
        }
        let mut found = saved.len() + begun.len();
        for subgroup in folder.subgroups()? {
            found += self.folder(&subgroup)?;
        }
        Ok(found)
    }

    fn generation(&mut self, path: &Path, number: u64, manifest: &Result<Manifest, Flaw>, flaw: Option<String>) {
        let state = match flaw {
            Some(flaw) => format!("damaged: {flaw}"),
            None if self.is_verified => "whole".into(),
            None => "saved to the end".into(),
        };
        let place = path.display().to_string();
        let Ok(manifest) = manifest else {
            return if self.is_json {
                self.line(&jsonl::line(&[
                    ("path", Value::from(place)),
                    ("generation", Value::from(number)),
                    ("state", Value::from(state)),
                ]));
            } else {
                self.line(&format!("{place}: {state}"));
            };
        };
        if self.is_json {
            let parts: Vec<Value> = manifest.parts.iter().map(part_as_json).collect();
            self.line(&jsonl::line(&[
                ("path", Value::from(place)),
                ("generation", Value::from(number)),
                ("state", Value::from(state)),
                ("processors", Value::from(manifest.processors)),
                ("group", Value::from(manifest.group.clone())),
                ("superstep", Value::from(manifest.superstep.clone())),
                ("build", Value::from(manifest.build.clone())),
                ("parts", Value::from(parts)),
            ]));
            return;
        }
        let Manifest { processors, group, superstep, build, parts, .. } = manifest;
        self.line(&format!("{place}: {state}"));
        self.line(&format!("  by group {group} of {processors}, with superstep {superstep}, build {build}"));
        let width = parts.iter().map(|part| part.name.chars().count()).max().unwrap_or(0);
        for part in parts {
            self.line(&format!("  {:width$}  {}", part.name, in_words(part)));
        }
    }

    fn begun(&mut self, path: &Path, number: u64) {
        let (place, state) = (path.display().to_string(), "not saved to the end");
        if self.is_json {
            let entries =
                [("path", Value::from(place)), ("generation", Value::from(number)), ("state", Value::from(state))];
            self.line(&jsonl::line(&entries));
        } else {
            self.line(&format!("{place}: {state}"));
        }
    }

    fn npy(&mut self, npy: &Npy) {
        let is_whole = npy.asked == Some(npy.bytes);
        self.is_whole &= is_whole;
        let state = match npy.asked {
            _ if is_whole => "whole".to_owned(),
            Some(asked) => format!("damaged: it has {} bytes, and {asked} by its header", npy.bytes),
            None => format!("damaged: nobody knows how many bytes {} has", npy.kind),
        };
        let (place, order) = (npy.path.display(), if npy.is_big { ", the highest byte first" } else { "" });
        if self.is_json {
            self.line(&jsonl::line(&[
                ("path", Value::from(place.to_string())),
                ("state", Value::from(state)),
                ("type", Value::from(npy.kind.clone())),
                ("shape", Value::from(npy.shape.clone())),
                ("bytes", Value::from(npy.bytes)),
            ]));
        } else {
            self.line(&format!("{place}: {state}"));
            self.line(&format!("  elements of type {}{order}, shape {:?}, {} bytes", npy.kind, npy.shape, npy.bytes));
        }
    }
}

fn in_words(part: &Part) -> String {
    let what = &part.what;
    let mut words = format!("{} of {}", what.kind, what.of);
    if !what.shape.is_empty() {
        let _ = write!(words, ", shape {:?}", what.shape);
    }
    if !what.distribution.is_empty() {
        let _ = write!(words, ", {}", what.distribution);
    }
    let _ = write!(words, ", {} bytes", part.bytes);
    words
}

fn part_as_json(part: &Part) -> Value {
    serde_json::json!({
        "name": part.name,
        "kind": part.what.kind,
        "type": part.what.of,
        "shape": part.what.shape,
        "distribution": part.what.distribution,
        "file": part.file,
        "bytes": part.bytes,
    })
}
