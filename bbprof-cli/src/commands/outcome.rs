//! How a command on profiles ends, as an exit code.

use crate::locate::MissingMap;

/// The documented exit codes of `report`, `annotate`, `export`, `merge`, `diff`, `verify` and `dump`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Outcome {
    /// Done.
    Done = 0,
    /// Not done.
    Failure = 1,
    /// Wrong usage, or something that is required (a profile, a build map) is missing.
    Usage = 2,
    /// Done with all inputs but damaged ones, which were named.
    DamagedSkipped = 4,
    /// Done, and the profile is not exact.
    NotExact = 5,
}

/// An error that is the user's to solve.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UsageError(pub(crate) String);

impl Outcome {
    /// The exit code of a command that gave up.
    pub(crate) fn of_error(error: &anyhow::Error) -> Self {
        let is_usage = error.chain().any(|cause| cause.is::<UsageError>() || cause.is::<MissingMap>());
        if is_usage { Self::Usage } else { Self::Failure }
    }
}
