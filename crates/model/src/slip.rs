//! Mistakes: one is put into a program that has none, and what must come of it is known (X1 to X3, X7).

use crate::{
    choices::Choices,
    model::{Model, Trail},
    program::{Body, Made, Misuse, Program, Stage},
    split::How,
    told::Sight,
};

/// A mistake in a program: who makes it where, and the error that the whole run must end with.
#[derive(Clone, Debug, PartialEq)]
pub struct Slip {
    trail: Trail,
    stage: usize,
    /// Everybody, if nobody is named.
    rank: Option<usize>,
    /// What is done.
    pub mistake: Mistake,
    /// The name of the error's kind.
    pub kind: &'static str,
    /// What its text must say.
    pub says: Vec<String>,
}

impl Slip {
    /// Whether it is made in this group, before this stage and by this rank.
    ///
    /// ```
    /// use superstep_model::{Choices, generate_on, mutate};
    ///
    /// let mut choices = Choices::of_seed(1);
    /// let (program, _) = generate_on(&mut choices, 3);
    /// let slip = mutate(&mut choices, &program).unwrap();
    /// assert!((0..99).all(|stage| !slip.is_here(&[(98, 0)], stage, 0)));
    /// ```
    pub fn is_here(&self, trail: &[(usize, usize)], stage: usize, rank: usize) -> bool {
        self.stage == stage && self.trail == trail && self.rank.is_none_or(|mine| mine == rank)
    }
}

/// What is done wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// A step is skipped.
    Skip,
    /// A further step is taken.
    Extra,
    /// A body ends in the root group.
    End,
    /// The body of a step panics.
    Panic,
    /// A body returns an error.
    Fail,
    /// A call in a step is refused.
    Misuse(Misuse),
    /// A variable is declared that others do not declare.
    Declare,
    /// A variable is written outside of any step.
    WriteOutside {
        /// Which.
        variable: usize,
    },
    /// Another split is asked for, or one with other weights.
    OtherSplit,
    /// A split into no subgroups, by everybody.
    NoSubgroups,
    /// A weight that is no weight, by everybody.
    BadWeight,
    /// An array of another length is made.
    OtherArray,
    /// A remote method panics.
    MethodPanics {
        /// Where.
        to: usize,
    },
    /// A request goes to a rank that there is not.
    RequestToNobody,
    /// An element of a paged array is read that is not there.
    ReadAbsent {
        /// Of which array.
        array: usize,
        /// Which.
        element: usize,
    },
    /// A section is made coherent by others than the caller.
    NotInSet {
        /// Of which array.
        array: usize,
    },
    /// A section is made coherent without its owners.
    OwnerMissing {
        /// Of which array.
        array: usize,
    },
    /// Everybody takes a further step, in which something goes wrong that only the group can see.
    Together(Blunder, usize),
}

/// What goes wrong in a step that all members take, because of one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blunder {
    /// It combines with another operator.
    Operator,
    /// It calls another verb.
    Verb,
    /// It combines a vector of another length.
    Length,
    /// It combines values of another type.
    Type,
    /// It names another root.
    Root,
    /// It is the root, and gives no value.
    NoValue,
    /// Its copy differs, and should not.
    Same,
    /// Its value makes a checked sum overflow.
    Overflow,
    /// An operator panics on its value.
    OperatorPanics,
    /// It brings an error of its own.
    Agree,
    /// It hands out too few parts.
    Deal,
    /// It declares its variable with another operator.
    Shared,
}

impl Blunder {
    const ALL: [Self; 12] = [
        Self::Operator,
        Self::Verb,
        Self::Length,
        Self::Type,
        Self::Root,
        Self::NoValue,
        Self::Same,
        Self::Overflow,
        Self::OperatorPanics,
        Self::Agree,
        Self::Deal,
        Self::Shared,
    ];

    /// The name of the error's kind, and what its text must say besides group and step.
    fn outcome(self, odd: usize) -> (&'static str, String) {
        match self {
            Self::Operator | Self::Verb | Self::Type | Self::Root => ("CombineMismatch", format!("rank {odd}")),
            Self::Length => ("CombineMismatch", "elements cannot be combined".to_owned()),
            Self::NoValue => ("NoValue", format!("rank {odd}")),
            Self::Same => ("ReplicaDiverged", "reduce".to_owned()),
            Self::Overflow => ("Overflow", "overflows u8".to_owned()),
            Self::OperatorPanics => ("Panicked", "a combine function panicked: a slip".to_owned()),
            Self::Agree => ("Failed", format!("rank {odd} brought an error: a slip")),
            Self::Deal => ("BadLength", "parts to deal".to_owned()),
            Self::Shared => ("DeclMismatch", format!("rank {odd}")),
        }
    }
}

/// Puts a mistake into a program, if there is a place for one.
///
/// ```
/// use superstep_model::{Choices, generate_on, mutate};
///
/// let mut choices = Choices::of_seed(1);
/// let (program, _) = generate_on(&mut choices, 3);
/// assert!(!mutate(&mut choices, &program).unwrap().kind.is_empty());
/// ```
pub fn mutate(choices: &mut Choices, program: &Program) -> Option<Slip> {
    let mut places: Vec<Slip> = Vec::new();
    let mut model = Model::new(program.procs, program.first_step);
    model.live(&program.body, &mut Trail::new(), &mut |model, trail, number, body| {
        let rank = choices.below(model.group().members.len());
        if !model.group().leaving.is_empty() {
            return;
        }
        let at = Place { model, trail, number, body, rank };
        at.structure(&mut places);
        at.local(&mut places, choices);
        at.paged(&mut places);
    });
    (!places.is_empty()).then(|| places.swap_remove(choices.below(places.len())))
}

/// Where a mistake can be made.
struct Place<'a> {
    model: &'a Model,
    trail: &'a [(usize, usize)],
    number: usize,
    body: &'a Body,
    rank: usize,
}

impl Place<'_> {
    /// The mistake of one rank, and what must be said about it besides the group and the step.
    fn slip(&self, mistake: Mistake, kind: &'static str, says: String) -> Slip {
        let group = self.model.group();
        let place = format!("step {} of group {}: ", group.steps, group.path());
        let (trail, stage, rank) = (self.trail.to_vec(), self.number, Some(self.rank));
        Slip { trail, stage, rank, mistake, kind, says: vec![place, says] }
    }

    /// Mistakes that the group sees together, with those that end a body.
    fn structure(&self, places: &mut Vec<Slip>) {
        let (group, rank) = (self.model.group(), self.rank);
        let (stage, next) = (&self.body.stages[self.number], self.body.stages.get(self.number + 1));
        let (is_root, has_others) = (self.trail.is_empty(), group.members.len() > 1);
        let me = format!("rank {rank}");
        let meets = |stage: &Stage| match stage {
            Stage::Make(made) => matches!(made, Made::Area { .. } | Made::Array(_) | Made::Paged { .. }),
            Stage::Step(step) => step.fault.is_none(),
            Stage::Split { .. } | Stage::Epoch(_) | Stage::Permute { .. } | Stage::Halo(_) => true,
            Stage::Leave(_) | Stage::Paged(_) => false,
        };
        places.push(self.slip(Mistake::Fail, "Failed", format!("{me} returned an error: a slip")));
        if !meets(stage) {
            return;
        }
        if let Stage::Step(_) = stage {
            let mut panics = self.slip(Mistake::Panic, "Panicked", "a slip".to_owned());
            panics.says = vec![format!("processor {} panicked: a slip", group.members[rank])];
            places.push(panics);
        }
        let everybody = |mistake: Mistake, kind: &'static str, says: &str| Slip {
            rank: None,
            ..self.slip(mistake, kind, says.to_owned())
        };
        if let Stage::Split { on: None, .. } = stage {
            places.push(everybody(Mistake::NoSubgroups, "BadGroupCount", "a split into 0 subgroups"));
            places.push(everybody(Mistake::BadWeight, "BadWeight", "weight 1 is -1"));
        }
        if !has_others {
            return;
        }
        if is_root {
            places.push(self.slip(Mistake::End, "Departed", format!("{me} has ended")));
        }
        places.push(self.slip(Mistake::Declare, "DeclMismatch", me.clone()));
        for blunder in Blunder::ALL {
            let (kind, says) = blunder.outcome(rank);
            places.push(everybody(Mistake::Together(blunder, rank), kind, &says));
        }
        if let Stage::Step(_) = stage {
            places.push(self.slip(Mistake::Extra, "StepMismatch", me.clone()));
            if next.is_some_and(meets) {
                places.push(self.slip(Mistake::Skip, "StepMismatch", me.clone()));
            }
        }
        match stage {
            Stage::Split { how: How::Weighted(_), on: None, .. } => {
                places.push(self.slip(Mistake::OtherSplit, "ReplicaDiverged", me));
            }
            Stage::Split { on: None, .. } => places.push(self.slip(Mistake::OtherSplit, "SplitMismatch", me)),
            Stage::Make(Made::Array(_)) => places.push(self.slip(Mistake::OtherArray, "DeclMismatch", me)),
            _ => {}
        }
    }

    /// Mistakes that a processor sees alone.
    fn local(&self, places: &mut Vec<Slip>, choices: &mut Choices) {
        let group = self.model.group();
        let mut misuse = |misuse: Misuse, says: &str| {
            places.push(self.slip(Mistake::Misuse(misuse), misuse.kind(), says.to_owned()));
        };
        let (size, stage) = (group.members.len(), &self.body.stages[self.number]);
        if let Stage::Step(_) = stage {
            let other = choices.below(size);
            let nobody = format!("rank {size} named in a group of {size}");
            if !group.areas.is_empty() {
                let area = choices.below(group.areas.len());
                misuse(Misuse::PutToNobody { area }, &nobody);
                misuse(Misuse::PutBeyond { area, to: other }, &format!("rank {other}"));
                misuse(Misuse::GetFromNobody { area }, &nobody);
                misuse(Misuse::GetBeyond { area, from: other }, "");
                misuse(Misuse::MoveBeyond { area, to: other }, &format!("rank {other}"));
            }
            if group.queues > 0 {
                misuse(Misuse::SendToNobody { queue: choices.below(group.queues) }, &nobody);
            }
            if let Some(array) = group.arrays.iter().position(|array| !array.is_lost) {
                let len = group.arrays[array].values.len();
                misuse(Misuse::GatherBeyond { array }, &format!("index {len} of an array of {len}"));
                misuse(Misuse::ScatterBeyond { array }, &format!("index {len} of an array of {len}"));
                misuse(Misuse::ScatterTooFew { array }, "");
                misuse(Misuse::MirrorBeyond { array }, "");
            }
            if let Some(array) = group.arrays.iter().position(|array| array.is_lost) {
                misuse(Misuse::UseLost { array }, "has left");
            }
        }
        if !group.variables.is_empty() {
            let variable = choices.below(group.variables.len());
            let says = "is written outside of any step".to_owned();
            places.push(self.slip(Mistake::WriteOutside { variable }, "OutsideStep", says));
        }
        if let (Stage::Epoch(epoch), false) = (stage, group.objects.is_empty()) {
            if epoch.together.is_empty() {
                let to = choices.below(size);
                let mut panics = self.slip(Mistake::MethodPanics { to }, "RemotePanic", "a slip".to_owned());
                panics.says.remove(0);
                places.push(panics);
            }
            let mut nobody = self.slip(Mistake::RequestToNobody, "RankOutOfRange", format!("rank {size} named"));
            nobody.says.remove(0);
            places.push(nobody);
        }
    }

    /// Mistakes with paged arrays.
    fn paged(&self, places: &mut Vec<Slip>) {
        let (group, rank) = (self.model.group(), self.rank);
        for (array, paged) in group.paged.iter().enumerate().filter(|(_, paged)| !paged.is_lost) {
            if let Some(element) = paged.sights[rank].iter().position(|&sight| sight == Sight::Absent) {
                let says = format!("rank {}", paged.owners[element]);
                places.push(self.slip(Mistake::ReadAbsent { array, element }, "NotPresent", says));
            }
            if group.members.len() > 1 {
                let says = format!("rank {rank} is not among the ranks");
                places.push(self.slip(Mistake::NotInSet { array }, "NotInSet", says));
            }
            if paged.owners.iter().any(|&owner| owner != rank) {
                let says = format!("is not among the ranks [{rank}]");
                places.push(self.slip(Mistake::OwnerMissing { array }, "OwnerNotInGroup", says));
            }
        }
    }
}
