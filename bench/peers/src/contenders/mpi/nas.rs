//! Kernels of the NAS benchmarks under MPI: superstep's, and IS and CG in C.

use super::{ANSWER, launch};
use crate::{Sample, contenders::superstep, failure::Failure};
use clap::{Args, ValueEnum};
use superstep_programs::nas::{self, Class, Kernel, cg, is};

/// A process's part in a kernel.
#[derive(Args, Debug)]
pub(crate) struct Part {
    #[arg(value_enum)]
    kernel: Kernel,
    #[arg(value_enum)]
    class: Class,
}

/// Takes part, and prints what came of it. Digests of all processes add up, so one says what is right.
pub(crate) fn run(part: &Part) -> Result<(), Failure> {
    let sample = ::superstep::run(|g| {
        let sample = superstep::nas::sample(&nas::run(g, part.kernel, part.class));
        ::superstep::Local(if g.is_leader() { sample } else { Sample { digest: 0, ..sample } })
    });
    let Sample { seconds, digest, .. } = sample.map_err(Failure::new)?;
    println!("{ANSWER}{seconds} {digest}");
    Ok(())
}

/// Lets superstep run a kernel once.
pub(crate) fn superstep(kernel: Kernel, class: Class) -> Result<Sample, Failure> {
    let this = std::env::current_exe().map_err(Failure::new)?;
    let name = |value: Option<clap::builder::PossibleValue>| value.expect("none is skipped").get_name().to_owned();
    launch(&this, &["nas-rank".to_owned(), name(kernel.to_possible_value()), name(class.to_possible_value())])
}

/// Lets C by hand run one that is there: it is told how large the problem is, and what must come out.
pub(crate) fn by_hand(kernel: Kernel, class: Class) -> Result<Sample, Failure> {
    let words: Vec<String> = if kernel == Kernel::Cg {
        let cg::Size { order, nonzero, shift, iterations } = cg::size(class);
        let zeta = cg::value(class, 0.0).official;
        vec![
            "cg".into(),
            order.to_string(),
            nonzero.to_string(),
            shift.to_string(),
            iterations.to_string(),
            zeta.to_string(),
        ]
    } else {
        let (len, most, iterations) = is::size(class);
        let mut words = vec!["is".into(), len.to_string(), most.to_string(), iterations.to_string()];
        let mut places = Vec::new();
        let values = is::values(class, iterations, |place| {
            places.push(place);
            0
        });
        words.extend(
            places.iter().zip(&values).flat_map(|(place, value)| [place.to_string(), value.official.to_string()]),
        );
        words
    };
    launch(&super::program("nas")?, &words)
}
