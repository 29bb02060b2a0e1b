//! What came of a program, in one line that another implementation can be compared with.

use crate::random::mix;
use serde_json::{Map, Value, json};
use std::fmt;

/// Something that a program has found. It depends on the input alone, and not on who did the work.
///
/// ```
/// use superstep_programs::Fact;
///
/// assert_eq!(Fact::from(7usize), Fact::Count(7));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// So many of something, or a sum.
    Count(i128),
    /// A number that was measured or rounded.
    Number(f64),
    /// Names with a count each, in order.
    List(Vec<(String, i128)>),
    /// Numbered things with a score each, in order.
    Scores(Vec<(usize, f64)>),
}

impl From<usize> for Fact {
    fn from(count: usize) -> Self {
        Self::Count(count as i128)
    }
}

impl From<u64> for Fact {
    fn from(count: u64) -> Self {
        Self::Count(count.into())
    }
}

impl From<i128> for Fact {
    fn from(count: i128) -> Self {
        Self::Count(count)
    }
}

impl From<f64> for Fact {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl<C: Into<i128>> From<Vec<(String, C)>> for Fact {
    fn from(list: Vec<(String, C)>) -> Self {
        Self::List(list.into_iter().map(|(name, count)| (name, count.into())).collect())
    }
}

/// What came of a program.
///
/// ```
/// use superstep_programs::Summary;
///
/// let summary = Summary::new("bale histogram", 0.5).with("updates", 10usize).rate(20e6, "updates/s").checked(true);
/// assert_eq!(summary.to_string(), "bale histogram: verified; updates 10; 0.500 s, 20000000.0 updates/s");
/// assert!(summary.json(4).contains(r#""program":"bale histogram""#));
/// ```
#[derive(Clone, Debug)]
pub struct Summary {
    program: &'static str,
    /// Nothing if that was not to be checked.
    is_right: Option<bool>,
    facts: Vec<(&'static str, Fact)>,
    seconds: f64,
    rate: Option<(f64, &'static str)>,
}

/// It comes out of a run as it is.
impl superstep::Plain for Summary {}

impl Summary {
    /// The beginning of one, of a program that took so long.
    ///
    /// ```
    /// assert!(!superstep_programs::Summary::new("nothing", 1.0).is_right());
    /// ```
    pub fn new(program: &'static str, seconds: f64) -> Self {
        Self { program, is_right: Some(false), facts: Vec::new(), seconds, rate: None }
    }

    /// The same with one fact more.
    ///
    /// ```
    /// let summary = superstep_programs::Summary::new("nothing", 1.0).with("words", 3usize);
    /// assert_eq!(summary.facts().len(), 1);
    /// ```
    #[must_use]
    pub fn with(mut self, name: &'static str, fact: impl Into<Fact>) -> Self {
        self.facts.push((name, fact.into()));
        self
    }

    /// The same with how fast it was, in what unit.
    ///
    /// ```
    /// let summary = superstep_programs::Summary::new("nothing", 1.0).rate(2.5, "MB/s");
    /// assert!(summary.to_string().ends_with("2.5 MB/s"));
    /// ```
    #[must_use]
    pub fn rate(mut self, rate: f64, unit: &'static str) -> Self {
        self.rate = Some((rate, unit));
        self
    }

    /// The same with what the program's own check says, or with nothing where none was asked for.
    ///
    /// ```
    /// let summary = superstep_programs::Summary::new("nothing", 1.0);
    /// assert!(summary.clone().checked(true).is_right());
    /// assert!(summary.checked(None).to_string().contains("not checked"));
    /// ```
    #[must_use]
    pub fn checked(mut self, is_right: impl Into<Option<bool>>) -> Self {
        self.is_right = is_right.into();
        self
    }

    /// Whether the check has found nothing wrong, if there was to be one.
    ///
    /// ```
    /// assert!(!superstep_programs::Summary::new("nothing", 1.0).checked(false).is_right());
    /// ```
    pub fn is_right(&self) -> bool {
        self.is_right != Some(false)
    }

    /// What was found, by name.
    ///
    /// ```
    /// let summary = superstep_programs::Summary::new("nothing", 1.0).with("words", 3usize);
    /// assert_eq!(summary.facts()[0].0, "words");
    /// ```
    pub fn facts(&self) -> &[(&'static str, Fact)] {
        &self.facts
    }

    /// All of it as one object of JSON, in one line, with how many processors there were.
    ///
    /// ```
    /// let summary = superstep_programs::Summary::new("nothing", 1.0).with("top", vec![("a\"b".to_owned(), 2u64)]);
    /// assert!(summary.json(1).contains(r#""top":[["a\"b",2]]"#));
    /// ```
    pub fn json(&self, procs: usize) -> String {
        let mut object = Map::new();
        object.insert("program".into(), self.program.into());
        object.insert("verified".into(), self.is_right.into());
        object.insert("procs".into(), procs.into());
        object.extend(self.facts.iter().map(|(name, fact)| (name.replace(' ', "_"), fact.json())));
        object.insert("seconds".into(), self.seconds.into());
        if let Some((rate, unit)) = self.rate {
            object.insert("rate".into(), rate.into());
            object.insert("unit".into(), unit.into());
        }
        Value::Object(object).to_string()
    }
}

impl Fact {
    fn json(&self) -> Value {
        // What is too long for a number of JSON is a text.
        let count = |count: &i128| serde_json::to_value(count).unwrap_or_else(|_| count.to_string().into());
        match self {
            Self::Count(its) => count(its),
            Self::Number(number) => json!(number),
            Self::List(list) => list.iter().map(|(name, its)| json!([name, count(its)])).collect(),
            Self::Scores(list) => list.iter().map(|(at, score)| json!([at, score])).collect(),
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.is_right {
            Some(true) => "verified",
            Some(false) => "wrong",
            None => "not checked",
        };
        write!(f, "{}: {verdict}", self.program)?;
        for (at, (name, fact)) in self.facts.iter().enumerate() {
            write!(f, "{} {name}", if at == 0 { ';' } else { ',' })?;
            match fact {
                Fact::Count(count) => write!(f, " {count}")?,
                Fact::Number(number) => write!(f, " {number:.9e}")?,
                // Whatever a name is made of, the summary stays one line.
                Fact::List(list) => {
                    list.iter().try_for_each(|(name, count)| write!(f, " {}={count}", name.escape_debug()))?;
                }
                Fact::Scores(list) => list.iter().try_for_each(|(at, score)| write!(f, " {at}:{score:.7}"))?,
            }
        }
        write!(f, "; {:.3} s", self.seconds)?;
        self.rate.map_or(Ok(()), |(rate, unit)| write!(f, ", {rate:.1} {unit}"))
    }
}

/// A number for a whole array, of which each processor makes a part: the parts add up, and wrap.
pub(crate) fn checksum(first: usize, values: impl IntoIterator<Item = u64>) -> u64 {
    let terms = values.into_iter().zip(first as u64..).map(|(value, at)| mix(at ^ mix(value)));
    terms.fold(0, u64::wrapping_add)
}
