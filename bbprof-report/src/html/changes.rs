//! What changed since an earlier profile, for the page: the sums, a row for each function
//! that changed, and what blocks and lines counted.

use super::Earlier;
use super::count::{Count, Signed};
use bbprof_profile::{Change, FunctionDiff, FunctionView, Side, earlier_lines};
use serde::Serialize;
use std::collections::HashMap;

/// The part of the index.
#[derive(Serialize)]
pub(super) struct Changes<'d> {
    instructions: Count,
    is_exact: bool,
    change: Parts,
    /// Instructions that now run as part of another function.
    moved: Count,
    /// Those that did not change, of both profiles.
    unchanged: usize,
    /// By amount.
    functions: Vec<ChangedFunction<'d>>,
}

/// *ran*, *code*, *new*, *vanished*, *inlining*.
type Parts = [Signed; 5];

#[derive(Serialize)]
struct ChangedFunction<'d> {
    name: &'d str,
    file: Option<&'d str>,
    line: u32,
    matched_by: Option<&'static str>,
    before: Option<SideData>,
    after: Option<SideData>,
    /// Positions in the table of functions, of this profile and of the earlier one.
    ids: &'d [usize],
    ids_before: &'d [usize],
    change: Parts,
}

/// Executed instructions, calls, functions of the program.
type SideData = (Count, Count, usize);

impl<'d> Changes<'d> {
    pub(super) fn new(earlier: &Earlier<'d>) -> Self {
        let all = &earlier.diff.functions;
        let changed: Vec<&FunctionDiff> = all.iter().filter(|function| function.change != Change::default()).collect();
        Self {
            instructions: Count(earlier.diff.a),
            is_exact: earlier.is_exact,
            change: parts(&earlier.diff.change),
            moved: Count(earlier.diff.moved),
            unchanged: all.len() - changed.len(),
            functions: changed.into_iter().map(ChangedFunction::new).collect(),
        }
    }
}

impl<'d> ChangedFunction<'d> {
    fn new(function: &'d FunctionDiff) -> Self {
        Self {
            name: &function.name,
            file: function.place.as_ref().map(|(file, _)| &**file),
            line: function.place.as_ref().map_or(0, |(_, line)| *line),
            matched_by: function.matched_by.map(bbprof_profile::MatchedBy::name),
            before: function.a.as_ref().map(side),
            after: function.b.as_ref().map(side),
            ids: function.b.as_ref().map_or(&[], |side| &side.positions),
            ids_before: function.a.as_ref().map_or(&[], |side| &side.positions),
            change: parts(&function.change),
        }
    }
}

fn side(side: &Side) -> SideData {
    (Count(side.instructions), Count(side.entries), side.positions.len())
}

fn parts(change: &Change) -> Parts {
    [change.ran, change.code, change.new, change.vanished, change.inlining].map(Signed)
}

/// Functions of the earlier profile that have one counterpart, by its position.
#[derive(Default)]
pub(super) struct Before<'p> {
    by_position: HashMap<usize, Counterpart<'p>>,
}

struct Counterpart<'p> {
    function: FunctionView<'p>,
    has_same_graph: bool,
}

/// By file: line and count.
pub(super) type LinesBefore = Vec<(usize, Vec<(u32, Count)>)>;

impl<'p> Before<'p> {
    pub(super) fn new(earlier: &Earlier<'p>) -> Self {
        let functions: Vec<FunctionView<'p>> = earlier.profile.functions().collect();
        let mut by_position = HashMap::new();
        for diff in &earlier.diff.functions {
            let (Some(a), Some(b)) = (&diff.a, &diff.b) else { continue };
            if let ([a], [b]) = (&a.positions[..], &b.positions[..]) {
                by_position.insert(*b, Counterpart { function: functions[*a], has_same_graph: diff.has_same_graph });
            }
        }
        Self { by_position }
    }

    /// What the blocks of the function at this position of the later profile counted before, where its graph is the same.
    pub(super) fn counts(&self, position: usize) -> Option<Vec<Count>> {
        let before = self.by_position.get(&position).filter(|before| before.has_same_graph)?;
        Some(before.function.blocks().map(|block| block.count().into()).collect())
    }

    /// What its lines counted before.
    pub(super) fn lines(&self, position: usize, now: FunctionView<'p>) -> Option<LinesBefore> {
        let files = earlier_lines(self.by_position.get(&position)?.function, now).into_iter();
        let counted =
            |lines: std::collections::BTreeMap<u32, u128>| lines.into_iter().map(|(line, count)| (line, Count(count))).collect();
        Some(files.map(|(file, lines)| (file.index(), counted(lines))).collect())
    }
}
