//! C and C++ programs that are not ours: Lua, SQLite, zstd and ada, from the sources that
//! crates carry, each with a small host program.

use crate::command::Run;
use crate::profiled_run::ProfiledRun;
use crate::tools::{Sandbox, tool};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A program in C or C++ to compile.
#[derive(Debug, Clone)]
pub struct CProgram {
    /// Its name.
    pub name: &'static str,
    /// Its source files.
    pub sources: Vec<PathBuf>,
    /// Options of the compiler other than the optimisation level.
    pub options: Vec<String>,
    /// Libraries to link.
    pub libraries: Vec<&'static str>,
    /// Arguments of a run that does real work.
    pub arguments: Vec<String>,
    /// Its exit code in that run.
    pub exit_code: i32,
}

impl CProgram {
    /// Compiles it with these options to `binary`, whose folder is made where it is missing; gives `binary`.
    ///
    /// # Panics
    /// When it does not compile.
    #[must_use]
    pub fn build(&self, compiler: impl AsRef<OsStr>, options: &[&str], binary: PathBuf) -> PathBuf {
        let folder = binary.parent().expect("a binary stands in a folder");
        std::fs::create_dir_all(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        let compile = Run::new(compiler).args(options).args(&self.options).arg("-o").arg(&binary);
        compile.args(&self.sources).args(&self.libraries).in_folder(folder).ok();
        binary
    }

    /// Compiles it with `bbprof-cc`.
    ///
    /// # Panics
    /// When it does not compile.
    #[must_use]
    pub fn build_profiled(&self, options: &[&str], binary: PathBuf) -> PathBuf {
        self.build(tool("bbprof-cc"), options, binary)
    }

    /// Runs it and gives the raw profile.
    ///
    /// # Panics
    /// When it ends with another exit code, or writes none or several.
    #[must_use]
    pub fn profile(&self, binary: &Path, sandbox: &Sandbox) -> PathBuf {
        let run = ProfiledRun::by(Run::new(binary).args(&self.arguments), sandbox);
        let _ = run.outcome.expect_code(self.exit_code);
        run.raw
    }
}

/// The folder of a package that `tests/programs/sources` names.
///
/// # Panics
/// When cargo cannot find it.
#[must_use]
pub fn package_source(name: &str) -> PathBuf {
    static METADATA: OnceLock<cargo_metadata::Metadata> = OnceLock::new();
    let metadata = METADATA.get_or_init(|| {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/sources/Cargo.toml");
        cargo_metadata::MetadataCommand::new().manifest_path(manifest).exec().expect("cargo metadata of tests/programs/sources")
    });
    let package = metadata.packages.iter().find(|package| package.name.as_str() == name);
    let manifest = &package.unwrap_or_else(|| panic!("tests/programs/sources does not name {name}")).manifest_path;
    manifest.parent().expect("a manifest stands in a folder").as_std_path().to_owned()
}

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs").join(path)
}

fn c_files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .map(|entry| entry.expect("a folder entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    files.sort();
    files
}

fn text(path: &Path) -> String {
    path.to_str().expect("paths of the tests are UTF-8").to_owned()
}

/// The greatest common divisor of 72 and 32, with lines.
#[must_use]
pub fn gcd() -> CProgram {
    CProgram {
        name: "gcd",
        sources: vec![here("gcd/gcd.c")],
        options: vec!["-g".to_owned()],
        libraries: vec![],
        arguments: vec![],
        exit_code: 8,
    }
}

/// Lua 5.4 runs a script and leaves by `os.exit` in the middle of it.
#[must_use]
pub fn lua() -> CProgram {
    let folder = package_source("lua-src").join("lua-5.4.9");
    let mut sources = c_files(&folder);
    sources.push(here("lua/host.c"));
    CProgram {
        name: "lua",
        sources,
        options: vec![format!("-I{}", text(&folder)), "-DLUA_USE_POSIX".to_owned()],
        libraries: vec!["-lm"],
        arguments: vec![text(&here("lua/work.lua")), "3".to_owned()],
        exit_code: 3,
    }
}

/// Lua 5.4 runs a script that neither throws nor leaves early, and does the same at every run and in every build: no hash depends
/// on a seed or an address.
#[must_use]
pub fn calm_lua() -> CProgram {
    let mut program = lua();
    program.options.extend(["-Dluai_makeseed(L)=7u", "-DSTRCACHE_N=1", "-DSTRCACHE_M=2"].map(str::to_owned));
    CProgram { arguments: vec![text(&here("lua/calm.lua"))], exit_code: 0, ..program }
}

/// SQLite fills tables, joins, sorts, and rolls back.
#[must_use]
pub fn sqlite() -> CProgram {
    let folder = package_source("libsqlite3-sys").join("sqlite3");
    CProgram {
        name: "sqlite",
        sources: vec![folder.join("sqlite3.c"), here("sqlite/host.c")],
        options: vec![
            format!("-I{}", text(&folder)),
            "-DSQLITE_THREADSAFE=0".to_owned(),
            "-DSQLITE_OMIT_LOAD_EXTENSION".to_owned(),
        ],
        libraries: vec!["-lm"],
        arguments: vec!["4000".to_owned()],
        exit_code: 0,
    }
}

/// zstd compresses at several levels and decompresses again.
#[must_use]
pub fn zstd() -> CProgram {
    let folder = package_source("zstd-sys").join("zstd/lib");
    let mut sources: Vec<PathBuf> =
        ["common", "compress", "decompress"].iter().flat_map(|part| c_files(&folder.join(part))).collect();
    sources.push(here("zstd/host.c"));
    CProgram {
        name: "zstd",
        sources,
        options: vec![format!("-I{}", text(&folder)), "-DZSTD_DISABLE_ASM".to_owned()],
        libraries: vec![],
        arguments: vec!["300000".to_owned()],
        exit_code: 0,
    }
}

/// The C++20 address parser ada: templates, `std::string`, and exceptions out of the depths.
#[must_use]
pub fn ada() -> CProgram {
    let folder = package_source("ada-url").join("deps");
    CProgram {
        name: "ada",
        sources: vec![folder.join("ada.cpp"), here("urls/host.cpp")],
        options: vec!["-std=c++20".to_owned(), "-Wno-deprecated-declarations".to_owned(), format!("-I{}", text(&folder))],
        libraries: vec!["-lstdc++", "-lm"],
        arguments: vec!["100".to_owned()],
        exit_code: 0,
    }
}
