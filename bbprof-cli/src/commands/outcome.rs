//! How a command on profiles ends, when it ends well; see [`crate::exit`] for the other exit codes.

/// The documented exit codes of commands that did what they could.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Outcome {
    /// Done.
    Done = 0,
    /// Done, and there is a regression.
    Regression = 3,
    /// Done with all inputs but damaged ones, which were named.
    DamagedSkipped = 4,
    /// Done, and the profile is not exact.
    NotExact = 5,
}

impl Outcome {
    /// Of a command that left out so many inputs.
    pub(crate) fn without(num_left_out: usize) -> Self {
        if num_left_out > 0 { Self::DamagedSkipped } else { Self::Done }
    }
}
