//! The Cobertura report (`coverage-04.dtd`), as Jenkins, GitLab and Azure read it: a package for each folder, a class for each
//! source file. What it shows is told in `covered.rs`. The time stamp is 0, so that equal profiles give equal bytes.

use crate::covered::{Coverage, CoveredBranches, CoveredFile, CoveredLines, covered_files};
use crate::number::in_64_bits;
use bbprof_profile::{Profile, demangle};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Parts hit, and all.
#[derive(Clone, Copy, Default)]
struct Rate {
    hit: u64,
    all: u64,
}

impl Rate {
    /// A share with four decimals, rounded down, so that 1 means all; 1 of nothing, as Cobertura has it.
    fn text(self) -> String {
        let share = if self.all == 0 { 10_000 } else { u128::from(self.hit) * 10_000 / u128::from(self.all) };
        format!("{}.{:04}", share / 10_000, share % 10_000)
    }

    fn percent(self) -> String {
        let share = if self.all == 0 { 100 } else { u128::from(self.hit) * 100 / u128::from(self.all) };
        format!("{share}%")
    }

    fn add(&mut self, other: Self) {
        self.hit += other.hit;
        self.all += other.all;
    }
}

/// Lines and ways of branches.
#[derive(Clone, Copy, Default)]
struct Rates {
    lines: Rate,
    branches: Rate,
}

impl Rates {
    fn of(file: &CoveredFile<'_>) -> Self {
        let mut rates = Self::default();
        rates.lines.all = file.lines.len() as u64;
        rates.lines.hit = file.lines.iter().filter(|(_, count)| *count > 0).count() as u64;
        for branches in &file.branches {
            rates.branches.add(ways(branches));
        }
        rates
    }

    fn sum<'r>(rates: impl Iterator<Item = &'r Self>) -> Self {
        rates.fold(Self::default(), |mut sum, rates| {
            sum.lines.add(rates.lines);
            sum.branches.add(rates.branches);
            sum
        })
    }
}

fn ways(branches: &CoveredBranches) -> Rate {
    let counts = || branches.ways.iter().flatten();
    Rate { hit: counts().filter(|count| **count > 0).count() as u64, all: counts().count() as u64 }
}

/// Writes a profile for Cobertura's readers. Paths below `root` (absolute; empty = none) are written relative
/// to it, and `root` as the source folder. Returns its total.
///
/// # Errors
/// When `out` cannot be written, or a count does not fit into the 64 bits in which readers hold it.
pub fn write_cobertura(profile: &Profile, root: &str, coverage: Coverage<'_>, out: &mut dyn Write) -> io::Result<CoveredLines> {
    let mut packages = Packages::new();
    let files = covered_files(profile, coverage);
    check_counts(&files)?;
    let total = CoveredLines::of(&files);
    for file in files {
        let below = file.path.strip_prefix(root).and_then(|path| path.strip_prefix('/')).filter(|_| !root.is_empty());
        let path = below.unwrap_or(file.path).to_owned();
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        let rates = Rates::of(&file);
        packages.entry(folder).or_default().push((path, file, rates));
    }
    write_document(&mut Writer::new_with_indent(&mut *out, b' ', 1), root, &packages)?;
    writeln!(out)?;
    Ok(total)
}

fn check_counts(files: &[CoveredFile<'_>]) -> io::Result<()> {
    let held = |count: u128, file: &CoveredFile<'_>, line: u32| {
        in_64_bits(count, format_args!("{}:{line}", file.path), "executions", "Cobertura's report").map(|_| ())
    };
    files.iter().try_for_each(|file| {
        file.functions.iter().try_for_each(|function| held(function.count, file, function.line))?;
        file.lines.iter().try_for_each(|(line, count)| held(*count, file, *line))
    })
}

type Packages<'p> = BTreeMap<String, Vec<(String, CoveredFile<'p>, Rates)>>;

fn write_document<W: Write>(xml: &mut Writer<W>, root: &str, packages: &Packages<'_>) -> io::Result<()> {
    let all = Rates::sum(packages.values().flatten().map(|(_, _, rates)| rates));
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let doctype = "coverage SYSTEM \"http://cobertura.sourceforge.net/xml/coverage-04.dtd\"";
    xml.write_event(Event::DocType(BytesText::from_escaped(doctype)))?;
    // Of a program without lines nothing is known: no share is all.
    let rate = |rate: Rate| if all.lines.all == 0 { "0.0000".to_owned() } else { rate.text() };
    let version = concat!("bbprof ", env!("CARGO_PKG_VERSION"));
    let coverage = xml.create_element("coverage").with_attributes([
        ("line-rate", &*rate(all.lines)),
        ("branch-rate", &*rate(all.branches)),
        ("lines-covered", &*all.lines.hit.to_string()),
        ("lines-valid", &*all.lines.all.to_string()),
        ("branches-covered", &*all.branches.hit.to_string()),
        ("branches-valid", &*all.branches.all.to_string()),
        ("complexity", "0"),
        ("version", version),
        ("timestamp", "0"),
    ]);
    coverage.write_inner_content(|xml| {
        let root = if root.is_empty() { "/" } else { root };
        let source =
            |xml: &mut Writer<W>| xml.create_element("source").write_text_content(BytesText::new(&plain(root))).map(|_| ());
        xml.create_element("sources").write_inner_content(source)?;
        let all_packages = |xml: &mut Writer<W>| packages.iter().try_for_each(|(name, files)| package(xml, name, files));
        xml.create_element("packages").write_inner_content(all_packages)?;
        Ok(())
    })?;
    Ok(())
}

fn package<W: Write>(xml: &mut Writer<W>, name: &str, files: &[(String, CoveredFile<'_>, Rates)]) -> io::Result<()> {
    let rates = Rates::sum(files.iter().map(|(_, _, rates)| rates));
    let element = rated(xml, "package", &[("name", name)], rates);
    element.write_inner_content(|xml| {
        let classes = |xml: &mut Writer<W>| files.iter().try_for_each(|(path, file, rates)| class(xml, path, file, *rates));
        xml.create_element("classes").write_inner_content(classes).map(|_| ())
    })?;
    Ok(())
}

fn class<W: Write>(xml: &mut Writer<W>, path: &str, file: &CoveredFile<'_>, rates: Rates) -> io::Result<()> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let element = rated(xml, "class", &[("name", name), ("filename", path)], rates);
    element.write_inner_content(|xml| {
        xml.create_element("methods").write_inner_content(|xml| {
            for function in &file.functions {
                let hit = Rate { hit: u64::from(function.count > 0), all: 1 };
                let rates = Rates { lines: hit, branches: Rate::default() };
                let method = rated(xml, "method", &[("name", &*demangle(&function.symbol)), ("signature", "")], rates);
                method.write_inner_content(|xml| {
                    let of_method = |xml: &mut Writer<W>| line(xml, function.line, function.count, None);
                    xml.create_element("lines").write_inner_content(of_method).map(|_| ())
                })?;
            }
            Ok(())
        })?;
        xml.create_element("lines").write_inner_content(|xml| {
            let mut branches = file.branches.iter().peekable();
            for (number, count) in &file.lines {
                while branches.next_if(|branches| branches.line < *number).is_some() {}
                line(xml, *number, *count, branches.next_if(|branches| branches.line == *number))?;
            }
            Ok(())
        })?;
        Ok(())
    })?;
    Ok(())
}

fn line<W: Write>(xml: &mut Writer<W>, number: u32, count: u128, branches: Option<&CoveredBranches>) -> io::Result<()> {
    let (number, count) = (number.to_string(), count.to_string());
    let element = xml.create_element("line").with_attributes([("number", &*number), ("hits", &*count)]);
    let Some(branches) = branches else {
        element.with_attribute(("branch", "false")).write_empty()?;
        return Ok(());
    };
    let all = ways(branches);
    let condition_coverage = format!("{} ({}/{})", all.percent(), all.hit, all.all);
    let element = element.with_attributes([("branch", "true"), ("condition-coverage", &*condition_coverage)]);
    element.write_inner_content(|xml| {
        xml.create_element("conditions").write_inner_content(|xml| {
            for (position, counts) in branches.ways.iter().enumerate() {
                let hit = Rate { hit: counts.iter().filter(|count| **count > 0).count() as u64, all: counts.len() as u64 };
                let kind = if counts.len() > 2 { "switch" } else { "jump" };
                let (position, coverage) = (position.to_string(), hit.percent());
                let condition = xml.create_element("condition");
                condition.with_attributes([("number", &*position), ("type", kind), ("coverage", &*coverage)]).write_empty()?;
            }
            Ok(())
        })?;
        Ok(())
    })?;
    Ok(())
}

/// An element with names, rates and complexity, as packages, classes and methods have them.
fn rated<'x, W: Write>(
    xml: &'x mut Writer<W>,
    element: &'static str,
    names: &[(&str, &str)],
    rates: Rates,
) -> quick_xml::writer::ElementWriter<'x, W> {
    let mut element = xml.create_element(element);
    for (key, value) in names {
        element = element.with_attribute((*key, &*plain(value)));
    }
    let (lines, branches) = (rates.lines.text(), rates.branches.text());
    element.with_attributes([("line-rate", &*lines), ("branch-rate", &*branches), ("complexity", "0")])
}

/// XML has no control characters.
fn plain(text: &str) -> std::borrow::Cow<'_, str> {
    crate::names::one_line(text)
}
