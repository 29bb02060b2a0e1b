//! What came of a program, in one line that another implementation can be compared with.

use crate::random::mix;
use std::fmt::{self, Write};

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
/// assert!(summary.json().starts_with(r#"{"program":"bale histogram","verified":true,"updates":10,"#));
/// ```
#[derive(Clone, Debug)]
pub struct Summary {
    program: &'static str,
    is_right: bool,
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
        Self { program, is_right: false, facts: Vec::new(), seconds, rate: None }
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

    /// The same with what the program's own check says.
    ///
    /// ```
    /// assert!(superstep_programs::Summary::new("nothing", 1.0).checked(true).is_right());
    /// ```
    #[must_use]
    pub fn checked(mut self, is_right: bool) -> Self {
        self.is_right = is_right;
        self
    }

    /// Whether the check has found nothing wrong.
    ///
    /// ```
    /// assert!(!superstep_programs::Summary::new("nothing", 1.0).checked(false).is_right());
    /// ```
    pub fn is_right(&self) -> bool {
        self.is_right
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

    /// All of it as one object of JSON.
    ///
    /// ```
    /// let summary = superstep_programs::Summary::new("nothing", 1.0).with("top", vec![("a\"b".to_owned(), 2u64)]);
    /// assert!(summary.json().contains(r#""top":[["a\"b",2]]"#));
    /// ```
    pub fn json(&self) -> String {
        let mut text = format!(r#"{{"program":{},"verified":{}"#, quoted(self.program), self.is_right);
        for (name, fact) in &self.facts {
            let value = match fact {
                Fact::Count(count) => count.to_string(),
                Fact::Number(number) => json_number(*number),
                Fact::List(list) => {
                    let pairs = list.iter().map(|(name, count)| format!("[{},{count}]", quoted(name)));
                    format!("[{}]", pairs.collect::<Vec<_>>().join(","))
                }
            };
            let _ = write!(text, ",{}:{value}", quoted(name));
        }
        let _ = write!(text, r#","seconds":{}"#, json_number(self.seconds));
        if let Some((rate, unit)) = self.rate {
            let _ = write!(text, r#","rate":{},"unit":{}"#, json_number(rate), quoted(unit));
        }
        text.push('}');
        text
    }
}

/// Numbers that JSON does not know are null there.
fn json_number(number: f64) -> String {
    if number.is_finite() { format!("{number:?}") } else { "null".to_owned() }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(letter));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.program, if self.is_right { "verified" } else { "wrong" })?;
        for (at, (name, fact)) in self.facts.iter().enumerate() {
            write!(f, "{} {name}", if at == 0 { ';' } else { ',' })?;
            match fact {
                Fact::Count(count) => write!(f, " {count}")?,
                Fact::Number(number) => write!(f, " {number:.9e}")?,
                // Whatever a name is made of, the summary stays one line.
                Fact::List(list) => {
                    list.iter().try_for_each(|(name, count)| write!(f, " {}={count}", name.escape_debug()))?;
                }
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
