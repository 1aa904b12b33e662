//! Why counters and build maps do not make a profile. The caller knows the paths and puts them in front.

use bbprof_format::{BuildId, Digest, FormatError};

/// What does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// The build map holds a module that cannot be read.
    #[error("module {origin} of the build map: {fault}")]
    Module {
        /// Where the module came from.
        origin: String,
        /// What is wrong with it.
        fault: FormatError,
    },
    /// A build map cannot be read.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A module's counters lie outside the image's.
    #[error("module {origin} of the build map: {what}")]
    Placement {
        /// Where the module came from.
        origin: String,
        /// Which array, what was expected and what was found.
        what: String,
    },
    /// Counters of one build, map of another.
    #[error("build id {counters} of the counters does not match {map} of the build map; rebuild, or pass the right one with --map")]
    BuildId {
        /// The build id that the counters carry.
        counters: BuildId,
        /// The build id of the map.
        map: BuildId,
    },
    /// Same build id, but other counter arrays.
    #[error("counters of build {build_id} have layout {counters}, their build map has {map}: one of them is damaged")]
    Layout {
        /// The build.
        build_id: BuildId,
        /// The layout that the counters carry.
        counters: Digest,
        /// The layout of the map, or of the counters they were to be added to.
        map: Digest,
    },
    /// A different number of counters or of optional modules.
    #[error("build {build_id} has {expected} {what}, but {found} are there: the file is damaged")]
    Length {
        /// The build.
        build_id: BuildId,
        /// Of what.
        what: &'static str,
        /// How many the build map, or earlier counters of the same build, have.
        expected: u64,
        /// How many were found.
        found: u64,
    },
    /// Two processes of one build disagree on which modules it has.
    #[error("build {build_id}: processes disagree on whether optional module {module} was linked: one of the files is damaged")]
    Presence {
        /// The build.
        build_id: BuildId,
        /// Position in the presence table.
        module: usize,
    },
    /// A sum that 64 bits cannot hold.
    #[error("build {build_id}: the sum of counter {counter} of the {bank} bank does not fit into 64 bits")]
    Overflow {
        /// The build.
        build_id: BuildId,
        /// `thread-local` or `global`.
        bank: &'static str,
        /// Its position in the bank.
        counter: usize,
    },
    /// The sum of a path's executions is one that 64 bits cannot hold.
    #[error("build {build_id}: the sum of path {number} of counter {counter} does not fit into 64 bits")]
    PathOverflow {
        /// The build.
        build_id: BuildId,
        /// Which function: see [`bbprof_format::HashedPath::counter`].
        counter: u64,
        /// The path's number.
        number: u64,
    },
    /// Hashed paths of what is no function with hashed paths.
    #[error(
        "build {build_id}: there are executions of path {number} of counter {counter}, which stands for no function with hashed paths: the file is damaged"
    )]
    HashedPath {
        /// The build.
        build_id: BuildId,
        /// The counter.
        counter: u64,
        /// The path's number.
        number: u64,
    },
}
