//! A workshop for link tests: makes instrumented objects as the plugin does (LLVM IR with a manifest, through clang), links
//! them through the shim, runs the result and reads its raw profile.

pub(crate) mod module;
pub(crate) mod profile;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// The linkers every kind of link is tried with: the name they are called by, and where the shim finds them.
pub(crate) const LINKERS: [(&str, &str); 4] = [("bfd", "ld.bfd"), ("gold", "ld.gold"), ("lld", "ld.lld-22"), ("mold", "mold")];

/// The clang that makes the tests' objects.
pub(crate) const CLANG: &str = "clang-22";

/// A temporary folder with the shim in it.
pub(crate) struct Workshop {
    folder: TempDir,
}

/// Fails with everything the command said.
pub(crate) fn successful(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

impl Workshop {
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("bbprof-test-").tempdir().unwrap();
        let workshop = Self { folder };
        for (name, linker) in LINKERS {
            workshop.shim(&format!("shim-{name}"), linker);
        }
        workshop
    }

    /// A folder with the shim as `ld` and `cc`, before this linker.
    pub(crate) fn shim(&self, folder: &str, linker: &str) -> PathBuf {
        let folder = self.path(folder);
        fs::create_dir(&folder).unwrap();
        for name in ["ld", "cc"] {
            symlink(env!("CARGO_BIN_EXE_bbprof-shim-linker"), folder.join(name)).unwrap();
        }
        fs::write(folder.join("real-ld"), format!("{linker}\n")).unwrap();
        fs::write(folder.join("real-cc"), "gcc\n").unwrap();
        folder
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A command that runs in the folder, with no trace of it elsewhere.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.path()).env("XDG_CACHE_HOME", self.path("cache")).env("TMPDIR", self.temporary());
        for variable in ["BBPROF_REAL_LD", "BBPROF_REAL_CC", "BBPROF_SAVE_LINK", "BBPROF_SHIM_DEPTH", "BBPROF_OUT", "LIBRARY_PATH"]
        {
            command.env_remove(variable);
        }
        command
    }

    /// The folder for temporary files, to see that none stays.
    pub(crate) fn temporary(&self) -> PathBuf {
        let folder = self.path("tmp");
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// `clang --ld-path=` the shim, arguments separated by white space.
    pub(crate) fn clang(&self, linker: &str, arguments: &str) -> Command {
        let mut command = self.command(CLANG);
        command.arg(format!("--ld-path={}", self.path(format!("shim-{linker}/ld")).display()));
        command.args(arguments.split_whitespace());
        command
    }

    /// Compiles C that is not instrumented.
    pub(crate) fn plain(&self, object: &str, source: &str) {
        let file = self.path(format!("{object}.c"));
        fs::write(&file, source).unwrap();
        successful(self.command("gcc").args(["-O1", "-fPIC", "-c", "-o", object]).arg(&file));
    }

    pub(crate) fn run(&self, command: &str) -> Output {
        let mut words = command.split_whitespace();
        let program = words.next().unwrap();
        let program = if program.contains('/') { self.path(program) } else { program.into() };
        successful(self.command(program).args(words))
    }
}
