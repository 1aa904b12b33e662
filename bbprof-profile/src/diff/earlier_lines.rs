//! How often an earlier profile arrived at the lines of a function, by the lines that they have now.
//!
//! Where the function has the same code in both, the earlier counts are put on the blocks as they are now: lines may
//! have moved, blocks have not. Otherwise a function of the source within it (its own code, or one that is inlined)
//! is taken line by line where it has code on the same lines in both, from its first line on. Where neither holds
//! nothing says which line was which, and there is no count.

use crate::view::FunctionView;
use crate::{FileId, LineTable};
use std::collections::{BTreeMap, BTreeSet};

/// Arrivals by file of the later profile and line.
pub type EarlierLines = BTreeMap<FileId, BTreeMap<u32, u128>>;

/// What `a`, of the earlier profile, counted at the lines of `b`, its counterpart.
#[must_use]
pub fn earlier_lines(a: FunctionView<'_>, b: FunctionView<'_>) -> EarlierLines {
    if let Some(as_now) = b.with_counts_of(a) {
        let files = LineTable::of_functions(&[as_now]).files.into_iter();
        return files
            .map(|(file, source)| (file, source.lines.iter().map(|(line, counts)| (*line, counts.count)).collect()))
            .collect();
    }
    let table = LineTable::of_functions(&[a]);
    let (before, mut now) = (Stretch::all_of(a), Stretch::all_of(b));
    let mut found = EarlierLines::new();
    for (name, was) in before {
        let Some(is) = now.remove(&name).filter(|is| is.offsets == was.offsets) else { continue };
        let Some(source) = table.files.get(&was.file) else { continue };
        for offset in is.offsets {
            let old = was.first_line.checked_add_signed(offset).and_then(|line| source.lines.get(&line));
            if let (Some(old), Some(line)) = (old, is.first_line.checked_add_signed(offset)) {
                found.entry(is.file).or_default().insert(line, old.count);
            }
        }
    }
    found
}

/// Where a function of the source has code within a function of the program.
struct Stretch {
    file: FileId,
    first_line: u32,
    /// From the first line on; macros and generated code may stand before it.
    offsets: BTreeSet<i32>,
}

impl Stretch {
    /// By name; the function's own code has none, as it may be called otherwise in the other profile.
    fn all_of(function: FunctionView<'_>) -> BTreeMap<String, Self> {
        let mut all: BTreeMap<String, Self> = BTreeMap::new();
        for block in function.blocks() {
            for (id, _, _) in block.instructions_by_location() {
                let frame = function.frame(id);
                let Some(file) = frame.function_file.filter(|_| frame.line > 0) else { continue };
                let name = if frame.inlined_at.is_some() { crate::demangle(frame.function) } else { String::new() };
                let new = || Self { file, first_line: frame.function_line, offsets: BTreeSet::from([0]) };
                let stretch = all.entry(name).or_insert_with(new);
                if Some(stretch.file) == frame.file {
                    stretch.offsets.extend(i32::try_from(i64::from(frame.line) - i64::from(stretch.first_line)));
                }
            }
        }
        all
    }
}
