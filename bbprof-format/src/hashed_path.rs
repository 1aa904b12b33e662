//! Executions of a path that no array holds.

use serde::{Deserialize, Serialize};

/// How often a path was taken whose function has more of them than an array holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct HashedPath {
    /// Which function: the position of its one planned counter among those of the image, thread-local ones first.
    pub counter: u64,
    /// The path's number.
    pub number: u64,
    /// Executions.
    pub count: u64,
}
