//! What was measured, as rows of ratios to the plain build.

use crate::measure::{Cost, Instructions, Sizes, median};
use crate::table::Table;
use crate::workload::Group;
use anyhow::{Context, Result};

/// What one variant of one program gave.
pub(crate) struct Measured {
    pub(crate) variant: &'static str,
    /// By round; of CPython one.
    pub(crate) compiles: Vec<Cost>,
    /// By round; none for programs that cargo links.
    pub(crate) links: Vec<Cost>,
    pub(crate) sizes: Sizes,
    /// None for what runs under valgrind itself.
    pub(crate) instructions: Option<Instructions>,
    /// By round.
    pub(crate) runs: Vec<Cost>,
    pub(crate) raw_bytes: Option<u64>,
    pub(crate) report: Option<Cost>,
}

impl Measured {
    /// What a build alone tells.
    pub(crate) fn new(variant: &'static str, compile: Cost, sizes: Sizes) -> Self {
        let (links, runs) = (Vec::new(), Vec::new());
        Self { variant, compiles: vec![compile], links, sizes, instructions: None, runs, raw_bytes: None, report: None }
    }

    /// Whether its first run took more than so many times the user time of the plain build's.
    pub(crate) fn is_slower(&self, times: f64, plain: Option<Cost>) -> bool {
        self.runs.first().zip(plain).is_some_and(|(own, plain)| own.user_seconds > times * plain.user_seconds)
    }
}

/// All variants of one program, the plain build first.
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) group: Group,
    pub(crate) measured: Vec<Measured>,
}

/// Ratios to the plain build; of rounds, each to the plain build's in the same round.
struct Ratios {
    instructions: Option<f64>,
    runs: Vec<f64>,
    compiles: Vec<f64>,
    links: Vec<f64>,
    text: f64,
}

impl Ratios {
    fn new(measured: &Measured, plain: &Measured) -> Self {
        let by_round = |of: &[Cost], to: &[Cost], seconds: fn(&Cost) -> f64| {
            of.iter().zip(to).map(|(of, to)| seconds(of) / seconds(to)).collect()
        };
        let instructions = measured.instructions.zip(plain.instructions);
        Self {
            instructions: instructions.map(|(own, plain)| own.0 as f64 / plain.0 as f64),
            runs: by_round(&measured.runs, &plain.runs, |cost| cost.user_seconds),
            compiles: by_round(&measured.compiles, &plain.compiles, |cost| cost.user_seconds),
            links: by_round(&measured.links, &plain.links, |cost| cost.cpu_seconds),
            text: measured.sizes.text as f64 / plain.sizes.text as f64,
        }
    }

    fn run(&self) -> Option<f64> {
        median(self.runs.iter().copied())
    }

    fn compile(&self) -> Option<f64> {
        median(self.compiles.iter().copied())
    }

    fn link(&self) -> Option<f64> {
        median(self.links.iter().copied())
    }
}

fn shown(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.3}"))
}

/// None where one is missing: a mean of others would be compared with a mean of all.
fn geometric_mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let logarithms: Vec<f64> = values.map(|value| value.map(f64::ln)).collect::<Option<_>>()?;
    (!logarithms.is_empty()).then(|| (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp())
}

/// A table for each group, which show at a glance how variants compare: a row for each, a column for each program with its
/// instructions and, in brackets, user time, and their geometric means.
pub(crate) fn overview(all: &[Program]) -> Result<Vec<Table>> {
    let mut tables = Vec::new();
    for group in Group::ALL {
        let programs: Vec<&Program> = all.iter().filter(|program| program.group == group).collect();
        let mut variants: Vec<&str> = Vec::new();
        for measured in programs.iter().flat_map(|program| &program.measured) {
            if !variants.contains(&measured.variant) {
                variants.push(measured.variant);
            }
        }
        if variants.is_empty() {
            continue;
        }
        let names = programs.iter().map(|program| program.name.as_str());
        let head: Vec<&str> = std::iter::once("variant").chain(names).chain([group.mean()]).collect();
        let mut table = Table::new(&head);
        for variant in variants {
            let mut ratios = Vec::new();
            for program in &programs {
                let plain = program.measured.first().context("the plain build is always measured")?;
                let own = program.measured.iter().find(|measured| measured.variant == variant);
                ratios.push(own.map(|own| Ratios::new(own, plain)));
            }
            let instructions: Vec<_> = ratios.iter().map(|ratios| ratios.as_ref()?.instructions).collect();
            let times: Vec<_> = ratios.iter().map(|ratios| ratios.as_ref()?.run()).collect();
            let means = [&instructions, &times].map(|values| geometric_mean(values.iter().copied()));
            let cells = instructions.into_iter().zip(times).chain([(means[0], means[1])]);
            let cells = cells.map(|(instructions, time)| format!("{} ({})", shown(instructions), shown(time)));
            table.add(std::iter::once(variant.to_owned()).chain(cells).collect());
        }
        tables.push(table);
    }
    Ok(tables)
}

/// One row for each program and variant, then the geometric means over the programs of each group.
pub(crate) fn results(all: &[Program]) -> Result<Table> {
    let mut table = Table::new(&[
        "program",
        "variant",
        "instructions",
        "user time",
        "min-max",
        "compile",
        "link",
        "text",
        "data and bss",
        "raw profile",
        "report",
    ]);
    let mut by_variant: Vec<(&str, Vec<(Group, Ratios)>)> = Vec::new();
    for program in all {
        let plain = program.measured.first().context("the plain build is always measured")?;
        for measured in &program.measured {
            let ratios = Ratios::new(measured, plain);
            let least = ratios.runs.iter().copied().fold(f64::INFINITY, f64::min);
            let most = ratios.runs.iter().copied().fold(0.0, f64::max);
            let data = measured.sizes.data as i64 - plain.sizes.data as i64;
            table.add(vec![
                program.name.clone(),
                measured.variant.to_owned(),
                shown(ratios.instructions),
                shown(ratios.run()),
                format!("{least:.2}-{most:.2}"),
                shown(ratios.compile()),
                shown(ratios.link()),
                shown(Some(ratios.text)),
                format!("{:+.1} kB", data as f64 / 1000.0),
                measured.raw_bytes.map_or("-".to_owned(), |bytes| format!("{bytes} B")),
                measured.report.map_or("-".to_owned(), |cost| format!("{:.3} s", cost.elapsed_seconds)),
            ]);
            match by_variant.iter_mut().find(|(variant, _)| *variant == measured.variant) {
                Some((_, all)) => all.push((program.group, ratios)),
                None => by_variant.push((measured.variant, vec![(program.group, ratios)])),
            }
        }
    }
    for group in Group::ALL {
        for (variant, ratios) in &by_variant {
            let of_group = || ratios.iter().filter(|(of, _)| *of == group).map(|(_, ratios)| ratios);
            if of_group().next().is_none() {
                continue;
            }
            let none = || "-".to_owned();
            let of_builds = |value: fn(&Ratios) -> Option<f64>| {
                if group == Group::Kernel { none() } else { shown(geometric_mean(of_group().map(value))) }
            };
            table.add(vec![
                group.mean().to_owned(),
                (*variant).to_owned(),
                shown(geometric_mean(of_group().map(|ratios| ratios.instructions))),
                shown(geometric_mean(of_group().map(Ratios::run))),
                none(),
                of_builds(Ratios::compile),
                of_builds(Ratios::link),
                of_builds(|ratios| Some(ratios.text)),
                none(),
                none(),
                none(),
            ]);
        }
    }
    Ok(table)
}
