//! What changed between two profiles as JSON, schema `bbprof-diff/1` (`docs/schema/bbprof-diff-1.json`).

use bbprof_profile::{Change, Diff, FunctionDiff, MatchedBy, Side};
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct DiffJson<'d> {
    schema: &'static str,
    a: ProfileJson,
    b: ProfileJson,
    change: ChangeJson,
    moved_by_inlining: u128,
    functions: Vec<FunctionJson<'d>>,
}

#[derive(Serialize)]
struct ProfileJson {
    instructions: u128,
    exact: bool,
}

#[derive(Serialize)]
struct ChangeJson {
    total: i128,
    ran: i128,
    code: i128,
    new: i128,
    vanished: i128,
    inlining: i128,
}

#[derive(Serialize)]
struct FunctionJson<'d> {
    name: &'d str,
    file: Option<&'d str>,
    line: Option<u32>,
    matched_by: Option<&'static str>,
    a: Option<SideJson<'d>>,
    b: Option<SideJson<'d>>,
    change: ChangeJson,
}

#[derive(Serialize)]
struct SideJson<'d> {
    symbol: &'d str,
    functions: u64,
    entries: u128,
    instructions: u128,
}

/// Writes the comparison; functions that did not change are left out. `exact` says it of the first and of the second profile.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_diff_json(diff: &Diff, exact: [bool; 2], out: &mut dyn Write) -> io::Result<()> {
    let changed = diff.functions.iter().filter(|function| function.change != Change::default());
    let value = DiffJson {
        schema: "bbprof-diff/1",
        a: ProfileJson { instructions: diff.a, exact: exact[0] },
        b: ProfileJson { instructions: diff.b, exact: exact[1] },
        change: change(&diff.change),
        moved_by_inlining: diff.moved,
        functions: changed.map(function).collect(),
    };
    serde_json::to_writer(&mut *out, &value)?;
    out.write_all(b"\n")
}

fn change(change: &Change) -> ChangeJson {
    let Change { ran, code, new, vanished, inlining } = *change;
    ChangeJson { total: change.total(), ran, code, new, vanished, inlining }
}

fn function(function: &FunctionDiff) -> FunctionJson<'_> {
    FunctionJson {
        name: &function.name,
        file: function.place.as_ref().map(|(file, _)| &**file),
        line: function.place.as_ref().map(|(_, line)| *line),
        matched_by: function.matched_by.map(MatchedBy::name),
        a: function.a.as_ref().map(side),
        b: function.b.as_ref().map(side),
        change: change(&function.change),
    }
}

fn side(side: &Side) -> SideJson<'_> {
    SideJson {
        symbol: &side.symbol,
        functions: side.positions.len() as u64,
        entries: side.entries,
        instructions: side.instructions,
    }
}
