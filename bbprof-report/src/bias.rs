//! Branch bias: which way branches usually go, and how often they go against it.
//!
//! The *usual* way of a branch is the one it took most often. What went another way is a count too: the executions
//! that no fixed guess at each branch would have got right.

use crate::number::{grouped, percent};
use crate::one_line;
use crate::place::{place, placed, short_name};
use crate::table::{Style, Table, bar, heading, warmth};
use bbprof_profile::{Branch, Profile};
use std::io::{self, Write};

/// A branch whose counts are known.
struct Counted<'p> {
    branch: Branch<'p>,
    counts: Vec<u64>,
    executions: u128,
    usual: u128,
}

impl Counted<'_> {
    fn against(&self) -> u128 {
        self.executions - self.usual
    }

    fn label(&self, profile: &Profile) -> String {
        let function = short_name(self.branch.function.name());
        format!("{function} #{}{}", self.branch.block, place(profile, self.branch.place))
    }
}

/// Writes the branches of a profile: sums, those that are hardest to guess, functions, those that go one way only, and switches;
/// at most `top` rows each.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_bias(profile: &Profile, top: usize, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let (mut unknown, mut never, mut never_reached) = (0_u64, 0_u64, 0_u64);
    let mut branches: Vec<Counted<'_>> = Vec::new();
    for function in profile.functions() {
        let is_executed = function.is_executed();
        for branch in function.branches() {
            let Some(counts) = branch.counts() else {
                unknown += 1;
                continue;
            };
            let executions: u128 = counts.iter().map(|count| u128::from(*count)).sum();
            if executions == 0 {
                if is_executed {
                    never += 1
                } else {
                    never_reached += 1
                }
                continue;
            }
            let usual = u128::from(counts.iter().copied().max().unwrap_or(0));
            branches.push(Counted { branch, counts, executions, usual });
        }
    }
    // Of equals the one that comes first in the profile; the sort is stable.
    branches.sort_by_key(|branch| std::cmp::Reverse((branch.against(), branch.executions)));
    let executions: u128 = branches.iter().map(|branch| branch.executions).sum();
    let against: u128 = branches.iter().map(Counted::against).sum();
    let one_way = branches.iter().filter(|branch| branch.against() == 0).count();
    let number = |number: u64| grouped(u128::from(number));
    let all = branches.len() as u64 + never + never_reached + unknown;
    writeln!(
        out,
        "branches          {} of {} executed, {} of them one way only",
        grouped(branches.len() as u128),
        number(all),
        grouped(one_way as u128)
    )?;
    writeln!(out, "never executed    {} in functions that ran, {} in others", number(never), number(never_reached))?;
    if unknown > 0 {
        writeln!(out, "not known         {}: the counter placement leaves their ways open", number(unknown))?;
    }
    writeln!(out, "executions        {}", grouped(executions))?;
    writeln!(out, "the usual way     {} ({} %)", grouped(executions - against), percent(executions - against, executions))?;
    hardest(profile, &branches, against, top, style, out)?;
    functions(profile, &branches, against, top, style, out)?;
    one_way_only(profile, &mut branches.iter().filter(|branch| branch.against() == 0).collect(), top, style, out)?;
    switches(profile, &branches, top, style, out)
}

fn hardest(
    profile: &Profile,
    branches: &[Counted<'_>],
    against: u128,
    top: usize,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let most = branches.first().map_or(0, Counted::against);
    let mut table = Table::new(&["against", "%", "", "of", "usual %", "branch"]);
    for branch in branches.iter().filter(|branch| branch.against() > 0).take(top) {
        let (part, all) = (branch.against(), branch.executions);
        table.painted_row(
            warmth(part, against),
            vec![
                grouped(part),
                percent(part, against),
                bar(part, most, 6),
                grouped(all),
                percent(branch.usual, all),
                branch.label(profile),
            ],
        );
    }
    heading(style, "Hardest branches, by executions against the usual way", out)?;
    table.write(style, out)
}

fn functions(
    profile: &Profile,
    branches: &[Counted<'_>],
    against: u128,
    top: usize,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut by_function: Vec<&Counted<'_>> = branches.iter().collect();
    let key = |branch: &&Counted<'_>| {
        let function = branch.branch.function;
        (function.build_id().0, function.counts.module, function.counts.function)
    };
    by_function.sort_by_key(key);
    let mut rows: Vec<(u128, u128, usize, &Counted<'_>)> = by_function
        .chunk_by(|a, b| key(a) == key(b))
        .map(|of_one| {
            let sum = |part: fn(&Counted<'_>) -> u128| of_one.iter().map(|branch| part(branch)).sum::<u128>();
            (sum(|branch| branch.against()), sum(|branch| branch.executions), of_one.len(), of_one[0])
        })
        .collect();
    // Of equal ones with one name the first stays the first.
    rows.sort_by(|a, b| (b.0, b.1).cmp(&(a.0, a.1)).then_with(|| a.3.branch.function.symbol().cmp(b.3.branch.function.symbol())));
    let mut table = Table::new(&["against", "%", "of", "usual %", "branches", "function"]);
    for (part, all, number, branch) in rows.into_iter().take(top) {
        table.painted_row(
            warmth(part, against),
            vec![
                grouped(part),
                percent(part, against),
                grouped(all),
                percent(all - part, all),
                grouped(number as u128),
                placed(profile, branch.branch.function),
            ],
        );
    }
    heading(style, "Functions by the same", out)?;
    table.write(style, out)
}

fn one_way_only(
    profile: &Profile,
    branches: &mut Vec<&Counted<'_>>,
    top: usize,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    branches.sort_by_key(|branch| std::cmp::Reverse(branch.executions));
    let mut table = Table::new(&["executions", "always", "never", "branch"]);
    for branch in branches.iter().take(top) {
        let ways = branch.branch.ways.iter().filter(|way| way.count.is_some());
        let taken = ways.clone().find(|way| way.count > Some(0)).map_or_else(String::new, |way| format!("#{}", way.to));
        let never: Vec<String> = ways.filter(|way| way.count == Some(0)).map(|way| format!("#{}", way.to)).collect();
        let never = if never.len() > 2 { format!("{} ways", never.len()) } else { never.join(" ") };
        table.row(vec![grouped(branch.executions), taken, never, branch.label(profile)]);
    }
    heading(style, "Always one way, the most frequent (blocks by number)", out)?;
    table.write(style, out)
}

/// Each switch with its ways: the share of the most frequent ones, and how many were never taken.
fn switches(profile: &Profile, branches: &[Counted<'_>], top: usize, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut switches: Vec<&Counted<'_>> = branches.iter().filter(|branch| branch.branch.is_switch()).collect();
    if switches.is_empty() {
        return Ok(());
    }
    switches.sort_by_key(|branch| std::cmp::Reverse(branch.executions));
    heading(style, "Switches by executions, with their most frequent ways", out)?;
    for switch in switches.into_iter().take(top) {
        let taken = switch.counts.iter().filter(|count| **count > 0).count();
        let head = format!("{:>14}  {}", grouped(switch.executions), one_line(&switch.label(profile)));
        writeln!(out, "{}", crate::table::cut_middle(&head, style.width))?;
        let mut ways: Vec<_> =
            switch.branch.ways.iter().filter_map(|way| Some((way.count?, way.to))).filter(|(count, _)| *count > 0).collect();
        ways.sort_by_key(|(count, to)| (std::cmp::Reverse(*count), *to));
        for (count, to) in ways.iter().take(4) {
            let count = u128::from(*count);
            writeln!(out, "{:>16}{:>5} % {} #{to}", "", percent(count, switch.executions), bar(count, switch.executions, 20))?;
        }
        writeln!(out, "{:>16}{taken} of {} ways taken", "", switch.counts.len())?;
    }
    Ok(())
}
