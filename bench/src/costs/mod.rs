//! What the algorithms of the library send, beside what their documentation says.
//!
//! Each runs in the simulator with as much work for each processor whatever their number is, and with no memory that
//! is shared. The simulator counts: the most words that one processor sends or receives at each meeting, added up, and
//! the most messages that one processor sends.

mod calls;

use calls::CALLS;
use std::fmt;
use superstep::{
    Config, Fabric, Result,
    sim::{Cost, Trace},
};

/// The numbers of processors that are looked at.
pub const PROCS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
/// How many elements each processor has.
const ELEMENTS: usize = 1024;
/// So many words say, in each message and with each value that all get at the boundary, what it is and whose.
const HEADER_WORDS: f64 = 8.0;
/// A sample deals elements so evenly, and moves at most so many of them once more.
const UNEVEN: f64 = 1.25;

/// What one algorithm sends.
#[derive(Clone, Debug)]
pub struct Line {
    /// What it is called.
    pub name: &'static str,
    /// How many words the documentation says that each processor sends; n words in all on p processors.
    pub says: &'static str,
    /// What was counted, for each of [`PROCS`].
    pub counts: Vec<Counts>,
}

/// What a processor sends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// How many processors there are.
    pub procs: usize,
    /// How many messages.
    pub messages: usize,
    /// How many words of 8 bytes.
    pub words: u64,
    /// How many words the documentation says, without what comes with each message.
    pub said: f64,
}

impl Counts {
    /// Whether that is not more than the documentation says.
    pub fn is_as_said(&self) -> bool {
        self.words as f64 <= UNEVEN * self.said + HEADER_WORDS * (self.messages + self.procs) as f64
    }
}

/// Counts what every algorithm sends on as many processors as are asked for.
pub fn costs(procs: &[usize]) -> Result<Vec<Line>> {
    let counted = |call: &calls::Call| {
        let counts = procs.iter().map(|&procs| count(call, procs)).collect::<Result<_>>()?;
        Ok(Line { name: call.name, says: call.says, counts })
    };
    CALLS.iter().map(counted).collect()
}

fn count(call: &calls::Call, procs: usize) -> Result<Counts> {
    let (before, after) = (traffic(procs, call, false)?, traffic(procs, call, true)?);
    let said = (call.words)(ELEMENTS as f64, procs as f64);
    Ok(Counts { procs, messages: after.0 - before.0, words: after.1 - before.1, said })
}

/// The most messages that one processor sends, and the words that are sent, with the call or with what it needs alone.
fn traffic(procs: usize, call: &calls::Call, calls: bool) -> Result<(usize, u64)> {
    let (trace, fabric) = (Trace::new(), Fabric::Sim { seed: 0, shares_memory: false });
    let config = Config::new().procs(procs).fabric(fabric).cost(Cost::default()).trace(&trace);
    config.run(|g| (call.run)(g, ELEMENTS, calls))?;
    let (text, number) = (trace.text(), |word: &str| word.parse::<usize>().ok());
    let is_message = |line: &&str| [" sends a tray of ", " sends a piece of "].iter().any(|sends| line.contains(sends));
    let mut sent = vec![0; procs];
    for line in text.lines().filter(is_message) {
        // Of two processors the first sends, and the second is sent to.
        let from = line.split_whitespace().skip_while(|&word| word != "processor").nth(1).and_then(number);
        let to = line.split_whitespace().next_back().and_then(number);
        if let Some(from) = from.filter(|_| from != to) {
            sent[from] += 1;
        }
    }
    let words = trace.predicted().iter().map(|step| step.words).sum();
    Ok((sent.into_iter().max().unwrap_or(0), words))
}

/// A row of a table: what the documentation says, and for each number of processors what was counted.
impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "| `{}` | {} |", self.name, self.says)?;
        for counts in &self.counts {
            write!(f, " {} / {:.0} ({}) |", counts.words, counts.said, counts.messages)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of `superstep::algorithms`, and what plans and products with sparse matrices say of themselves.
    #[test]
    fn no_algorithm_sends_more_than_its_cost_line_says() {
        for line in costs(&[1, 2, 4, 5, 8, 16, 32, 64]).expect("every run succeeds") {
            for counts in &line.counts {
                assert!(counts.is_as_said(), "{}: {counts:?}", line.name);
                assert!(counts.procs > 1 || counts.messages == 0, "{}: {counts:?}", line.name);
            }
        }
    }
}
