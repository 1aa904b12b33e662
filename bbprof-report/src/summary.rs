//! The summary: totals, and the hottest functions, blocks and lines.

use crate::number::{grouped, percent};
use crate::table::Table;
use bbprof_profile::{FunctionView, LineTable, Profile};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

/// What a row of the first table stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum GroupBy {
    /// A function of the source: all its instantiations together.
    #[default]
    Function,
    /// One function of the program.
    Instantiation,
    /// The file where functions are defined.
    File,
    /// The source file of the compilation unit.
    Module,
}

/// What "hottest" means.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SortBy {
    /// Executed LLVM IR instructions.
    #[default]
    Instructions,
    /// Entries of functions.
    Calls,
    /// Executions of basic blocks.
    Blocks,
}

/// How the summary looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SummaryOptions {
    /// Rows of each table.
    pub top: usize,
    /// What the first table is sorted by.
    pub sort: SortBy,
    /// What its rows are.
    pub by: GroupBy,
    /// Columns of the output.
    pub width: usize,
}

/// One row before it is written.
#[derive(Default)]
struct Group<'p> {
    instructions: u128,
    calls: u128,
    block_executions: u128,
    /// How many functions of the program, and the one of most instructions.
    members: u64,
    hottest: Option<(u128, FunctionView<'p>)>,
}

/// Writes the summary of a profile.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_summary(profile: &Profile, options: &SummaryOptions, out: &mut dyn Write) -> io::Result<()> {
    write_totals(profile, out)?;
    write_groups(profile, options, out)?;
    write_blocks(profile, options, out)?;
    write_lines(profile, options, out)
}

fn write_totals(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    let totals = profile.totals();
    let count = |number: u64| grouped(u128::from(number));
    let mut fates: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for process in &profile.processes {
        *fates.entry((&process.executable, &process.fate)).or_default() += 1;
    }
    for ((executable, fate), processes) in fates {
        let times = if processes == 1 { String::new() } else { format!(" ({} processes)", count(processes)) };
        writeln!(out, "{executable}: {fate}{times}")?;
    }
    let exceptions = profile.exceptions().len() as u64;
    match exceptions {
        0 => writeln!(out, "counts            exact")?,
        1 => writeln!(out, "counts            NOT exact: 1 exception, see bbprof verify")?,
        n => writeln!(out, "counts            NOT exact: {} exceptions, see bbprof verify", count(n))?,
    }
    let share = |part: u64, whole: u64| percent(u128::from(part), u128::from(whole));
    let executed = |part, whole| format!("{} of {} executed ({} %)", count(part), count(whole), share(part, whole));
    writeln!(out, "functions         {}", executed(totals.functions_executed, totals.functions))?;
    writeln!(out, "blocks            {}", executed(totals.blocks_executed, totals.blocks))?;
    writeln!(out, "block executions  {}", grouped(totals.block_executions))?;
    let located = percent(totals.instructions_with_line, totals.instructions);
    writeln!(out, "instructions      {} (LLVM IR), {located} % with a source line", grouped(totals.instructions))?;
    let skipped = profile.skipped().len() as u64;
    if skipped > 0 {
        let noun = if skipped == 1 { "function" } else { "functions" };
        writeln!(out, "not instrumented  {} {noun}, see bbprof verify --skipped", count(skipped))?;
    }
    Ok(())
}

fn write_groups(profile: &Profile, options: &SummaryOptions, out: &mut dyn Write) -> io::Result<()> {
    let mut groups: HashMap<String, Group<'_>> = HashMap::new();
    for function in profile.functions().filter(|function| function.is_executed()) {
        let group = groups.entry(group_key(profile, options.by, function)).or_default();
        group.instructions += function.counts.instructions;
        group.calls += u128::from(function.counts.entries);
        group.block_executions += function.blocks().map(|block| u128::from(block.count())).sum::<u128>();
        group.members += 1;
        let hotness = function.counts.instructions;
        if group.hottest.is_none_or(|(hottest, first)| (hotness, first.symbol()) > (hottest, function.symbol())) {
            group.hottest = Some((hotness, function));
        }
    }
    let mut groups: Vec<(String, Group<'_>)> = groups.into_iter().collect();
    let weight = |group: &Group<'_>| match options.sort {
        SortBy::Instructions => group.instructions,
        SortBy::Calls => group.calls,
        SortBy::Blocks => group.block_executions,
    };
    groups.sort_by(|(a_key, a), (b_key, b)| weight(b).cmp(&weight(a)).then_with(|| a_key.cmp(b_key)));
    let total: u128 = groups.iter().map(|(_, group)| weight(group)).sum();
    let (title, last) = match options.by {
        GroupBy::Function => ("functions", "function"),
        GroupBy::Instantiation => ("instantiations", "function"),
        GroupBy::File => ("files", "file"),
        GroupBy::Module => ("modules", "module"),
    };
    let sorted_by = match options.sort {
        SortBy::Instructions => "instructions",
        SortBy::Calls => "calls",
        SortBy::Blocks => "block executions",
    };
    let mut table = Table::new(&["instructions", "%", "calls", "block executions", last]);
    for (key, group) in groups.iter().take(options.top) {
        table.row(vec![
            grouped(group.instructions),
            percent(weight(group), total),
            grouped(group.calls),
            grouped(group.block_executions),
            group_label(profile, options.by, key, group),
        ]);
    }
    heading(out, &format!("Hottest {title} by {sorted_by} (% of these)"))?;
    table.write(options.width, out)
}

fn group_key(profile: &Profile, by: GroupBy, function: FunctionView<'_>) -> String {
    match by {
        GroupBy::Instantiation => format!("{}\0{}\0{}", function.name(), function.symbol(), function.module_source()),
        GroupBy::Module => function.module_source().to_owned(),
        GroupBy::File => function.file().map_or_else(|| "(no file)".to_owned(), |file| profile.files.path(file).to_owned()),
        GroupBy::Function => match function.file() {
            Some(file) => format!("{}\0{}\0{}", without_generics(function.name()), profile.files.path(file), function.line()),
            None => format!("{}\0{}", function.name(), function.module_source()),
        },
    }
}

fn group_label(profile: &Profile, by: GroupBy, key: &str, group: &Group<'_>) -> String {
    let Some((_, function)) = group.hottest.filter(|_| matches!(by, GroupBy::Function | GroupBy::Instantiation)) else {
        return key.to_owned();
    };
    let place = place(profile, function);
    let copies = if group.members > 1 { format!(" ({} instantiations)", group.members) } else { String::new() };
    format!("{}{copies}{place}", short_name(function.name()))
}

/// `  file.c:12`, or nothing.
fn place(profile: &Profile, function: FunctionView<'_>) -> String {
    match function.file() {
        Some(file) if function.line() > 0 => format!("  {}:{}", file_name(profile.files.path(file)), function.line()),
        _ => String::new(),
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A long name with `<..>` for the arguments of its generics, and without its parameters' types, so that the rest can be read.
fn short_name(name: &str) -> String {
    // Fits beside the numbers in 80 columns with a place behind it; a guess.
    const LONG: usize = 24;
    if name.chars().count() <= LONG {
        return name.to_owned();
    }
    let mut short = String::new();
    let mut depth = 0_u32;
    for c in name.chars() {
        match c {
            '<' if depth > 0 => depth += 1,
            '<' if short.ends_with(|before: char| before.is_alphanumeric() || before == '_') && !short.ends_with("operator") => {
                short.push_str("<..>");
                depth = 1;
            }
            '<' if short.ends_with("::") => {
                short.push_str("<..>");
                depth = 1;
            }
            '>' if depth > 0 => depth -= 1,
            '(' if depth == 0 && !short.is_empty() && !short.ends_with("::") && !short.ends_with("operator") => break,
            c if depth == 0 => short.push(c),
            _ => {}
        }
    }
    short
}

/// A name without what stands in `<...>` and behind its parameter list begins: tells instantiations of one function to be one.
pub(crate) fn without_generics(name: &str) -> String {
    let mut depth = 0_u32;
    let mut plain = String::new();
    for c in name.chars() {
        match c {
            '<' => depth += 1,
            '>' if depth > 0 => depth -= 1,
            '(' if depth == 0 && !plain.is_empty() => break,
            c if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    plain
}

fn write_blocks(profile: &Profile, options: &SummaryOptions, out: &mut dyn Write) -> io::Result<()> {
    let mut blocks: Vec<(u128, u64, FunctionView<'_>, u32)> = Vec::new();
    let mut total = 0;
    for function in profile.functions().filter(|function| function.is_executed()) {
        for block in function.blocks() {
            let instructions = block.instructions();
            total += instructions;
            if block.count() > 0 {
                blocks.push((instructions, block.count(), function, block.id()));
            }
        }
    }
    let order = |a: &(u128, u64, FunctionView<'_>, u32), b: &(u128, u64, FunctionView<'_>, u32)| {
        b.0.cmp(&a.0).then_with(|| b.1.cmp(&a.1)).then_with(|| a.2.symbol().cmp(b.2.symbol())).then_with(|| a.3.cmp(&b.3))
    };
    keep_first(&mut blocks, options.top, order);
    let mut table = Table::new(&["instructions", "%", "count", "block"]);
    for (instructions, count, function, id) in blocks {
        let position = function.blocks().find(|block| block.id() == id).and_then(|block| block.positions().first().copied());
        let at = position.map_or_else(String::new, |(file, line, _)| format!("  {}:{line}", file_name(profile.files.path(file))));
        let block = format!("{} #{id}{at}", short_name(function.name()));
        table.row(vec![grouped(instructions), percent(instructions, total), grouped(u128::from(count)), block]);
    }
    heading(out, "Hottest blocks by instructions")?;
    table.write(options.width, out)
}

fn write_lines(profile: &Profile, options: &SummaryOptions, out: &mut dyn Write) -> io::Result<()> {
    let lines = LineTable::new(profile);
    let total = profile.totals().instructions;
    let mut rows: Vec<(u128, u128, &str, u32)> = Vec::new();
    for (file, source) in &lines.files {
        let path = profile.files.path(*file);
        rows.extend(
            source
                .lines
                .iter()
                .filter(|(_, line)| line.count > 0)
                .map(|(number, line)| (line.instructions, line.count, path, *number)),
        );
    }
    let located: u128 = rows.iter().map(|row| row.0).sum();
    keep_first(&mut rows, options.top, |a, b| b.0.cmp(&a.0).then_with(|| b.1.cmp(&a.1)).then_with(|| (a.2, a.3).cmp(&(b.2, b.3))));
    let mut table = Table::new(&["instructions", "%", "count", "line"]);
    for (instructions, count, path, number) in rows {
        table.row(vec![grouped(instructions), percent(instructions, total), grouped(count), format!("{path}:{number}")]);
    }
    let without = total.saturating_sub(located);
    if without > 0 {
        table.row(vec![grouped(without), percent(without, total), String::new(), "(no source line)".to_owned()]);
    }
    heading(out, "Hottest lines by instructions")?;
    table.write(options.width, out)
}

/// The first `top` in this order, without sorting the others.
fn keep_first<T>(rows: &mut Vec<T>, top: usize, order: impl Fn(&T, &T) -> std::cmp::Ordering) {
    if top < rows.len() {
        rows.select_nth_unstable_by(top, &order);
        rows.truncate(top);
    }
    rows.sort_by(order);
}

fn heading(out: &mut dyn Write, title: &str) -> io::Result<()> {
    writeln!(out, "\n{title}")
}

#[cfg(test)]
mod tests {
    use super::{short_name, without_generics};

    #[test]
    fn long_names_lose_their_arguments() {
        for (name, short) in [
            ("std::vector<int>", "std::vector<int>"),
            ("std::map<std::string, int>::operator[](std::string const&)", "std::map<..>::operator[]"),
            ("<hashbrown::map::HashMap<K, V>>::rustc_entry", "<hashbrown::map::HashMap<..>>::rustc_entry"),
            ("<alloc::vec::Vec<u8> as core::clone::Clone>::clone", "<alloc::vec::Vec<..> as core::clone::Clone>::clone"),
            ("core::ptr::drop_in_place::<alloc::vec::Vec<u8>>", "core::ptr::drop_in_place::<..>"),
            ("a_long_namespace::operator<(int, int)", "a_long_namespace::operator<"),
            ("(anonymous namespace)::a_function_of_it(int)", "(anonymous namespace)::a_function_of_it"),
        ] {
            assert_eq!(short_name(name), short);
        }
    }

    #[test]
    fn instantiations_have_one_name() {
        for (name, plain) in [
            ("main", "main"),
            ("core::ptr::drop_in_place<alloc::vec::Vec<u8>>", "core::ptr::drop_in_place"),
            ("std::vector<int, std::allocator<int> >::push_back(int const&)", "std::vector::push_back"),
            ("<a::B as core::clone::Clone>::clone", "::clone"),
        ] {
            assert_eq!(without_generics(name), plain);
        }
    }
}
