//! What the standard says, held by programs of every kind on every ground.

use crate::workshop::{C, C_SIZE_T, C89, CLANG, CPP, Compiler, Start, here, run};
use std::path::{Path, PathBuf};

fn sources() -> Vec<PathBuf> {
    let names = ["claims", "registration", "transfers", "messages", "others"];
    names.iter().map(|name| here().join(format!("tests/c/{name}.c"))).collect()
}

fn list(program: &Path) -> Vec<String> {
    let listed = run(Start::Forked.command(program, 1).args(["--list"]), "").good("claims are listed");
    let claims: Vec<String> = listed.out.lines().map(str::to_owned).collect();
    assert!(claims.len() >= 35, "only {} claims", claims.len());
    claims
}

fn hold(program: &Path, start: Start, processes: &[usize]) {
    for claim in list(program) {
        for &count in processes {
            let mut command = start.command(program, count);
            let outcome = run(command.args([&claim, &count.to_string()]), "");
            let said = format!("{claim}: holds on {count}\n");
            assert!(outcome.code == Some(0) && outcome.out == said, "{claim} on {count}, {start:?}: {outcome:#?}");
        }
    }
}

fn hold_forked(name: &str, compiler: Compiler, is_static: bool) {
    hold(&compiler.build(name, &sources(), is_static), Start::Forked, &[1, 2, 3, 5]);
}

#[test]
fn claims_hold_in_c_of_1989() {
    hold_forked("claims-c89", C89, false);
}

#[test]
fn claims_hold_with_size_t() {
    hold_forked("claims-size-t", C_SIZE_T, false);
}

#[test]
fn claims_hold_in_cpp() {
    hold_forked("claims-cpp", CPP, false);
}

#[test]
fn claims_hold_in_a_program_by_clang() {
    hold_forked("claims-clang", CLANG, false);
}

#[test]
fn claims_hold_with_the_static_library() {
    hold_forked("claims-static", C, true);
}

#[test]
fn claims_hold_under_open_mpi() {
    hold(&C.build("claims-openmpi", &sources(), false), Start::OpenMpi, &[3]);
}

#[test]
fn claims_hold_under_mpich() {
    hold(&C_SIZE_T.build("claims-mpich", &sources(), false), Start::Mpich, &[3]);
}
