//! Markers in comments of the source that take lines out of coverage: `LCOV_EXCL_LINE`, `LCOV_EXCL_START` to
//! `LCOV_EXCL_STOP` (the markers' lines included), and `LCOV_EXCL_BR_LINE`, `LCOV_EXCL_BR_START`,
//! `LCOV_EXCL_BR_STOP` for branches alone. `GCOV_` and `GCOVR_` serve as well as `LCOV_`. A function whose first
//! line is taken out is not listed. A start without stop holds to the end.

use bbprof_profile::{BranchKey, LineTable, Profile};
use std::collections::BTreeSet;
use std::io;

/// Gives the text of a source file.
pub type SourceReader<'r> = &'r dyn Fn(&str) -> io::Result<String>;

/// The lines of one source file that markers take out.
#[derive(Debug, Default)]
struct Exclusions {
    lines: BTreeSet<u32>,
    branches: BTreeSet<u32>,
}

impl Exclusions {
    fn of(source: &str) -> Self {
        let mut exclusions = Self::default();
        let (mut in_lines, mut in_branches) = (false, false);
        for (number, line) in (1..).zip(source.lines()) {
            let mut said = BTreeSet::new();
            for prefix in ["LCOV_EXCL_", "GCOV_EXCL_", "GCOVR_EXCL_"] {
                for (at, _) in line.match_indices(prefix) {
                    let word = line[at + prefix.len()..].split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
                    said.extend(word);
                }
            }
            in_lines |= said.contains("START");
            in_branches |= said.contains("BR_START");
            if in_lines || said.contains("LINE") || said.contains("STOP") {
                exclusions.lines.insert(number);
            }
            if in_branches || said.contains("BR_LINE") || said.contains("BR_STOP") {
                exclusions.branches.insert(number);
            }
            in_lines &= !said.contains("STOP");
            in_branches &= !said.contains("BR_STOP");
        }
        exclusions
    }
}

/// Takes out of `table` what markers in the sources say; `read` gives the text of a file.
/// A file that cannot be read has no markers.
pub(crate) fn exclude(profile: &Profile, table: &mut LineTable, read: SourceReader<'_>) {
    for (file, source) in &mut table.files {
        let Ok(text) = read(profile.files.path(*file)) else { continue };
        if !text.contains("COV_EXCL_") && !text.contains("GCOVR_EXCL_") {
            continue;
        }
        let exclusions = Exclusions::of(&text);
        source.lines.retain(|line, _| !exclusions.lines.contains(line));
        source.functions.retain(|(line, _), _| !exclusions.lines.contains(line));
        let is_out = |key: &BranchKey| exclusions.lines.contains(&key.line) || exclusions.branches.contains(&key.line);
        source.branches.retain(|key, _| !is_out(key));
    }
}

#[cfg(test)]
mod tests {
    use super::Exclusions;

    #[test]
    fn markers() {
        let source = "a\nb // LCOV_EXCL_LINE\nc\n// GCOV_EXCL_START\nd\n// GCOV_EXCL_STOP\ne /* LCOV_EXCL_BR_LINE */\n\
                      LCOV_EXCL_LINES\nGCOVR_EXCL_BR_START\nf\nGCOVR_EXCL_BR_STOP\ng\nLCOV_EXCL_START x\nh";
        let exclusions = Exclusions::of(source);
        assert_eq!(exclusions.lines.into_iter().collect::<Vec<_>>(), [2, 4, 5, 6, 13, 14]);
        assert_eq!(exclusions.branches.into_iter().collect::<Vec<_>>(), [7, 9, 10, 11]);
    }
}
