//! One run of a profiled program: its output, its one raw profile with all its images, and that profile's verdict.

use crate::command::{Outcome, Run};
use crate::exported::Exported;
use crate::tally::compare_tallies;
use crate::tools::{Sandbox, tool};
use bbprof_format::raw::RawProfile;
use std::path::{Path, PathBuf};

/// A finished run.
#[derive(Debug)]
pub struct ProfiledRun {
    /// How the program ended.
    pub outcome: Outcome,
    /// Its raw profile.
    pub raw: PathBuf,
}

impl ProfiledRun {
    /// Runs a program that must write exactly one raw profile.
    ///
    /// # Panics
    /// When it writes none, or more.
    #[must_use]
    pub fn of(program: &Path, arguments: &[&str], sandbox: &Sandbox) -> Self {
        Self::by(Run::new(program).args(arguments), sandbox)
    }

    /// Runs this command, which must write exactly one raw profile.
    ///
    /// # Panics
    /// When it writes none, or more.
    #[must_use]
    pub fn by(run: Run, sandbox: &Sandbox) -> Self {
        let folder = tempfile::Builder::new().prefix("raw-").tempdir_in(sandbox.path()).expect("a folder in the sandbox").keep();
        let outcome = run.env("BBPROF_OUT", folder.join("%p.bbraw")).in_folder(sandbox.path()).outcome();
        let written = sandbox.raw_profiles(&folder);
        assert_eq!(written.len(), 1, "{}: raw profiles {written:?}\n{}", outcome.what, outcome.stderr);
        Self { outcome, raw: written[0].clone() }
    }

    /// The raw profile, read.
    ///
    /// # Panics
    /// When it is damaged.
    #[must_use]
    pub fn raw_profile(&self) -> RawProfile {
        RawProfile::read(&std::fs::read(&self.raw).expect("the raw profile"))
            .unwrap_or_else(|e| panic!("{}: {e}", self.raw.display()))
    }

    /// The file names of the images in the raw profile, sorted.
    #[must_use]
    pub fn images(&self) -> Vec<String> {
        let name =
            |path: &[u8]| Path::new(&*String::from_utf8_lossy(path)).file_name().map(|name| name.to_string_lossy().into_owned());
        let mut names: Vec<String> = self.raw_profile().images.iter().map(|image| name(&image.path).unwrap_or_default()).collect();
        names.sort();
        names
    }

    /// `bbprof verify` says that it is exact, and every tally agrees.
    ///
    /// # Panics
    /// When not.
    pub fn check(&self) {
        Run::new(tool("bbprof")).arg("verify").arg(&self.raw).ok();
        let exported = Exported::of(std::slice::from_ref(&self.raw));
        assert!(exported.is_exact(), "{}: the export does not say exact", self.outcome.what);
        compare_tallies(&self.outcome.stderr, &exported, &self.outcome.what);
    }
}
