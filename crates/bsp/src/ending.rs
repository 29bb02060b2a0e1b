//! What ends a superstep, and the streams that change hands then.

/// The streams of the first channel.
pub(crate) const PUTS: usize = 0;
pub(crate) const GETS: usize = 1;
pub(crate) const MESSAGES: usize = 2;
/// Registrations and what collectives move.
pub(crate) const NOTES: usize = 3;

/// What ends a superstep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Sync,
    End,
    /// A collective, by its number.
    Collective(Collective),
}

impl Ending {
    pub(crate) fn code(self) -> u64 {
        match self {
            Self::Sync => 0,
            Self::End => 1,
            Self::Collective(which) => 2 + which as u64,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sync => "bsp_sync",
            Self::End => "bsp_end",
            Self::Collective(which) => which.name(),
        }
    }

    pub(crate) fn name_of(code: u64) -> &'static str {
        match code {
            0 => Self::Sync.name(),
            1 => Self::End.name(),
            code => Collective::name_of(code - 2),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Collective {
    Broadcast,
    Fold,
    Scan,
    Gather,
    Scatter,
    Exchange,
}

impl Collective {
    const ALL: [Self; 6] = [Self::Broadcast, Self::Fold, Self::Scan, Self::Gather, Self::Scatter, Self::Exchange];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Broadcast => "bsp_bcast",
            Self::Fold => "bsp_fold",
            Self::Scan => "bsp_scan",
            Self::Gather => "bsp_gather",
            Self::Scatter => "bsp_scatter",
            Self::Exchange => "bsp_exchange",
        }
    }

    pub(crate) fn name_of(number: u64) -> &'static str {
        Self::ALL.get(number as usize).map_or("something else", |which| which.name())
    }
}
