//! The package `tests/programs/parcel` (library, program, plugin; for make, CMake, meson and autotools), copied into a sandbox.

use crate::command::Run;
use crate::profiled_run::ProfiledRun;
use crate::tools::Sandbox;
use std::path::{Path, PathBuf};

/// A copy of the package.
#[derive(Debug)]
pub struct Parcel {
    /// The folder of the test; the package is in `src` below it.
    pub sandbox: Sandbox,
}

impl Parcel {
    /// A fresh copy.
    ///
    /// # Panics
    /// When the file system refuses.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let sandbox = Sandbox::new(name);
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/parcel");
        for entry in std::fs::read_dir(&from).expect("tests/programs/parcel") {
            let entry = entry.expect("a folder entry");
            let name = entry.file_name().into_string().expect("names of the package are UTF-8");
            sandbox.write(&format!("src/{name}"), std::fs::read(entry.path()).expect("a file of the package"));
        }
        Self { sandbox }
    }

    /// The package's folder.
    #[must_use]
    pub fn source(&self) -> PathBuf {
        self.sandbox.join("src")
    }

    /// A command in the package's folder.
    #[must_use]
    pub fn run(&self, program: impl AsRef<std::ffi::OsStr>) -> Run {
        Run::new(program).in_folder(&self.source())
    }

    /// What the program prints, profiled or not.
    #[must_use]
    pub fn expected_output(with_plugin: bool) -> &'static str {
        if with_plugin { "14568 1500\nplugin 11760\n" } else { "14568 1500\n" }
    }

    /// Runs a build of the program: output and exit code as the plain build's, exact, all tallies right, and exactly these
    /// images in its one profile.
    ///
    /// # Panics
    /// When anything differs.
    pub fn check(&self, program: &Path, plugin: Option<&Path>, images: &[&str]) -> ProfiledRun {
        let arguments: Vec<&str> = plugin.iter().map(|path| path.to_str().expect("a UTF-8 path")).collect();
        let run = ProfiledRun::of(program, &arguments, &self.sandbox);
        let outcome = run.outcome.clone().expect_code(if plugin.is_some() { 0 } else { 4 });
        assert_eq!(outcome.text(), Self::expected_output(plugin.is_some()), "{}", outcome.what);
        assert!(outcome.stderr.lines().all(|line| line.starts_with("tally ")), "{}", outcome.stderr);
        assert_eq!(run.images(), images, "{}: images of the profile", outcome.what);
        run.check();
        run
    }
}
