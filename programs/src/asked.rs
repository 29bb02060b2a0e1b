//! What the command line may ask for.

/// A number of things of which there must be some.
pub(crate) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(0) => Err("there must be at least one".to_owned()),
        Ok(count) => Ok(count),
        Err(error) => Err(error.to_string()),
    }
}

/// A number of things that are numbered by 32 bits.
pub(crate) fn below_32_bits(text: &str) -> Result<usize, String> {
    let count = at_least_one(text)?;
    let most = u32::MAX as usize;
    if count > most { Err(format!("there can be no more than {most}")) } else { Ok(count) }
}
