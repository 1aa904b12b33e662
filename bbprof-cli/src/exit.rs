//! Exit codes, and the error that carries one.

use crate::locate::MissingMap;
use std::fmt;

/// What the shell sees. Those of cargo and of profiled programs pass through unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Something went wrong.
    Failure = 1,
    /// Wrong usage, or something that is required is missing.
    Usage = 2,
    /// Cargo's own, where we find first what it would not do.
    Cargo = 101,
}

/// An error that is the user's to solve: a missing package, a wrong option. Ends with [`Exit::Usage`].
#[derive(Debug)]
pub(crate) struct Requirement(pub(crate) String);

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Requirement {}

/// Cargo said this, and ended. Ends with [`Exit::Cargo`].
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct CargoFailed(pub(crate) String);

/// `Err` of a [`Requirement`] in these words.
macro_rules! require {
    ($($word:tt)*) => { return Err(anyhow::Error::new($crate::exit::Requirement(format!($($word)*)))) };
}
pub(crate) use require;

impl Exit {
    /// The exit code of an error.
    pub(crate) fn of(error: &anyhow::Error) -> Self {
        if error.is::<Requirement>() || error.is::<MissingMap>() {
            Self::Usage
        } else if error.is::<CargoFailed>() {
            Self::Cargo
        } else {
            Self::Failure
        }
    }
}
