//! The model's values and operators, as the library has them.

use superstep::{
    And, Any, Combine, Each, Fold, Group, Leader, Max, Min, Or, Pending, Product, Same, Shared, Step, Sum, Xor,
};
use superstep_model::{Kind, Op, Told, Value};

/// Something that can be done with any operator on `T`.
pub(crate) trait With<T> {
    type Out;
    fn with<C: Combine<T>>(self, op: C) -> Self::Out;
}

/// A type of the model's values.
pub(crate) trait Word: superstep::Value + Default {
    fn of(value: &Value) -> Self;
    fn value(self) -> Value;
    /// The place of such a value among what comes of calls.
    fn came(pending: Pending<Self>) -> Came;
    /// Does something with the operator that `op` stands for.
    fn by<W: With<Self>>(op: Op, what: W) -> W::Out;
}

/// What a call in a step will come to, and what it has come to: one of these.
pub(crate) type Came = (
    Option<Pending<u64>>,
    Option<Pending<f64>>,
    Option<Pending<String>>,
    Option<Pending<Vec<u64>>>,
    Option<Pending<Option<u64>>>,
    Option<Pending<Value>>,
    Option<Pending<Vec<Value>>>,
    (Option<Pending<Option<Vec<Value>>>>, Option<Pending<Vec<Vec<u64>>>>, Option<Pending<Option<Vec<Vec<u64>>>>>),
);
pub(crate) type Come = (
    Option<u64>,
    Option<f64>,
    Option<String>,
    Option<Vec<u64>>,
    Option<Option<u64>>,
    Option<Value>,
    Option<Vec<Value>>,
    (Option<Option<Vec<Value>>>, Option<Vec<Vec<u64>>>, Option<Option<Vec<Vec<u64>>>>),
);

/// What comes of a call, where one place is set.
pub(crate) fn came(set: impl FnOnce(&mut Came)) -> Came {
    let mut came = Came::default();
    set(&mut came);
    came
}

pub(crate) fn told(come: Come) -> Told {
    let lists = |lists: Vec<Vec<u64>>| lists.into_iter().map(Value::List).collect();
    let single = come.0.map(Word::value).or(come.1.map(Word::value)).or(come.2.map(Word::value));
    let single = single.or(come.3.map(Word::value)).or(come.4.flatten().map(Word::value)).or(come.5);
    let several = come.6.or(come.7.0.flatten()).or(come.7.1.map(lists)).or(come.7.2.flatten().map(lists));
    match (single, several) {
        (Some(value), _) => Told::Value(value),
        (None, Some(values)) => Told::Values(values),
        (None, None) => Told::Nothing,
    }
}

impl Word for u64 {
    fn of(value: &Value) -> Self {
        let Value::Number(number) = value else { unreachable!("{value:?} is no number") };
        *number
    }

    fn value(self) -> Value {
        Value::Number(self)
    }

    fn came(pending: Pending<Self>) -> Came {
        came(|came| came.0 = Some(pending))
    }

    fn by<W: With<Self>>(op: Op, what: W) -> W::Out {
        match op {
            Op::Sum => what.with(Sum),
            Op::Any => what.with(Any),
            Op::Leader => what.with(Leader),
            Op::Same => what.with(Same),
            Op::Product => what.with(Product),
            Op::Min => what.with(Min),
            Op::Max => what.with(Max),
            Op::And => what.with(And),
            Op::Or => what.with(Or),
            Op::Xor => what.with(Xor),
            Op::Note => what.with(Fold(|low, high| *low = Kind::Whole.combine(Op::Note, *low, *high))),
        }
    }
}

impl Word for f64 {
    fn of(value: &Value) -> Self {
        let Value::Float(bits) = value else { unreachable!("{value:?} is no float") };
        Self::from_bits(*bits)
    }

    fn value(self) -> Value {
        Value::Float(self.to_bits())
    }

    fn came(pending: Pending<Self>) -> Came {
        came(|came| came.1 = Some(pending))
    }

    fn by<W: With<Self>>(op: Op, what: W) -> W::Out {
        match op {
            Op::Product => what.with(Product),
            Op::Min => what.with(Min),
            Op::Max => what.with(Max),
            Op::Any => what.with(Any),
            Op::Leader => what.with(Leader),
            _ => what.with(Sum),
        }
    }
}

impl Word for String {
    fn of(value: &Value) -> Self {
        let Value::Text(text) = value else { unreachable!("{value:?} is no text") };
        text.clone()
    }

    fn value(self) -> Value {
        Value::Text(self)
    }

    fn came(pending: Pending<Self>) -> Came {
        came(|came| came.2 = Some(pending))
    }

    fn by<W: With<Self>>(_: Op, what: W) -> W::Out {
        what.with(|all: &mut String, one: &String| all.push_str(one))
    }
}

impl Word for Vec<u64> {
    fn of(value: &Value) -> Self {
        let Value::List(list) = value else { unreachable!("{value:?} is no list") };
        list.clone()
    }

    fn value(self) -> Value {
        Value::List(self)
    }

    fn came(pending: Pending<Self>) -> Came {
        came(|came| came.3 = Some(pending))
    }

    fn by<W: With<Self>>(op: Op, what: W) -> W::Out {
        match op {
            Op::Max => what.with(Each(Max)),
            Op::Xor => what.with(Each(Xor)),
            Op::Any => what.with(Each(Any)),
            _ => what.with(Each(Sum)),
        }
    }
}

/// A shared variable of one of the types.
pub(crate) enum Variable {
    Number(Shared<u64>),
    Float(Shared<f64>),
    Text(Shared<String>),
    List(Shared<Vec<u64>>),
}

impl Variable {
    pub(crate) fn new(g: &mut Group, op: Op, value: &Value) -> Self {
        match value {
            Value::Number(_) => Self::Number(declare(g, op, value)),
            Value::Float(_) => Self::Float(declare(g, op, value)),
            Value::Text(_) => Self::Text(declare(g, op, value)),
            Value::List(_) => Self::List(declare(g, op, value)),
        }
    }

    pub(crate) fn get(&self) -> Value {
        match self {
            Self::Number(x) => x.get().value(),
            Self::Float(x) => x.get().value(),
            Self::Text(x) => x.get().value(),
            Self::List(x) => x.get().value(),
        }
    }

    /// Writes the copy, in one way or the other.
    pub(crate) fn set(&self, value: &Value) {
        match self {
            Self::Number(x) => x.set(Word::of(value)),
            Self::Float(x) => *x.write() = Word::of(value),
            Self::Text(x) => *x.write() = Word::of(value),
            Self::List(x) => x.set(Word::of(value)),
        }
    }

    /// Combines with another operator in this step, with or without the prefix.
    pub(crate) fn combine(&self, s: &Step, op: Op, with_prefix: bool) -> Option<Came> {
        match self {
            Self::Number(x) => Word::by(op, Combining(s, x, with_prefix)),
            Self::Float(x) => Word::by(op, Combining(s, x, with_prefix)),
            Self::Text(x) => Word::by(op, Combining(s, x, with_prefix)),
            Self::List(x) => Word::by(op, Combining(s, x, with_prefix)),
        }
    }
}

fn declare<T: Word>(g: &mut Group, op: Op, value: &Value) -> Shared<T> {
    struct Declaring<'a, T>(&'a mut Group, T);
    impl<T: Word> With<T> for Declaring<'_, T> {
        type Out = Shared<T>;
        fn with<C: Combine<T>>(self, op: C) -> Shared<T> {
            self.0.shared(self.1, op)
        }
    }
    T::by(op, Declaring(g, T::of(value)))
}

struct Combining<'a, T: Word>(&'a Step, &'a Shared<T>, bool);

impl<T: Word> With<T> for Combining<'_, T> {
    type Out = Option<Came>;

    fn with<C: Combine<T>>(self, op: C) -> Option<Came> {
        if self.2 {
            return Some(T::came(self.0.combine_prefix(self.1, op)));
        }
        self.0.combine(self.1, op);
        None
    }
}
