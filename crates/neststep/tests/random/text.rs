//! A program as text.

use crate::program::{CELLS, Expr, Op, PRIVATE, Part, Program, Stmt};
use std::fmt::Write;

fn op(op: Op) -> &'static str {
    match op {
        Op::Any => "?",
        Op::Sum => "+",
        Op::Max => "max",
    }
}

fn expr(e: &Expr, program: &Program) -> String {
    let index = |at: &Expr, len: usize| format!("({}).rem_euclid({len}) as usize", expr(at, program));
    match e {
        Expr::Number(number) => format!("({number}i64)"),
        Expr::Rank => "($ as i64)".to_owned(),
        Expr::Size => "(# as i64)".to_owned(),
        Expr::Id => "(@ as i64)".to_owned(),
        Expr::Loop(number) => format!("(i{number} as i64)"),
        Expr::Private(number) => format!("v{number}"),
        Expr::Shared(number) => format!("x{number}"),
        Expr::Cell(at) => format!("r[{}]", index(at, CELLS)),
        Expr::Element(array, at) => format!("a{array}[{}]", index(at, program.arrays[*array].len)),
        Expr::Section(array, first, last, by) => {
            format!("{{ let part: Vec<i64> = a{array}[{first}:{last}:{by}]; total(&part) }}")
        }
        Expr::Add(one, other) => format!("(({} + {}) % 997)", expr(one, program), expr(other, program)),
        Expr::Mul(one, other) => format!("(({} * {}) % 997)", expr(one, program), expr(other, program)),
    }
}

fn stmts(list: &[Stmt], program: &Program, out: &mut String) {
    for stmt in list {
        let text = |e: &Expr| expr(e, program);
        let index = |at: &Expr, len: usize| format!("({}).rem_euclid({len}) as usize", text(at));
        let line = match stmt {
            Stmt::SetPrivate(number, value) => format!("v{number} = {};", text(value)),
            Stmt::SetShared(number, value) => format!("x{number} = {};", text(value)),
            Stmt::AddShared(number, value) => format!("x{number} += {};", text(value)),
            Stmt::SetCell(at, value) => format!("r[{}] = {};", index(at, CELLS), text(value)),
            Stmt::AddCell(at, value) => format!("r[{}] += {};", index(at, CELLS), text(value)),
            Stmt::Assign(array, at, value) => {
                format!("a{array}[{}] = {};", index(at, program.arrays[*array].len), text(value))
            }
            Stmt::Combine(array, at, value) => {
                let place = format!("a{array}[{}]", index(at, program.arrays[*array].len));
                match program.arrays[*array].op {
                    Op::Max => format!("{place} = max({place}, {});", text(value)),
                    _ => format!("{place} += {};", text(value)),
                }
            }
            Stmt::AssignSection(array, first, values) => {
                let values: Vec<String> = values.iter().map(text).collect();
                let last = first + values.len() - 1;
                format!("a{array}[{first}:{last}] = [{}];", values.join(", "))
            }
            Stmt::Move(target, source) => format!("a{target}[:] = a{source}[:];"),
            Stmt::If(condition, then, other) => {
                let (mut yes, mut no) = (String::new(), String::new());
                stmts(then, program, &mut yes);
                stmts(other, program, &mut no);
                format!("if {} % 2 == 0 {{\n{yes}}} else {{\n{no}}}", text(condition))
            }
            Stmt::For(number, count, body) => {
                let mut inner = String::new();
                stmts(body, program, &mut inner);
                format!("for i{number} in 0..{count} {{\n{inner}}}")
            }
            Stmt::SumOwned(array, target) => {
                format!("forall (k, a{array}) v{target} = (v{target} * 3 + a{array}[k] + k as i64) % 997;")
            }
            Stmt::SetOwned(array, number, value) => {
                format!("forall (i{number}, a{array}) a{array}[i{number}] = {};", text(value))
            }
            Stmt::Break(condition) => format!("if {} % 2 == 0 {{ break; }}", text(condition)),
        };
        writeln!(out, "{line}").expect("a text can be written");
    }
}

fn parts(list: &[Part], program: &Program, out: &mut String) {
    for part in list {
        match part {
            Part::Step(body, combine) => {
                out.push_str("step {\n");
                stmts(body, program, out);
                out.push('}');
                for (number, by, target) in combine {
                    let target = target.map(|target| format!(" : v{target}")).unwrap_or_default();
                    write!(out, " combine (x{number}<{}{target}>)", op(*by)).expect("a text can be written");
                }
                out.push('\n');
            }
            Part::Private(number, value) => {
                writeln!(out, "v{number} = {};", expr(value, program)).expect("a text can be written");
            }
            Part::Repeat(number, count, inner) => {
                writeln!(out, "for i{number} in 0..{count} {{").expect("a text can be written");
                parts(inner, program, out);
                out.push_str("}\n");
            }
            Part::Nest(count, choice, steps) => {
                let choice = choice.as_ref().map(|choice| {
                    let value = expr(choice, program);
                    format!(", @ = ({value}).rem_euclid({}) as usize", count + 1)
                });
                writeln!(out, "step<{count}{}> {{", choice.unwrap_or_default()).expect("a text can be written");
                for step in steps {
                    out.push_str("step {\n");
                    stmts(step, program, out);
                    out.push_str("}\n");
                }
                out.push_str("}\n");
            }
        }
    }
}

/// The program as a function that returns everything it knows in the end.
pub(crate) fn function(program: &Program, number: usize) -> String {
    let mut out = format!("pub mod p{number} {{ use super::*; neststep! {{ pub fn program() -> Vec<i64> {{\n");
    for number in 0..PRIVATE {
        writeln!(out, "let mut v{number}: i64 = {number};").expect("a text can be written");
    }
    for (number, by) in program.shared.iter().enumerate() {
        writeln!(out, "sh<{}> x{number}: i64 = {};", op(*by), number + 1).expect("a text can be written");
    }
    writeln!(out, "sh<{}> r: [i64; {CELLS}];", op(program.cells)).expect("a text can be written");
    for (number, array) in program.arrays.iter().enumerate() {
        let (by, lies) = (op(array.op), if array.is_cyclic { "%" } else { "/" });
        writeln!(out, "sh<{by}> a{number}: [i64; {}]<{lies}>;", array.len).expect("a text can be written");
        writeln!(out, "forall (k, a{number}) a{number}[k] = k as i64 + 1;").expect("a text can be written");
    }
    parts(&program.parts, program, &mut out);
    out.push_str("let mut all = vec![");
    for number in 0..PRIVATE {
        write!(out, "v{number}, ").expect("a text can be written");
    }
    for number in 0..program.shared.len() {
        write!(out, "x{number}, ").expect("a text can be written");
    }
    out.push_str("];\nall.extend(r.iter());\n");
    for number in 0..program.arrays.len() {
        writeln!(out, "step {{ all.extend(a{number}[:]); }}").expect("a text can be written");
    }
    out.push_str("all\n}\n} }\n");
    out
}
