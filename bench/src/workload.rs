//! What is run: programs that are not ours, each with an amount of work to count instructions by and one to take times by.

use bbprof_tests::{CProgram, lua, sqlite, zstd};

/// A program with its work.
pub(crate) struct Workload {
    /// The program; its arguments are replaced by those below.
    pub(crate) program: CProgram,
    /// Arguments under valgrind, which runs some 50 times slower: enough for the program itself to outweigh starting and ending.
    pub(crate) counted: Vec<String>,
    /// Arguments when time is taken: about a second, so that the clock's grain and the scheduler matter little.
    pub(crate) timed: Vec<String>,
}

impl Workload {
    /// The workloads, those of `--quick` first.
    pub(crate) fn all(quick: bool) -> Vec<Self> {
        let script = lua().arguments[0].clone();
        let mut all =
            vec![Self::new(lua(), &[&script, "0", "10"], &[&script, "0", "300"]), Self::new(sqlite(), &["20000"], &["400000"])];
        if !quick {
            all.push(Self::new(zstd(), &["300000"], &["1500000"]));
        }
        all
    }

    fn new(program: CProgram, counted: &[&str], timed: &[&str]) -> Self {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Self { program, counted: owned(counted), timed: owned(timed) }
    }
}
