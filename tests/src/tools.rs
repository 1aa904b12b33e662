//! Where the installed tools are, and a folder of its own for each test.

use std::path::{Path, PathBuf};

/// The path of an installed tool: `bbprof`, `cargo-bbprof`, `bbprof-cc`, `bbprof-c++`.
///
/// # Panics
/// When `BBPROF_ROOT` is not set or lacks the tool: the tests test an installation, so there has to be one.
#[must_use]
pub fn tool(name: &str) -> PathBuf {
    let root = std::env::var_os("BBPROF_ROOT").expect("BBPROF_ROOT names the installation to test; run `cargo xtask test`");
    let path = Path::new(&root).join("bin").join(name);
    assert!(path.is_file(), "{} is missing; run `cargo xtask test`", path.display());
    path
}

/// A temporary folder, removed at the end of the test unless `BBPROF_KEEP` is set.
#[derive(Debug)]
pub struct Sandbox {
    folder: PathBuf,
    guard: Option<tempfile::TempDir>,
}

impl Sandbox {
    /// A new empty folder.
    ///
    /// # Panics
    /// When the file system refuses.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let made = tempfile::Builder::new().prefix(&format!("bbprof-{name}-")).tempdir().expect("a temporary folder");
        let folder = made.path().canonicalize().expect("the folder just made");
        let keep = std::env::var_os("BBPROF_KEEP").is_some();
        let guard = if keep {
            eprintln!("{name}: kept {}", made.keep().display());
            None
        } else {
            Some(made)
        };
        Self { folder, guard }
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        debug_assert!(self.guard.is_some() || self.folder.is_dir());
        &self.folder
    }

    /// A path in it.
    #[must_use]
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.join(name)
    }

    /// Writes a file in it, with its folders.
    ///
    /// # Panics
    /// When the file system refuses.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.join(name);
        std::fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder in the sandbox");
        std::fs::write(&path, text).expect("a file in the sandbox");
        path
    }

    /// The raw profiles in a folder of it, sorted.
    ///
    /// # Panics
    /// When the folder cannot be read.
    #[must_use]
    pub fn raw_profiles(&self, folder: impl AsRef<Path>) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = std::fs::read_dir(self.join(folder))
            .expect("a folder in the sandbox")
            .map(|entry| entry.expect("a folder entry").path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "bbraw"))
            .collect();
        found.sort();
        found
    }
}
