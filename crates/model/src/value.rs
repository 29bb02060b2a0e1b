//! Values, and what operators make of them (R1, S3).

use serde::{Deserialize, Serialize};

/// An operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the library's operator of that name")]
pub enum Op {
    Sum,
    Any,
    Leader,
    Same,
    Product,
    Min,
    Max,
    And,
    Or,
    Xor,
    /// A function of the program that neither commutes nor associates, so that every difference in order shows.
    Note,
}

impl Op {
    /// Every operator there is.
    pub const ALL: [Self; 11] = [
        Self::Sum,
        Self::Any,
        Self::Leader,
        Self::Same,
        Self::Product,
        Self::Min,
        Self::Max,
        Self::And,
        Self::Or,
        Self::Xor,
        Self::Note,
    ];

    /// Whether one of the values is taken, and nothing is made of several.
    pub(crate) fn picks(self) -> bool {
        matches!(self, Self::Any | Self::Leader | Self::Same)
    }
}

/// What the elements of an array are. The model keeps each as its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `u64`.
    Whole,
    /// `f64`.
    Float,
    /// `i32`.
    Short,
    /// A struct of a `u32` and two `u16`.
    Pair,
}

impl Kind {
    /// The bits of a value that a number stands for. Different numbers stand for values of very different size.
    ///
    /// ```
    /// use superstep_model::Kind;
    ///
    /// assert_eq!(Kind::Whole.of(1), 1 << 58 | 1);
    /// assert_eq!(f64::from_bits(Kind::Float.of(8)), (8.0 - 100.3) * 1.0);
    /// ```
    pub fn of(self, number: u64) -> u64 {
        match self {
            Self::Whole => number << 58 | number,
            Self::Float => ((number as f64 - 100.3) * 10f64.powi((number % 17) as i32 - 8)).to_bits(),
            Self::Short => u64::from((number as i32 - 120) as u32),
            Self::Pair => (number & 0xFFFF_FFFF).wrapping_mul(3) << 32 | (number & 0xFFFF) << 16 | 7,
        }
    }

    /// What an operator makes of the value of a lower rank and that of a higher one.
    ///
    /// ```
    /// use superstep_model::{Kind, Op};
    ///
    /// assert_eq!(Kind::Whole.combine(Op::Sum, u64::MAX, 2), 1);
    /// assert_eq!(Kind::Whole.combine(Op::Note, 2, 3), 65);
    /// assert_eq!(Kind::Float.combine(Op::Min, 1f64.to_bits(), (-1f64).to_bits()), (-1f64).to_bits());
    /// ```
    pub fn combine(self, op: Op, low: u64, high: u64) -> u64 {
        match self {
            _ if op.picks() => low,
            Self::Whole => whole(op, low, high),
            Self::Float => float(op, f64::from_bits(low), f64::from_bits(high)).to_bits(),
            Self::Short => u64::from(short(op, low as i32, high as i32) as u32),
            Self::Pair => pair(op, low, high),
        }
    }

    /// The operator that arrays of this kind are declared with.
    ///
    /// ```
    /// use superstep_model::{Kind, Op};
    ///
    /// assert_eq!(Kind::Pair.declared(), Op::Any);
    /// ```
    pub fn declared(self) -> Op {
        match self {
            Self::Whole | Self::Float => Op::Sum,
            Self::Short => Op::Note,
            Self::Pair => Op::Any,
        }
    }
}

fn whole(op: Op, low: u64, high: u64) -> u64 {
    match op {
        Op::Sum => low.wrapping_add(high),
        Op::Product => low.wrapping_mul(high),
        Op::Min => low.min(high),
        Op::Max => low.max(high),
        Op::And => low & high,
        Op::Or => low | high,
        Op::Xor => low ^ high,
        _ => low.wrapping_mul(31).wrapping_add(high),
    }
}

fn float(op: Op, low: f64, high: f64) -> f64 {
    match op {
        Op::Sum => low + high,
        Op::Product => low * high,
        Op::Min if high < low => high,
        Op::Max if high > low => high,
        Op::Min | Op::Max => low,
        _ => low * 0.3 - high,
    }
}

fn short(op: Op, low: i32, high: i32) -> i32 {
    if op == Op::Sum { low.wrapping_add(high) } else { low.wrapping_mul(7).wrapping_sub(high) }
}

fn pair(op: Op, low: u64, high: u64) -> u64 {
    let parts = |bits: u64| ((bits >> 32) as u32, (bits >> 16) as u16, bits as u16);
    let ((a, b, c), (x, _, z)) = (parts(low), parts(high));
    let (a, b, c) =
        if op == Op::Sum { (a.wrapping_add(x), b, c.wrapping_add(z)) } else { (a ^ x.rotate_left(a % 32), z, b) };
    u64::from(a) << 32 | u64::from(b) << 16 | u64::from(c)
}

/// What a shared variable holds, and what collectives are about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Value {
    /// `u64`.
    Number(u64),
    /// The bits of an `f64`.
    Float(u64),
    /// `String`, of which more is appended.
    Text(String),
    /// `Vec<u64>`, combined element by element.
    List(Vec<u64>),
}

impl Value {
    /// The default of the same type.
    pub(crate) fn empty(&self) -> Self {
        match self {
            Self::Number(_) => Self::Number(0),
            Self::Float(_) => Self::Float(0f64.to_bits()),
            Self::Text(_) => Self::Text(String::new()),
            Self::List(_) => Self::List(Vec::new()),
        }
    }

    /// What an exclusive prefix over nobody is: the operator's identity, or else the default.
    fn none(&self, op: Op) -> Self {
        match (self, op) {
            (Self::Number(_), Op::Product) => Self::Number(1),
            (Self::Number(_), Op::Min | Op::And) => Self::Number(u64::MAX),
            (Self::Float(_), Op::Product) => Self::Float(1f64.to_bits()),
            (Self::Float(_), Op::Min) => Self::Float(f64::INFINITY.to_bits()),
            (Self::Float(_), Op::Max) => Self::Float(f64::NEG_INFINITY.to_bits()),
            _ => self.empty(),
        }
    }

    fn combine(&mut self, op: Op, high: &Self) {
        match (self, high) {
            _ if op.picks() => {}
            (Self::Number(low), Self::Number(high)) => *low = Kind::Whole.combine(op, *low, *high),
            (Self::Float(low), Self::Float(high)) => *low = Kind::Float.combine(op, *low, *high),
            (Self::Text(low), Self::Text(high)) => low.push_str(high),
            (Self::List(low), Self::List(high)) => {
                low.iter_mut().zip(high).for_each(|(low, high)| *low = Kind::Whole.combine(op, *low, *high));
            }
            _ => unreachable!("values of one call have one type"),
        }
    }
}

/// S3: all values in the one grouping there is, a tree that is cut at the largest power of two below the size. Who
/// takes no part leaves a hole.
pub(crate) fn total(values: &[Option<Value>], op: Op) -> Option<Value> {
    let [one] = values else {
        let (low, high) = values.split_at(1 << (values.len() - 1).ilog2());
        return joined(total(low, op), total(high, op), op);
    };
    one.clone()
}

fn joined(low: Option<Value>, high: Option<Value>, op: Op) -> Option<Value> {
    match (low, high) {
        (Some(mut low), Some(high)) => {
            low.combine(op, &high);
            Some(low)
        }
        (low, high) => low.or(high),
    }
}

/// R3: what the ranks below have, in the same grouping: the left subtrees on the way from the root down, from the left.
fn found_below(values: &[Option<Value>], rank: usize, op: Op) -> Option<Value> {
    let (mut below, mut rest, mut rank) = (None, values, rank);
    while rest.len() > 1 {
        let (low, high) = rest.split_at(1 << (rest.len() - 1).ilog2());
        if rank < low.len() {
            rest = low;
        } else {
            below = joined(below, total(low, op), op);
            (rest, rank) = (high, rank - low.len());
        }
    }
    below
}

/// R3: the exclusive prefix; `like` has the type of its values.
pub(crate) fn below(values: &[Option<Value>], rank: usize, op: Op, like: &Value) -> Value {
    found_below(values, rank, op).unwrap_or_else(|| like.none(op))
}

/// R3: the prefix with the rank's own value.
pub(crate) fn up_to(values: &[Option<Value>], rank: usize, op: Op) -> Option<Value> {
    joined(found_below(values, rank, op), values[rank].clone(), op)
}

/// A write to an element: where, which bits, and how it meets others.
pub(crate) type Write = (usize, u64, Op);
