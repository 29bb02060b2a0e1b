//! A sequential reference of superstep's rules, and random programs to hold the library against it.
//!
//! The model knows nothing of the library. It is plain code of one thread that keeps what every group holds, and its
//! heart is one function, the boundary of a step (`boundary.rs`). Read it in this order:
//!
//! 1. [`Program`] is a program as data: a tree of stages, with what each member does in them.
//! 2. [`expected`] lives through a program (`model.rs`) and says what each processor is [`Told`].
//! 3. `boundary.rs` has steps (S1 to S3, R1 to R5, A1 to A6, D1, D2), `split.rs` splits (G2 to G4), `epoch.rs` remote
//!    methods (E1 to E5, E7), `paged.rs` coherence (C1, C2, C4), `halo.rs` halos (A4).
//! 4. [`watched`] says the same of a run that looks for conflicts, whose steps fail where it finds one (`conflict.rs`).
//! 5. [`generate`] makes programs from [`Choices`], [`mutate`] puts a mistake into one, and [`shrink`] makes the
//!    choices of one that fails fewer.
//!
//! ```
//! use superstep_model::{Choices, generate};
//!
//! let (program, _) = generate(&mut Choices::of_seed(3), 4);
//! assert!(program.to_string().starts_with("program of "));
//! ```

#![forbid(unsafe_code)]

mod asynchronous;
mod boundary;
mod choices;
mod conflict;
mod epoch;
mod generate;
mod halo;
mod layout;
mod model;
mod paged;
mod program;
mod show;
mod slip;
mod split;
mod stages;
mod told;
mod value;

pub use asynchronous::{CellDeed, Epoch, PagedOp, Request, Together, Verb, Work};
pub use choices::{Choices, shrink};
pub use epoch::{LEVELS, blur};
pub use generate::{generate, generate_on};
pub use layout::{Cut, Design, FRAMES, Form, Frame, Section, count};
pub use model::{expected, watched};
pub use program::{Act, Body, Call, Deed, Fault, Halo, Made, Misuse, Plan, Program, Stage, Step, Writes};
pub use slip::{Blunder, Mistake, Slip, mutate};
pub use split::How;
pub use told::{Sight, Told, difference};
pub use value::{Kind, Op, Value};
