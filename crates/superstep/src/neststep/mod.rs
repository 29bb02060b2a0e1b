//! What programs in NestStep need at run time. The macro of the crate `neststep` writes calls of it; nobody else does.
//!
//! A step of NestStep is a piece of program between two boundaries. Its body runs on copies: [`Var`] and [`Cells`] are
//! replicated variables and arrays, a [`Port`] keeps what is written to a distributed array, and [`Fetched`] has what
//! was read ahead. The boundary hands all of it to one [`Group::step`](crate::Group::step).

mod added;
mod adding;
mod cells;
mod checks;
mod chunk;
mod explain;
mod fetched;
mod flow;
mod listed;
mod own;
mod owned;
mod port;
mod rounds;
mod state;
mod values;
mod var;

pub use adding::{Adding, ahead};
pub use cells::Cells;
pub use checks::{check_apart, check_operator};
pub use fetched::{Cursor, Fetched, MayBeCalledTwice, Wanted, called_twice, inspect, perhaps};
pub use flow::{Attempt, Flow, FromRest, choice, copied, weights};
pub use own::Marks;
pub use owned::{Here, Inspect, owned, owned_in, owned_places, owned_places_in};
pub use port::{Port, add, port, store};
pub use rounds::{Plain, Rounds, Steady, Unsteady};
pub use state::{Inside, inside, within};
pub use values::{Values, copy};
pub use var::{Mine, Var};
