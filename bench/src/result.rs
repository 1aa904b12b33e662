//! What was measured, as rows of ratios to the plain build.

use crate::measure::{Cost, Instructions, median};
use crate::table::Table;
use anyhow::{Context, Result};

/// What one variant of one program gave.
pub(crate) struct Measured {
    pub(crate) variant: &'static str,
    pub(crate) compile: Cost,
    /// By round.
    pub(crate) links: Vec<Cost>,
    pub(crate) text_bytes: u64,
    pub(crate) instructions: Instructions,
    /// By round.
    pub(crate) runs: Vec<Cost>,
    pub(crate) raw_bytes: Option<u64>,
    pub(crate) report: Option<Cost>,
}

/// Ratios to the plain build; of rounds, each to the plain build's in the same round.
struct Ratios {
    instructions: f64,
    runs: Vec<f64>,
    compile: f64,
    links: Vec<f64>,
    text: f64,
}

impl Ratios {
    fn new(measured: &Measured, plain: &Measured) -> Self {
        let by_round = |of: &[Cost], to: &[Cost], seconds: fn(&Cost) -> f64| {
            of.iter().zip(to).map(|(of, to)| seconds(of) / seconds(to)).collect()
        };
        Self {
            instructions: measured.instructions.0 as f64 / plain.instructions.0 as f64,
            runs: by_round(&measured.runs, &plain.runs, |cost| cost.user_seconds),
            compile: measured.compile.user_seconds / plain.compile.user_seconds,
            links: by_round(&measured.links, &plain.links, |cost| cost.cpu_seconds),
            text: measured.text_bytes as f64 / plain.text_bytes as f64,
        }
    }

    fn run(&self) -> f64 {
        median(self.runs.iter().copied())
    }

    fn link(&self) -> f64 {
        median(self.links.iter().copied())
    }
}

/// One row for each program and variant, then the geometric mean over the programs.
pub(crate) fn results(all: &[(&str, Vec<Measured>)]) -> Result<Table> {
    let mut table = Table::new(&[
        "program",
        "variant",
        "instructions",
        "user time",
        "min-max",
        "compile",
        "link",
        "text",
        "raw profile",
        "report",
    ]);
    let mut by_variant: Vec<(&str, Vec<Ratios>)> = Vec::new();
    for (program, measured) in all {
        let plain = measured.first().context("the plain build is always measured")?;
        for measured in measured {
            let ratios = Ratios::new(measured, plain);
            let least = ratios.runs.iter().copied().fold(f64::INFINITY, f64::min);
            let most = ratios.runs.iter().copied().fold(0.0, f64::max);
            table.add(vec![
                (*program).to_owned(),
                measured.variant.to_owned(),
                format!("{:.3}", ratios.instructions),
                format!("{:.3}", ratios.run()),
                format!("{least:.2}-{most:.2}"),
                format!("{:.3}", ratios.compile),
                format!("{:.3}", ratios.link()),
                format!("{:.3}", ratios.text),
                measured.raw_bytes.map_or("-".to_owned(), |bytes| format!("{bytes} B")),
                measured.report.map_or("-".to_owned(), |cost| format!("{:.3} s", cost.elapsed_seconds)),
            ]);
            match by_variant.iter_mut().find(|(variant, _)| *variant == measured.variant) {
                Some((_, all)) => all.push(ratios),
                None => by_variant.push((measured.variant, vec![ratios])),
            }
        }
    }
    for (variant, ratios) in by_variant {
        let mean = |value: fn(&Ratios) -> f64| {
            let logarithms: f64 = ratios.iter().map(|ratios| value(ratios).ln()).sum();
            format!("{:.3}", (logarithms / ratios.len() as f64).exp())
        };
        let none = || "-".to_owned();
        table.add(vec![
            "geometric mean".to_owned(),
            variant.to_owned(),
            mean(|ratios| ratios.instructions),
            mean(Ratios::run),
            none(),
            mean(|ratios| ratios.compile),
            mean(Ratios::link),
            mean(|ratios| ratios.text),
            none(),
            none(),
        ]);
    }
    Ok(table)
}
