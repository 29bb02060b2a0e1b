//! Knows which items are built when the tests of the mutants are.

use syn::{Attribute, Expr, ExprLit, Lit, Meta, Token, punctuated::Punctuated};

/// Whether what has these attributes is built here, outside of tests.
pub(crate) fn is_built(attributes: &[Attribute]) -> bool {
    attributes.iter().filter(|a| a.path().is_ident("cfg")).all(|a| a.parse_args().is_ok_and(|meta| holds(&meta)))
}

fn holds(meta: &Meta) -> bool {
    match meta {
        Meta::Path(path) => path.is_ident("unix") || path.is_ident("debug_assertions") || path.is_ident("panic"),
        Meta::NameValue(pair) => {
            let Expr::Lit(ExprLit { lit: Lit::Str(value), .. }) = &pair.value else { return false };
            let value = value.value();
            let name = pair.path.get_ident().map(ToString::to_string).unwrap_or_default();
            match name.as_str() {
                "target_os" => value == std::env::consts::OS,
                "target_arch" => value == std::env::consts::ARCH,
                "target_family" => value == std::env::consts::FAMILY,
                "target_pointer_width" => value == usize::BITS.to_string(),
                "target_endian" => (value == "little") == cfg!(target_endian = "little"),
                "target_env" => value == "gnu",
                "panic" => value == "unwind",
                "target_has_atomic" => true,
                _ => false,
            }
        }
        Meta::List(list) => {
            let parts = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).unwrap_or_default();
            match list.path.get_ident().map(ToString::to_string).as_deref() {
                Some("all") => parts.iter().all(holds),
                Some("any") => parts.iter().any(holds),
                Some("not") => !parts.iter().all(holds),
                _ => false,
            }
        }
    }
}
