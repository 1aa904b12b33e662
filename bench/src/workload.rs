//! What is run: programs that are not ours, and kernels, each with an amount of work to count instructions by and one to take
//! times by.

use crate::measure::Runs;
use crate::python;
use anyhow::Result;
use bbprof_tests::{CProgram, ada, lua, sqlite, zstd};
use std::path::{Path, PathBuf};

/// A program with its work.
pub(crate) struct Workload {
    /// Its name in the tables.
    pub(crate) name: String,
    /// Which geometric mean it belongs to.
    pub(crate) group: Group,
    /// The program.
    pub(crate) source: Source,
    /// Arguments of each run under valgrind, which is some 50 times slower: enough for the program itself to outweigh starting and
    /// ending.
    pub(crate) counted: Vec<Vec<String>>,
    /// Arguments of each run when time is taken: about a second, so that the clock's grain and the scheduler matter little.
    pub(crate) timed: Vec<Vec<String>>,
    /// Runs of all that is built together with the program, for a build that knows their
    /// profiles; the program's own binary where none is named.
    pub(crate) training: Vec<(Option<&'static str>, Vec<String>)>,
    /// What the runs find in their environment.
    pub(crate) environment: Vec<(&'static str, String)>,
    /// What each run ends with.
    pub(crate) exit_code: i32,
}

/// What a program is made from.
pub(crate) enum Source {
    /// Files for a C or C++ compiler.
    Files(CProgram),
    /// A binary of a cargo package in this folder.
    Package { folder: PathBuf, binary: &'static str },
    /// The interpreter CPython, with all that it is made of and needs in this folder.
    Python { folder: PathBuf },
}

/// Workloads that are averaged together: a kernel is too small for its text or its compile time to mean anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// C and C++ programs.
    C,
    /// Rust programs.
    Rust,
    /// What CPython does.
    Python,
    /// Tight loops.
    Kernel,
}

impl Group {
    /// All of them, in the order of the tables.
    pub(crate) const ALL: [Self; 4] = [Self::C, Self::Rust, Self::Python, Self::Kernel];

    /// What its geometric mean is called.
    pub(crate) const fn mean(self) -> &'static str {
        match self {
            Self::C => "mean of C, C++",
            Self::Rust => "mean of Rust",
            Self::Python => "mean of CPython",
            Self::Kernel => "mean of kernels",
        }
    }
}

/// Each kernel with its amounts.
const KERNELS: [(&str, &str, &str); 11] = [
    ("sum", "10000", "2000000"),
    ("hash", "4000", "300000"),
    ("scan", "2000", "120000"),
    ("classify", "3000", "120000"),
    ("sieve", "3000", "150000"),
    ("matrix", "1500", "150000"),
    ("collatz", "8000", "400000"),
    ("search", "4000", "300000"),
    ("calls", "2000", "150000"),
    ("sort", "300", "25000"),
    ("list", "4000", "300000"),
];

/// Each Rust program with its amounts.
const RUST: [(&str, &str, &str); 5] = [
    ("matches", "10", "900"),
    ("json", "60", "6000"),
    ("deflate", "9", "600"),
    ("markdown", "80", "9000"),
    ("parallel", "20", "1500"),
];

impl Workload {
    /// The workloads; `quick` is a sample of each group, without CPython, which takes minutes to build in each way. What they are
    /// made of is kept in the folder.
    pub(crate) fn all(quick: bool, kept: &Path) -> Result<Vec<Self>> {
        let mut all = vec![Self::lua(), Self::files(sqlite(), &["20000"], &["400000"])];
        if !quick {
            all.push(Self::files(zstd(), &["300000"], &["1500000"]));
            all.push(Self::files(ada(), &["300"], &["10000"]));
        }
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
        let rust = |&(binary, counted, timed): &(&'static str, &str, &str)| Self {
            name: binary.to_owned(),
            group: Group::Rust,
            source: Source::Package { folder: folder.join("rust"), binary },
            counted: vec![vec![counted.to_owned()]],
            timed: vec![vec![timed.to_owned()]],
            training: RUST.iter().map(|&(binary, counted, _)| (Some(binary), vec![counted.to_owned()])).collect(),
            environment: Vec::new(),
            exit_code: 0,
        };
        let kernel = |&(name, counted, timed): &(&str, &str, &str)| Self {
            name: name.to_owned(),
            group: Group::Kernel,
            source: Source::Files(kernels(&folder)),
            counted: vec![vec![name.to_owned(), counted.to_owned()]],
            timed: vec![vec![name.to_owned(), timed.to_owned()]],
            training: vec![(None, vec![name.to_owned(), counted.to_owned()])],
            environment: Vec::new(),
            exit_code: 0,
        };
        all.extend(RUST.iter().take(if quick { 2 } else { RUST.len() }).map(rust));
        all.extend(KERNELS.iter().take(if quick { 4 } else { KERNELS.len() }).map(kernel));
        if !quick {
            all.extend(python::workloads(kept)?);
        }
        Ok(all)
    }

    /// What an executable made from it does with these arguments in this place.
    pub(crate) fn runs<'a>(&'a self, executable: &'a Path, arguments: &'a [Vec<String>], place: &'a Path) -> Runs<'a> {
        Runs { executable, arguments, environment: &self.environment, place, exit_code: self.exit_code }
    }

    fn lua() -> Self {
        let script = lua().arguments[0].clone();
        // Its first argument is what it ends with.
        let program = CProgram { exit_code: 0, ..lua() };
        Self::files(program, &[&script, "0", "10"], &[&script, "0", "300"])
    }

    fn files(program: CProgram, counted: &[&str], timed: &[&str]) -> Self {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Self {
            name: program.name.to_owned(),
            group: Group::C,
            exit_code: program.exit_code,
            source: Source::Files(program),
            counted: vec![owned(counted)],
            timed: vec![owned(timed)],
            training: vec![(None, owned(counted))],
            environment: Vec::new(),
        }
    }
}

fn kernels(folder: &Path) -> CProgram {
    CProgram {
        name: "kernels",
        sources: vec![folder.join("kernels/kernels.c")],
        options: Vec::new(),
        libraries: Vec::new(),
        arguments: Vec::new(),
        exit_code: 0,
    }
}
