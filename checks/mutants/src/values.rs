//! The values that a body can be replaced by, from the type it is to have.

use syn::{GenericArgument, PathArguments, ReturnType, Type};

/// What stands for no more than this many values.
const MOST: usize = 6;

/// The values to return instead, as text. `line` writes a part of the source on one line.
pub(crate) fn values(output: &ReturnType, line: &dyn Fn(&syn::Expr) -> String) -> Vec<String> {
    match output {
        ReturnType::Default => vec!["()".to_owned()],
        ReturnType::Type(_, of) => of_type(of, line),
    }
}

fn texts(all: &[&str]) -> Vec<String> {
    all.iter().map(|&text| text.to_owned()).collect()
}

fn each(of: &Type, line: &dyn Fn(&syn::Expr) -> String, wrap: impl Fn(&str) -> String) -> Vec<String> {
    of_type(of, line).iter().map(|value| wrap(value)).collect()
}

fn of_type(of: &Type, line: &dyn Fn(&syn::Expr) -> String) -> Vec<String> {
    match of {
        Type::Paren(inner) => of_type(&inner.elem, line),
        Type::Group(inner) => of_type(&inner.elem, line),
        Type::Array(array) => each(&array.elem, line, |value| format!("[{value}; {}]", line(&array.len))),
        Type::Reference(inner) => match &*inner.elem {
            Type::Path(path) if path.path.is_ident("str") => texts(&[r#""""#, r#""xyzzy""#]),
            Type::Slice(_) => texts(&["Vec::leak(Vec::new())"]),
            Type::TraitObject(_) => Vec::new(),
            to => each(to, line, |value| format!("Box::leak(Box::new({value}))")),
        },
        Type::Tuple(tuple) => {
            let mut all = vec![String::new()];
            for part in &tuple.elems {
                let parts = of_type(part, line);
                all = all.iter().flat_map(|before| parts.iter().map(move |part| format!("{before}{part}, "))).collect();
            }
            all.truncate(MOST);
            all.iter().map(|parts| format!("({})", parts.strip_suffix(' ').unwrap_or(parts))).collect()
        }
        Type::Path(path) => {
            let last = path.path.segments.last().expect("a path has a part");
            let parts = match &last.arguments {
                PathArguments::AngleBracketed(parts) => parts.args.iter().collect(),
                _ => Vec::new(),
            };
            let first = parts.iter().find_map(|part| match part {
                GenericArgument::Type(of) => Some(of),
                _ => None,
            });
            let inside = |wrap: fn(&str) -> String| first.map(|of| each(of, line, wrap)).unwrap_or_default();
            match last.ident.to_string().as_str() {
                "bool" => texts(&["true", "false"]),
                "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => texts(&["0", "1"]),
                "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => texts(&["0", "1", "-1"]),
                "f32" | "f64" => texts(&["0.0", "1.0", "-1.0"]),
                "String" => texts(&["String::new()", r#""xyzzy".into()"#]),
                "Result" => inside(|value| format!("Ok({value})")),
                "Option" => [texts(&["None"]), inside(|value| format!("Some({value})"))].concat(),
                "Vec" => [texts(&["vec![]"]), inside(|value| format!("vec![{value}]"))].concat(),
                "Box" | "Arc" | "Rc" => {
                    let name = last.ident.to_string();
                    inside(|value| value.to_owned()).iter().map(|value| format!("{name}::new({value})")).collect()
                }
                _ => texts(&["Default::default()"]),
            }
        }
        _ => Vec::new(),
    }
}
