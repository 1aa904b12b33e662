//! The summary: totals, and the hottest functions, blocks and lines.

use crate::ends::write_ends;
use crate::number::{grouped, numbered, percent};
use crate::place::{file_name, place, short_name};
use crate::table::{Style, Table, bar, heading, warmth};
use bbprof_profile::{FunctionView, LineTable, Profile, Totals, WeightSource, source_name, without_turbofish};
use std::collections::{HashMap, HashSet};
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
    /// How it looks.
    pub style: Style,
}

/// Columns of the bars, which compare with the first row: what 80 columns leave beside numbers and names.
const BAR: usize = 6;

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
    let totals = profile.totals();
    write_totals(profile, &totals, out)?;
    write_groups(profile, options, out)?;
    write_blocks(profile, options, out)?;
    write_lines(profile, totals.instructions, options, out)
}

fn write_totals(profile: &Profile, totals: &Totals, out: &mut dyn Write) -> io::Result<()> {
    let count = |number: u64| grouped(u128::from(number));
    let fates = profile.processes.iter().map(|process| (&*process.executable, &*process.fate, process.number));
    write_ends(fates, out)?;
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
    write_weights(profile, out)?;
    let skipped = profile.skipped().len() as u64;
    if skipped > 0 {
        writeln!(out, "not instrumented  {}, see bbprof verify --skipped", numbered(skipped.into(), "function"))?;
    }
    Ok(())
}

/// Only where an earlier profile placed counters.
fn write_weights(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    let of = |source: WeightSource| profile.functions().filter(|function| function.weights() == source).count() as u128;
    let (measured, stale) = (of(WeightSource::Measured), of(WeightSource::Stale));
    if measured + stale == 0 {
        return Ok(());
    }
    let changed = if stale > 0 { format!("; {} changed since, see bbprof dump MAP", grouped(stale)) } else { String::new() };
    writeln!(out, "counters placed   by an earlier profile in {}{changed}", numbered(measured, "function"))
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
    let most = groups.first().map_or(0, |(_, group)| weight(group));
    let mut table = Table::new(&["instructions", "%", "", "calls", "blocks", last]);
    for (key, group) in groups.iter().take(options.top) {
        let cells = vec![
            grouped(group.instructions),
            percent(weight(group), total),
            bar(weight(group), most, BAR),
            grouped(group.calls),
            grouped(group.block_executions),
            group_label(profile, options.by, key, group),
        ];
        table.painted_row(warmth(weight(group), total), cells);
    }
    heading(options.style, &format!("Hottest {title} by {sorted_by} (% of these)"), out)?;
    table.write(options.style, out)
}

fn group_key(profile: &Profile, by: GroupBy, function: FunctionView<'_>) -> String {
    match by {
        GroupBy::Instantiation => format!("{}\0{}\0{}", function.name(), function.symbol(), function.module_name()),
        GroupBy::Module => function.module_name().to_owned(),
        GroupBy::File => function.file().map_or_else(|| "(no file)".to_owned(), |file| profile.files.path(file).to_owned()),
        GroupBy::Function => match function.file() {
            Some(file) => format!("{}\0{}\0{}", source_name(function.name()), profile.files.path(file), function.line()),
            None => format!("{}\0{}", function.name(), function.module_name()),
        },
    }
}

fn group_label(profile: &Profile, by: GroupBy, key: &str, group: &Group<'_>) -> String {
    let Some((_, function)) = group.hottest.filter(|_| matches!(by, GroupBy::Function | GroupBy::Instantiation)) else {
        return key.to_owned();
    };
    let (name, copies) = match group.members {
        1 => (short_name(function.name()), String::new()),
        n => (short_name(&without_turbofish(function.name())), format!("({n} copies)")),
    };
    // Behind two spaces stands what gives way to the name.
    let place = place(profile, function.file().map(|file| (file, function.line())));
    let between = if copies.is_empty() || !place.is_empty() { " " } else { "  " };
    format!("{name}{place}{between}{copies}").trim_end().to_owned()
}

fn write_blocks(profile: &Profile, options: &SummaryOptions, out: &mut dyn Write) -> io::Result<()> {
    type Block<'p> = (u128, u64, FunctionView<'p>, u32);
    fn identity<'p>((_, _, function, id): &Block<'p>) -> (&'p str, u32, &'p str) {
        (function.symbol(), *id, function.image_path())
    }
    let mut blocks: Vec<Block<'_>> = Vec::new();
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
    keep_first(&mut blocks, options.top, |a, b| (b.0, b.1).cmp(&(a.0, a.1)).then_with(|| identity(a).cmp(&identity(b))));
    let most = blocks.first().map_or(0, |block| block.0);
    let name = |function: FunctionView<'_>, id: u32| {
        let position = function.blocks().find(|block| block.id() == id).and_then(|block| block.positions().first().copied());
        let at = position.map_or_else(String::new, |(file, line, _)| format!("  {}:{line}", file_name(profile.files.path(file))));
        (format!("{} #{id}", short_name(function.name())), at)
    };
    let names: Vec<(String, String)> = blocks.iter().map(|(_, _, function, id)| name(*function, *id)).collect();
    let mut images: HashMap<&(String, String), HashSet<&str>> = HashMap::new();
    for (name, (_, _, function, _)) in names.iter().zip(&blocks) {
        images.entry(name).or_default().insert(function.image_path());
    }
    let mut table = Table::new(&["instructions", "%", "", "count", "block"]);
    for ((instructions, count, function, _), name) in blocks.into_iter().zip(&names) {
        // One source in several programs.
        let image = if images[name].len() > 1 { format!(" in {}", file_name(function.image_path())) } else { String::new() };
        let (label, at) = name;
        let block = format!("{label}{image}{at}");
        let bar = bar(instructions, most, BAR);
        let cells = vec![grouped(instructions), percent(instructions, total), bar, grouped(u128::from(count)), block];
        table.painted_row(warmth(instructions, total), cells);
    }
    heading(options.style, "Hottest blocks by instructions", out)?;
    table.write(options.style, out)
}

/// `total` = executed instructions.
fn write_lines(profile: &Profile, total: u128, options: &SummaryOptions, out: &mut dyn Write) -> io::Result<()> {
    let lines = LineTable::new(profile);
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
    keep_first(&mut rows, options.top, |a, b| b.0.cmp(&a.0).then_with(|| b.1.cmp(&a.1)).then_with(|| (a.2, a.3).cmp(&(b.2, b.3))));
    let most = rows.first().map_or(0, |row| row.0);
    let mut table = Table::new(&["instructions", "%", "", "count", "line"]);
    for (instructions, count, path, number) in rows {
        let bar = bar(instructions, most, BAR);
        let cells = vec![grouped(instructions), percent(instructions, total), bar, grouped(count), format!("{path}:{number}")];
        table.painted_row(warmth(instructions, total), cells);
    }
    let without = total - lines.files.values().flat_map(|source| source.lines.values()).map(|line| line.instructions).sum::<u128>();
    if without > 0 {
        let cells = [grouped(without), percent(without, total), String::new(), String::new(), "(no source line)".to_owned()];
        table.row(cells.to_vec());
    }
    heading(options.style, "Hottest lines by instructions", out)?;
    table.write(options.style, out)
}

/// The first `top` in this order, without sorting the others.
fn keep_first<T>(rows: &mut Vec<T>, top: usize, order: impl Fn(&T, &T) -> std::cmp::Ordering) {
    if top < rows.len() {
        rows.select_nth_unstable_by(top, &order);
        rows.truncate(top);
    }
    rows.sort_by(order);
}
