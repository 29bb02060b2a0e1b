//! What is asked of the simulator, by the program and by the environment.

use crate::error::{Error, ErrorKind, Result};
use fabric::{
    settings::{self, Wrong},
    sim::{Cost, Faults, Memory, NoCost, NoFaults, Plan, Trace},
};

/// What was asked for; nothing where it is left open.
#[derive(Clone, Debug, Default)]
pub(super) struct Simulated {
    pub(super) faults: Option<Faults>,
    pub(super) cost: Option<Cost>,
    pub(super) trace: Option<Trace>,
    prints: bool,
}

impl Simulated {
    /// What the environment asks for.
    pub(super) fn read() -> Result<Self, Wrong> {
        let switch = |text: &str| ["0", "1"].iter().position(|known| *known == text).map(|at| at == 1);
        Ok(Self {
            faults: settings::read("SUPERSTEP_SIM_FAULTS", &NoFaults.to_string(), |text| text.parse().ok())?,
            cost: settings::read("SUPERSTEP_SIM_COST", &NoCost.to_string(), |text| text.parse().ok())?,
            trace: None,
            prints: settings::read("SUPERSTEP_SIM_TRACE", "0 or 1", switch)?.unwrap_or(false),
        })
    }

    /// The plan of a run under this seed. What the program asks for wins over the environment.
    pub(super) fn plan(&self, environment: &Self, seed: u64, shares_memory: bool) -> Result<Plan> {
        let cost = self.cost.or(environment.cost).unwrap_or_default();
        if !cost.is_sound() {
            let what = format!("the cost is {cost:?}; r must be more than 0, and g and l not less");
            return Err(Error::new(ErrorKind::BadConfig, what));
        }
        Ok(Plan {
            seed,
            memory: if shares_memory { Memory::Shared } else { Memory::Apart },
            faults: self.faults.or(environment.faults).unwrap_or_default(),
            cost,
            trace: self.trace.clone(),
            prints: environment.prints,
        })
    }

    /// Refuses what only the simulator can do.
    pub(super) fn refuse(&self) -> Result {
        let asked = [
            ("faults were", self.faults.is_some()),
            ("a cost was", self.cost.is_some()),
            ("a trace was", self.trace.is_some()),
        ];
        match asked.into_iter().find(|(_, is_asked)| *is_asked) {
            None => Ok(()),
            Some((what, _)) => {
                let message = format!("{what} asked for, which only the simulator has; run it on Fabric::Sim");
                Err(Error::new(ErrorKind::BadConfig, message))
            }
        }
    }
}
