//! What came of a trial: one line that another implementation can be compared with.

use super::Kernel;
use std::fmt::{self, Write as _};

/// Something that is said of an answer.
///
/// ```
/// use superstep_programs::gap::Fact;
///
/// assert_eq!(Fact::Top(vec![(3, 1.0), (1, 0.25)]).to_string(), "3:1.0000000 1:0.2500000");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// A number of something.
    Count(u64),
    /// A measure.
    Real(f64),
    /// The vertices with the highest scores, from the highest down.
    Top(Vec<(usize, f64)>),
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Real(real) => write!(f, "{real:.3e}"),
            Self::Top(list) => {
                let all: Vec<String> = list.iter().map(|(vertex, score)| format!("{vertex}:{score:.7}")).collect();
                f.write_str(&all.join(" "))
            }
        }
    }
}

impl Fact {
    fn json(&self) -> String {
        match self {
            Self::Count(count) => count.to_string(),
            Self::Real(real) if real.is_finite() => format!("{real:e}"),
            Self::Real(_) => "null".to_owned(),
            Self::Top(list) => {
                let all: Vec<String> = list.iter().map(|(vertex, score)| format!("[{vertex},{score:e}]")).collect();
                format!("[{}]", all.join(","))
            }
        }
    }
}

/// What came of a trial.
///
/// ```
/// use superstep_programs::gap::{Fact, Kernel, Outcome};
///
/// let facts = vec![("triangles", Fact::Count(5))];
/// let size = [6, 20];
/// let outcome = Outcome { kernel: Kernel::Tc, size, trial: 0, seconds: 0.5, is_right: Some(true), facts };
/// assert_eq!(outcome.to_string(), "tc of 6 vertices and 20 edges: triangles 5; verified, in 0.500000 s");
/// ```
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Which kernel.
    pub kernel: Kernel,
    /// How many vertices and edges the graph has.
    pub size: [usize; 2],
    /// Which trial, from 0 on.
    pub trial: usize,
    /// How long the slowest processor took.
    pub seconds: f64,
    /// Whether the answer is right, if that was checked.
    pub is_right: Option<bool>,
    /// What is said of the answer.
    pub facts: Vec<(&'static str, Fact)>,
}

impl Outcome {
    /// The same as an object of JSON, in one line.
    ///
    /// ```
    /// use superstep_programs::gap::{Fact, Kernel, Outcome};
    ///
    /// let facts = vec![("highest", Fact::Top(vec![(3, 1.0)]))];
    /// let outcome = Outcome { kernel: Kernel::Bc, size: [6, 20], trial: 0, seconds: 0.5, is_right: None, facts };
    /// let start = r#"{"kernel":"bc","procs":2,"vertices":6,"edges":20,"trial":0,"seconds":5e-1,"verified":null,"#;
    /// assert_eq!(outcome.json(2), format!(r#"{start}"highest":[[3,1e0]]}}"#));
    /// ```
    pub fn json(&self, procs: usize) -> String {
        let (name, [vertices, edges], trial) = (self.kernel.name(), self.size, self.trial);
        let verified = self.is_right.map_or("null".to_owned(), |is_right| is_right.to_string());
        let mut text = format!(r#"{{"kernel":"{name}","procs":{procs},"vertices":{vertices},"edges":{edges},"#);
        let _ = write!(text, r#""trial":{trial},"seconds":{:e},"verified":{verified}"#, self.seconds);
        for (name, fact) in &self.facts {
            let _ = write!(text, r#","{}":{}"#, name.replace(' ', "_"), fact.json());
        }
        text + "}"
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let facts: Vec<String> = self.facts.iter().map(|(name, fact)| format!("{name} {fact}")).collect();
        let verdict = match self.is_right {
            Some(true) => "verified",
            Some(false) => "wrong",
            None => "not checked",
        };
        let (name, [vertices, edges]) = (self.kernel.name(), self.size);
        let facts = facts.join(", ");
        write!(f, "{name} of {vertices} vertices and {edges} edges: {facts}; {verdict}, in {:.6} s", self.seconds)
    }
}
