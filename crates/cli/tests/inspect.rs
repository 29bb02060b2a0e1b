//! `superstep inspect` as its users meet it.

use serde_json::Value;
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};
use superstep::{Block, Config, Fabric, Group, files::One};

fn inspect(path: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_superstep"));
    command.arg("inspect").arg(path).args(more).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the output is UTF-8")
}

/// A folder of a test's own, which goes with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("superstep-inspect-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder can be made");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn save(g: &mut Group, folder: &Folder) -> superstep::Result {
    let (u, done) = (g.array::<f64, Block>(10), One::new(7u32));
    let mut saved = g.checkpoint(&folder.0)?;
    saved.add("u", &u);
    saved.add("done", &done);
    saved.save(g)?;
    saved.save(g)
}

#[test]
fn the_generations_of_a_checkpoint_are_listed_and_read() {
    let folder = Folder::new("generations");
    let run = Config::new().procs(3).fabric(Fabric::Threads);
    run.run(|g| {
        save(g, &folder)?;
        g.split(2, |sub| save(sub, &folder));
        Ok::<_, superstep::Error>(())
    })
    .unwrap();
    fs::create_dir(folder.0.join("generation-000003")).unwrap();
    let output = inspect(&folder.0, &[]);
    assert!(output.status.success(), "{output:?}");
    let said = text(&output.stdout);
    for words in [
        "generation-000002: saved to the end\n  by group 0 of 3, with superstep ",
        "\n  u     array of f64, shape [10], Block, 80 bytes\n  done  value of the leader of u32, 4 bytes\n",
        "generation-000003: not saved to the end\n",
        "group-1/generation-000001: saved to the end\n  by group 0/1 of 1, with superstep ",
    ] {
        assert!(said.contains(words), "{said}");
    }
    let output = inspect(&folder.0, &["--verify", "--json"]);
    assert!(output.status.success(), "{output:?}");
    let lines: Vec<Value> = text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 7);
    assert_eq!((&lines[0]["generation"], &lines[0]["state"]), (&Value::from(2), &Value::from("whole")));
    assert_eq!(lines[0]["parts"][0]["type"], "f64");
}

#[test]
fn damage_is_named_and_is_the_exit_code() {
    let folder = Folder::new("damage");
    Config::new().procs(2).fabric(Fabric::Threads).run(|g| save(g, &folder)).unwrap();
    let path = folder.0.join("generation-000002/0-u");
    let mut bytes = fs::read(&path).unwrap();
    bytes[50] ^= 1;
    fs::write(&path, bytes).unwrap();
    assert!(inspect(&folder.0, &[]).status.success());
    let output = inspect(&folder.0, &["--verify"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stdout);
    assert!(said.contains("generation-000002: damaged: ") && said.contains("generation-000001: whole"), "{said}");
    assert!(said.contains("0-u is not as it was written between bytes 40 and 80"), "{said}");
    fs::write(folder.0.join("generation-000001/manifest.json"), "{}").unwrap();
    let said = text(&inspect(&folder.0, &[]).stdout);
    assert!(said.contains("generation-000001: damaged: its manifest does not have its checksum"), "{said}");
}

#[test]
fn an_npy_file_is_described() {
    let folder = Folder::new("npy");
    let path = folder.0.join("a.npy");
    Config::new()
        .procs(2)
        .fabric(Fabric::Threads)
        .run(|g| {
            let a = g.array_with::<f32, _, 2>([3, 4], Block::new());
            g.write_npy(&path, &a)
        })
        .unwrap();
    let output = inspect(&path, &["--verify"]);
    assert!(output.status.success(), "{output:?}");
    assert!(
        text(&output.stdout).contains("a.npy: whole\n  elements of type f4, shape [3, 4], 176 bytes"),
        "{output:?}"
    );
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..170]).unwrap();
    let output = inspect(&path, &["--json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("it has 170 bytes, and 176 by its header"), "{output:?}");
}

#[test]
fn what_is_neither_is_refused() {
    let folder = Folder::new("neither");
    for (path, says) in [
        (folder.0.clone(), "holds no checkpoint"),
        (folder.0.join("none.npy"), "none.npy cannot be read: "),
        (Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"), "Cargo.toml is no .npy file"),
    ] {
        let output = inspect(&path, &[]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(text(&output.stderr).contains(says), "{output:?}");
    }
}
