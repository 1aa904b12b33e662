//! A case: a folder of C or C++ files under `tests/cases`, whose first file says in directives what is expected of it.
//!
//! ```c
//! //@ exit: 3              exit code (default 0)
//! //@ args: a b            arguments
//! //@ options: -pthread    options of the compiler and of the link
//! //@ levels: -O0 -O2      instead of all levels
//! ```
//!
//! The program counts for itself: a line `tally NAME COUNT` on its standard error says how often the function NAME was entered.
//! That is the first oracle. The second is check mode: a counter on every edge in the same pass, compared by `bbprof verify`.

use crate::LEVELS;
use crate::command::{Outcome, Run};
use crate::exported::Exported;
use crate::tally::compare_tallies;
use crate::tools::{Sandbox, tool};
use std::path::{Path, PathBuf};

/// The language of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Compiled by `bbprof-cc`.
    C,
    /// Compiled by `bbprof-c++`.
    Cpp,
}

/// A case.
#[derive(Debug, Clone)]
pub struct Case {
    name: String,
    language: Language,
    sources: Vec<PathBuf>,
    exit_code: i32,
    arguments: Vec<String>,
    options: Vec<String>,
    levels: Vec<String>,
}

impl Case {
    /// Reads the case of this name.
    ///
    /// # Panics
    /// When its folder or a directive is not as it should be.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases").join(name);
        let mut sources: Vec<PathBuf> = std::fs::read_dir(&folder)
            .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
            .map(|entry| entry.expect("a folder entry").path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "c" || extension == "cpp"))
            .collect();
        sources.sort();
        let is_cpp = sources.iter().any(|path| path.extension().is_some_and(|extension| extension == "cpp"));
        let mut case = Self {
            name: name.to_owned(),
            language: if is_cpp { Language::Cpp } else { Language::C },
            sources,
            exit_code: 0,
            arguments: Vec::new(),
            options: Vec::new(),
            levels: LEVELS.map(str::to_owned).to_vec(),
        };
        for source in &case.sources.clone() {
            let text = std::fs::read_to_string(source).expect("a source of the case");
            for directive in text.lines().filter_map(|line| line.strip_prefix("//@ ")) {
                let (key, value) =
                    directive.split_once(':').unwrap_or_else(|| panic!("{name}: directive {directive:?} has no colon"));
                let words = || value.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
                match key {
                    "exit" => case.exit_code = value.trim().parse().expect("an exit code"),
                    "args" => case.arguments = words(),
                    "options" => case.options = words(),
                    "levels" => case.levels = words(),
                    _ => panic!("{name}: unknown directive {key:?}"),
                }
            }
        }
        case
    }

    /// Compiles and runs the case at each of its levels, plain and profiled, and compares with every oracle. `extra` goes to
    /// `bbprof-cc` as well.
    ///
    /// # Panics
    /// When anything differs.
    pub fn check(&self, extra: &[&str]) {
        for level in &self.levels {
            let sandbox = Sandbox::new(&self.name);
            let clang = if self.language == Language::Cpp { "clang++-22" } else { "clang-22" };
            let plain = self.compile(&sandbox, clang.as_ref(), "plain", level, &[]);
            let driver = if self.language == Language::Cpp { "bbprof-c++" } else { "bbprof-cc" };
            let mut options = vec!["--bbprof-counters=check"];
            options.extend(extra);
            let profiled = self.compile(&sandbox, &tool(driver), "profiled", level, &options);

            let expected = self.run(&plain, &sandbox);
            let found = self.run(&profiled, &sandbox);
            assert_eq!(found.text(), expected.text(), "{} {level}: the output changed", self.name);

            let profiles = sandbox.raw_profiles("raw");
            Run::new(tool("bbprof")).arg("verify").args(&profiles).ok();
            compare_tallies(&found.stderr, &Exported::of(&profiles), &format!("{} {level}", self.name));
        }
    }

    fn compile(&self, sandbox: &Sandbox, compiler: &Path, output: &str, level: &str, extra: &[&str]) -> PathBuf {
        let program = sandbox.join(output);
        Run::new(compiler)
            .args([level, "-o"])
            .arg(&program)
            .args(extra)
            .args(&self.sources)
            .args(&self.options)
            .in_folder(sandbox.path())
            .ok();
        program
    }

    fn run(&self, program: &Path, sandbox: &Sandbox) -> Outcome {
        std::fs::create_dir_all(sandbox.join("raw")).expect("a folder in the sandbox");
        let outcome = Run::new(program)
            .args(&self.arguments)
            .env("BBPROF_OUT", sandbox.join("raw/%e-%p.bbraw"))
            .in_folder(sandbox.path())
            .outcome();
        outcome.expect_code(self.exit_code)
    }
}
