//! Applications that are not ours, from crates.io, as cargo fetches them.

use crate::command::Run;
use crate::tools::Sandbox;
use std::path::{Path, PathBuf};

/// A package with a program.
#[derive(Debug, Clone, Copy)]
pub struct Application {
    /// The package's name.
    pub package: &'static str,
    /// Its version.
    pub version: &'static str,
    /// The program's name.
    pub program: &'static str,
}

impl Application {
    /// Unpacks it into a folder of the sandbox, with its own `Cargo.lock`.
    ///
    /// # Panics
    /// When cargo cannot fetch it.
    #[must_use]
    pub fn unpack(&self, sandbox: &Sandbox) -> PathBuf {
        let fetched = self.fetched().unwrap_or_else(|| {
            self.fetch(sandbox);
            self.fetched().unwrap_or_else(|| panic!("{} {} is not where cargo keeps sources", self.package, self.version))
        });
        let folder = sandbox.join(self.package);
        copy_folder(&fetched, &folder);
        assert!(folder.join("Cargo.lock").is_file(), "{} has no Cargo.lock", self.package);
        folder
    }

    /// Makes cargo fetch it, as a dependency of a package that is never built.
    fn fetch(&self, sandbox: &Sandbox) {
        sandbox.write(
            "fetch/Cargo.toml",
            format!(
                "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n{} = {{ \
                 version = \"={}\", default-features = false }}\n",
                self.package, self.version
            ),
        );
        sandbox.write("fetch/src/lib.rs", "");
        Run::new("cargo").arg("fetch").in_folder(&sandbox.join("fetch")).ok();
    }

    /// Its folder among the sources that cargo has fetched.
    fn fetched(&self) -> Option<PathBuf> {
        let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = home.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cargo")))?;
        let registries = std::fs::read_dir(home.join("registry/src")).ok()?;
        let name = format!("{}-{}", self.package, self.version);
        registries.flatten().map(|registry| registry.path().join(&name)).find(|folder| folder.join("Cargo.toml").is_file())
    }
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder in the sandbox");
    for entry in std::fs::read_dir(from).expect("a folder of sources") {
        let path = entry.expect("a folder entry").path();
        let copy = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy_folder(&path, &copy);
        } else {
            std::fs::copy(&path, &copy).expect("a file in the sandbox");
        }
    }
}
