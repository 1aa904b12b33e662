//! What a function's page shows in views of their own, read when one is opened: the instruction mix, and the paths it took.

use super::count::{Count, Signed};
use super::strings::Strings;
use bbprof_profile::{FunctionView, OpcodeGroup, PathEnd, PathView};
use serde::Serialize;
use std::ops::Range;

/// Paths of one function that are listed; the page says how many there are. More than anyone reads, and some 100 kB at most.
const PATHS_OF_A_FUNCTION: usize = 500;

/// A piece: the views of the functions of one [`super::functions::Chunk`].
#[derive(Serialize)]
pub(super) struct Views {
    /// Position of the first function.
    first: usize,
    functions: Vec<FunctionData>,
    /// Opcodes, by position.
    strings: Vec<String>,
}

#[derive(Serialize)]
struct FunctionData {
    /// Opcode, group, how many stand in the code, executions.
    opcodes: Vec<(usize, &'static str, u64, Count)>,
    /// Conditional branches: executions with a true condition, with a false one, and branches whose way is not known.
    branches: (Count, Count, u64),
    #[serde(skip_serializing_if = "Option::is_none")]
    paths: Option<Paths>,
}

#[derive(Serialize)]
struct Paths {
    /// How many were taken.
    taken: usize,
    /// How often any was.
    count: Signed,
    /// Instructions executed on them.
    executed: Signed,
    /// Those with most executed instructions, and of equal ones the lower number.
    hottest: Vec<PathData>,
}

#[derive(Serialize)]
struct PathData {
    number: Count,
    count: Signed,
    executed: Signed,
    from_entry: bool,
    /// `leaves`, `vanishes`, or the block where the next path begins.
    end: End,
    blocks: Vec<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum End {
    Leaves,
    Vanishes,
    #[serde(untagged)]
    GoesOn(u32),
}

impl Views {
    pub(super) fn new(functions: &[FunctionView<'_>], range: Range<usize>) -> Self {
        let mut strings = Strings::default();
        let first = range.start;
        let functions = functions[range].iter().map(|function| FunctionData::new(*function, &mut strings)).collect();
        Self { first, functions, strings: strings.into_texts() }
    }
}

impl FunctionData {
    fn new(function: FunctionView<'_>, strings: &mut Strings) -> Self {
        let mix = function.mix();
        let row = |(opcode, count): (&&str, &bbprof_profile::OpcodeCount)| {
            (strings.add(opcode), OpcodeGroup::of(opcode).name(), count.in_code, Count(count.executed))
        };
        Self {
            opcodes: mix.opcodes.iter().map(row).collect(),
            branches: (Count(mix.branches.if_true), Count(mix.branches.if_false), mix.branches.unknown),
            paths: function.num_paths().map(|_| Paths::new(function.paths())),
        }
    }
}

impl Paths {
    fn new(mut paths: Vec<PathView>) -> Self {
        let (taken, count, executed) =
            (paths.len(), paths.iter().map(|path| path.count).sum(), paths.iter().map(PathView::executed).sum());
        paths.sort_by_key(|path| (std::cmp::Reverse(path.executed()), path.number));
        paths.truncate(PATHS_OF_A_FUNCTION);
        let hottest = paths.into_iter().map(PathData::new).collect();
        Self { taken, count: Signed(count), executed: Signed(executed), hottest }
    }
}

impl PathData {
    fn new(path: PathView) -> Self {
        Self {
            number: path.number.into(),
            count: Signed(path.count),
            executed: Signed(path.executed()),
            from_entry: path.from_entry,
            end: match path.end {
                PathEnd::Leaves => End::Leaves,
                PathEnd::Vanishes => End::Vanishes,
                PathEnd::GoesOn(block) => End::GoesOn(block),
            },
            blocks: path.blocks,
        }
    }
}
