//! The mix as JSON, schema `bbprof-mix/1`: one line for each row.

use super::{MixBy, MixReport, Row};
use bbprof_profile::OpcodeCount;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

pub(super) fn write(report: &MixReport<'_>, out: &mut dyn Write) -> io::Result<()> {
    let by = match report.by {
        MixBy::Program => "program",
        MixBy::Module => "module",
        MixBy::Function => "function",
        MixBy::Instantiation => "instantiation",
    };
    // Without a run there is nothing that could be exact or not.
    let exact = if report.has_run { if report.exact { "true" } else { "false" } } else { "null" };
    let not_instrumented = report.num_skipped;
    write!(
        out,
        "{{\"schema\":\"bbprof-mix/1\",\"by\":\"{by}\",\"exact\":{exact},\"not_instrumented\":{not_instrumented},\n\"rows\":["
    )?;
    for (position, row) in report.rows.iter().enumerate() {
        let text = serde_json::to_string(&RowJson::new(report, row))?;
        write!(out, "{}{text}", if position == 0 { "\n" } else { ",\n" })?;
    }
    out.write_all(b"\n]}\n")
}

#[derive(Serialize)]
struct RowJson<'r> {
    name: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    symbol: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    module: Option<&'r str>,
    file: Option<&'r str>,
    line: u32,
    functions: u64,
    unsolved: u64,
    instructions: CountJson,
    opcodes: BTreeMap<&'r str, CountJson>,
    groups: BTreeMap<&'static str, CountJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    branches: Option<WaysJson>,
}

#[derive(Serialize)]
struct CountJson {
    executed: Option<u128>,
    in_code: u64,
}

#[derive(Serialize)]
struct WaysJson {
    r#true: u128,
    r#false: u128,
    unknown: u64,
}

impl<'r> RowJson<'r> {
    fn new(report: &MixReport<'r>, row: &'r Row<'r>) -> Self {
        let known = report.knows_executions(row);
        let count = |count: OpcodeCount| CountJson { executed: known.then_some(count.executed), in_code: count.in_code };
        let ways = row.mix.branches;
        Self {
            name: row.name,
            symbol: row.symbol,
            module: row.module,
            file: row.file.map(|file| report.files.path(file)),
            line: row.line,
            functions: row.mix.functions,
            unsolved: row.mix.unsolved,
            instructions: count(row.mix.total()),
            opcodes: row.mix.opcodes.iter().map(|(name, number)| (*name, count(*number))).collect(),
            groups: row.mix.groups().into_iter().map(|(group, number)| (group.name(), count(number))).collect(),
            branches: known.then_some(WaysJson { r#true: ways.if_true, r#false: ways.if_false, unknown: ways.unknown }),
        }
    }
}
