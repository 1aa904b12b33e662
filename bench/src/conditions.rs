//! With what was measured: the processor, the versions of everything, and the command line by which each variant is built.

use crate::build::LEVEL;
use crate::table::Table;
use crate::variant::Variant;
use anyhow::{Context, Result};
use std::process::Command;

/// One line: processor, options, versions, units.
pub(crate) fn conditions() -> Result<String> {
    let line = |program: &str| -> Result<String> {
        let output = Command::new(program).arg("--version").output().with_context(|| program.to_owned())?;
        Ok(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned())
    };
    Ok(format!(
        "{}; {LEVEL}, release; {}; {}; {}; {}; ratios to the plain build of the same run; text = code and read-only data",
        processor(&std::fs::read_to_string("/proc/cpuinfo").context("/proc/cpuinfo")?),
        line("clang-22")?,
        line("rustc")?,
        line("valgrind")?,
        line("ld")?
    ))
}

/// What /proc/cpuinfo says of the first processor, and how many there are. Virtual
/// machines hide the name: family and model tell what it is.
fn processor(information: &str) -> String {
    let value = |key: &str| {
        let mut pairs = information.lines().filter_map(|line| line.split_once(':'));
        pairs.find(|(name, _)| name.trim() == key).map_or("unknown", |(_, value)| value.trim()).to_owned()
    };
    let number = information.lines().filter(|line| line.starts_with("processor")).count();
    format!("{number} processors: {} (family {}, model {})", value("model name"), value("cpu family"), value("model"))
}

/// How each of the variants is built, and run, if not by itself.
pub(crate) fn command_lines(variants: &[Variant]) -> Table {
    let mut table = Table::new(&["variant", "C and C++", "Rust", "run by"]);
    for variant in variants {
        let is_trained = variant.trained_by.is_some();
        let c = variant.c.as_ref().map(|build| build.command_line(is_trained));
        let rust = variant.rust.as_ref().map(|build| build.command_line(is_trained));
        let [c, rust] = [c, rust].map(|line| line.unwrap_or_else(|| "-".to_owned()));
        table.add(vec![variant.name.to_owned(), c, rust, variant.runner.join(" ")]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_cpuinfo() {
        let of_one = "processor\t: 0\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: A: B\n\n";
        let information = of_one.to_owned() + &of_one.replace("17", "18").replace(": 0", ": 1");
        assert_eq!(processor(&information), "2 processors: A: B (family 25, model 17)");
        assert!(processor("").contains("unknown"));
    }

    #[test]
    fn every_variant_says_how_it_is_built() {
        let lines = command_lines(&Variant::all("/installation".as_ref())).markdown();
        for line in [
            "| callgrind | clang-22 -O2 | cargo build --release | valgrind --tool=callgrind ",
            "| plain | clang-22 -O2 | cargo build --release |  |",
            "| bbprof | bbprof-cc -O2 | cargo bbprof build --deps=all --release |",
            "| bbprof --weights | bbprof-cc -O2 --bbprof-weights=PROFILES | cargo bbprof build --deps=all --release --weights=PROFILES |",
            "| clang gcov | clang-22 -O2 --coverage | - |  |",
            "| front-end counters | clang-22 -O2 -fprofile-instr-generate | RUSTFLAGS=\"-Cinstrument-coverage\" cargo build --release |",
        ] {
            assert!(lines.contains(line), "{line} in {lines}");
        }
    }
}
