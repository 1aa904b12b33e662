//! Line counts as gcov and lcov write them.

use std::collections::BTreeMap;
use std::path::Path;

/// Executions by line.
pub type LineCounts = BTreeMap<u32, u64>;

/// The lines of what `gcov -t` prints of one source file: lines without code are left out.
///
/// # Panics
/// When a line is not as gcov writes it.
#[must_use]
pub fn gcov_lines(text: &str) -> LineCounts {
    let mut lines = LineCounts::new();
    for line in text.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(count), Some(number)) = (parts.next(), parts.next()) else { continue };
        let Ok(number) = number.trim().parse::<u32>() else { continue };
        let count = count.trim().trim_end_matches('*');
        if number == 0 || count == "-" {
            continue;
        }
        let count = if count == "#####" || count == "=====" { 0 } else { count.parse().unwrap_or_else(|e| panic!("{line}: {e}")) };
        lines.insert(number, count);
    }
    lines
}

/// One source file of an lcov trace file.
#[derive(Debug, Default)]
pub struct TracedFile {
    /// `DA`.
    pub lines: LineCounts,
    /// `FN` and `FNDA`: line and count by name.
    pub functions: BTreeMap<String, (u32, u64)>,
}

/// The files of an lcov trace file, by path.
///
/// # Panics
/// When a record is malformed, or a line is named twice.
#[must_use]
pub fn traced_files(text: &str) -> BTreeMap<String, TracedFile> {
    let mut files: BTreeMap<String, TracedFile> = BTreeMap::new();
    let mut path = String::new();
    let number = |text: &str| text.parse::<u64>().unwrap_or_else(|e| panic!("{text:?} in an lcov file: {e}"));
    for line in text.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        if key == "SF" {
            path = value.to_owned();
        }
        let file = files.entry(path.clone()).or_default();
        let fields: Vec<&str> = value.split(',').collect();
        match (key, &fields[..]) {
            ("DA", [line, count]) => {
                let before = file.lines.insert(number(line) as u32, number(count));
                assert!(before.is_none(), "{path}: line {line} twice");
            }
            ("FN", [line, name]) => {
                file.functions.insert((*name).to_owned(), (number(line) as u32, 0));
            }
            ("FNDA", [count, name]) => file.functions.get_mut(*name).expect("FN comes before FNDA").1 = number(count),
            _ => {}
        }
    }
    files.remove("");
    files
}

/// Where two counts of the same lines differ, in words.
#[must_use]
pub fn differences(source: &Path, expected: &LineCounts, found: &LineCounts) -> Vec<String> {
    let text = std::fs::read_to_string(source).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let numbers: std::collections::BTreeSet<u32> = expected.keys().chain(found.keys()).copied().collect();
    let mut differences = Vec::new();
    for number in numbers {
        let (expected, found) = (expected.get(&number), found.get(&number));
        if expected == found {
            continue;
        }
        let words = lines.get(number as usize - 1).unwrap_or(&"");
        differences.push(format!("{}:{number}: expected {expected:?}, found {found:?}: {words}", source.display()));
    }
    differences
}
