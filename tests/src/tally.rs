//! The first oracle: a program's own tallies, lines `tally NAME COUNT` on its standard error, against the entries of its profile.

use crate::exported::Exported;

/// Compares every tally with the profile.
///
/// # Panics
/// When a count differs, or there is no tally at all.
pub(crate) fn compare_tallies(stderr: &str, exported: &Exported, what: &str) {
    let mut compared = 0;
    for line in stderr.lines().filter_map(|line| line.strip_prefix("tally ")) {
        let (name, count) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{what}: malformed tally {line:?}"));
        let expected: u64 = count.parse().unwrap_or_else(|e| panic!("{what}: tally {line:?}: {e}"));
        // A function that was inlined everywhere and dropped has no code of its own; noinline functions are always there.
        let found = exported.entries(name).unwrap_or_else(|| panic!("{what}: {name} is not in the profile"));
        assert_eq!(found, expected, "{what}: entries of {name}");
        compared += 1;
    }
    assert!(compared > 0, "{what}: the program printed no tally");
}
