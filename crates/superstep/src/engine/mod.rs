//! Groups, steps and what happens at their boundaries.
//!
//! A processor's view of a group is a [`Group`]. Its state, which the handles of all that the group has made share, is
//! a `Core`: a membership, the log of the step, the wire and the registry of tenants. A step's verbs leave items,
//! records and written tenants there; the boundary turns them into one contribution, meets the others, and hands
//! everything over in the order that rule S2 gives.
//!
//! A file uses only files below it; from the lowest to the highest:
//!
//! - `scale`, `value`, `fingerprint`, `operators`, `arithmetic`, `fold`: values, and how they combine;
//! - `record`, `exchange`, `contribution`, `watch`, `touches`: what travels;
//! - `membership`, `items`, `tenant`, `registry`, `meld`, `log`, `wire`, `pending`: the parts of a `Core`;
//! - `core`: all of them together;
//! - `checks`, `phases`, `conflicts`, `doubts`, `boundary`: the boundary;
//! - `outcome`, `settle`, `step`, `group`, `failing`, `forms`, `share`, `split`: what a program sees.

mod arithmetic;
mod boundary;
mod checks;
mod conflicts;
mod contribution;
mod core;
mod doubts;
mod exchange;
mod failing;
mod fingerprint;
mod fold;
mod forms;
mod group;
mod items;
mod log;
mod meld;
mod membership;
mod operators;
mod outcome;
mod pending;
mod phases;
mod record;
mod registry;
mod scale;
mod settle;
mod share;
mod split;
mod step;
mod tenant;
mod touches;
mod value;
mod watch;
mod wire;

pub(crate) use self::core::{Core, Lease, give_up};
pub(crate) use contribution::flags;
pub(crate) use exchange::Outbox;
pub(crate) use fingerprint::{Occasion, hash_numbers, mix, type_hash};
pub(crate) use fold::{Verdict, fold, fold_into, guard};
pub(crate) use items::{Item, Needs, Tally};
pub(crate) use membership::{Joint, Membership, Phase, StepMark};
pub(crate) use operators::{Rule, Way, unequal};
pub(crate) use record::{Address, Payload, Tag, damaged, read_words};
pub(crate) use share::{Mine, Subgroup};
pub(crate) use split::{Handover, run_split};
pub(crate) use tenant::{
    Abandons, Answers, Attempts, Awaited, Buried, Carries, Carrying, Commits, Contributes, Hooks, Lends, Receives,
    Renumbers, Round, Sends, Sent, SideChannel, Tenant, Touched, Transfers, Turns, Watches, departed, hooks,
    long_bytes,
};
pub(crate) use value::{
    AsElements, AsValue, Codec, Numbers, decode, decode_into, decode_next, decode_plain, encode, encode_next, is_fixed,
    move_numbers, numbers_len, numbers_room, owned_bytes, zeros,
};
pub(crate) use watch::{Clash, How, Party, permutes};

pub use forms::{By, Every, Split, Splitting, Weighted};
pub use group::{Ancestor, Group};
pub use operators::{And, Any, Checked, Combine, Each, Fold, Leader, Max, Min, Or, Product, Same, Sum, Xor};
pub use outcome::{Outcome, Plain};
pub use pending::{Local, Pending};
pub use settle::Settle;
pub(crate) use settle::Settled;
pub use step::Step;
pub use value::{Element, Value};
