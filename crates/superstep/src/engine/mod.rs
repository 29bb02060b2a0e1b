//! Groups, steps and what happens at their boundaries.
//!
//! A processor's view of a group is a [`Group`]. Its state, which the handles of shared variables and areas share, is a
//! `Core`. A step's verbs leave items, records and written variables there; the boundary turns them into one
//! contribution, meets the others, and hands everything over in the order that rule S2 gives.

mod boundary;
mod checks;
mod contribution;
mod core;
mod doubts;
mod exchange;
mod failing;
mod fold;
mod group;
mod items;
mod operators;
mod outcome;
mod post;
mod registry;
mod scale;
mod settle;
mod split;
mod step;
mod value;

pub(crate) use self::core::{Core, Joint, Phase};
pub(crate) use boundary::Kind;
pub(crate) use checks::{mix, type_hash};
pub(crate) use contribution::flags;
pub(crate) use exchange::{Address, Kind as Record, Outbox, Payload, damaged, push_words, read_words};
pub(crate) use fold::{Verdict, fold, fold_into, guard};
pub(crate) use items::{Item, Needs, Tally};
pub(crate) use operators::{Rule, Way};
pub(crate) use post::{open_letter, opened};
pub(crate) use registry::{Awaited, CARRIED, Carrying, Object, Registry, Sent, Variable, departed};
pub(crate) use value::{
    AsRun, AsValue, Codec, decode, decode_into, decode_next, decode_plain, encode, encode_next, is_fixed, owned_bytes,
};

pub use group::{Ancestor, Group};
pub use operators::{And, Any, Checked, Combine, Each, Fold, Leader, Max, Min, Or, Product, Same, Sum, Xor};
pub use outcome::{Outcome, Plain};
pub use settle::{Local, Pending, Settle};
pub use split::{By, Every, Split, Splitting, Weighted};
pub(crate) use split::{Luggage, Mine, Subgroup, run_split};
pub use step::Step;
pub use value::{Element, Value};
