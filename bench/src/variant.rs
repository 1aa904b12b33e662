//! The ways to build a program: plain, ours, and the peers.

use crate::measure::{Cost, timed};
use crate::{text, tool};
use anyhow::{Context, Result};
use bbprof_tests::CProgram;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One way to build.
pub(crate) struct Variant {
    /// Its name in the tables.
    pub(crate) name: &'static str,
    /// What it needs besides clang, for the message when it cannot be built.
    pub(crate) requirement: &'static str,
    compiler: PathBuf,
    options: &'static [&'static str],
}

const LEVEL: &str = "-O2";

impl Variant {
    /// All of them; the plain build first.
    pub(crate) fn all(root: &Path) -> Vec<Self> {
        let ours = |name, options| Self { name, requirement: "", compiler: tool(root, "bbprof-cc"), options };
        let peer = |name, options| Self { name, requirement: "libclang-rt-22-dev", compiler: PathBuf::from("clang-22"), options };
        vec![
            peer("plain", &[]),
            ours("bbprof", &[]),
            ours("bbprof -fPIC", &["-fPIC"]),
            ours("bbprof shared", &["--bbprof-storage=shared"]),
            ours("bbprof atomic", &["--bbprof-storage=atomic"]),
            ours("bbprof patterns", &["--bbprof-counters=patterns"]),
            ours("bbprof blocks", &["--bbprof-counters=blocks"]),
            peer("clang IR PGO", &["-fprofile-generate"]),
            peer("clang IR PGO, no values", &["-fprofile-generate", "-mllvm", "-disable-vp"]),
            peer("clang front end", &["-fprofile-instr-generate"]),
            peer("clang gcov", &["--coverage"]),
        ]
    }

    /// Compiles each file.
    pub(crate) fn compile(&self, program: &CProgram, place: &Path) -> Result<(Vec<PathBuf>, Cost)> {
        std::fs::create_dir_all(place).with_context(|| place.display().to_string())?;
        let mut cost = Cost::default();
        let mut objects = Vec::new();
        for (position, source) in program.sources.iter().enumerate() {
            let object = place.join(format!("{position}.o"));
            let mut command = self.command(place);
            command.args([LEVEL, "-c", "-o"]).arg(&object).args(self.options).args(&program.options).arg(source);
            cost += timed(&mut command)?.expect_success()?;
            objects.push(object);
        }
        Ok((objects, cost))
    }

    /// Links. `None` when that fails for want of a peer's runtime.
    pub(crate) fn link(&self, program: &CProgram, objects: &[PathBuf], place: &Path) -> Result<Option<(PathBuf, Cost)>> {
        let executable = place.join(program.name);
        let mut command = self.command(place);
        command.arg("-o").arg(&executable).args(self.options).args(objects).args(&program.libraries);
        let link = timed(&mut command)?;
        if !link.succeeded && !self.requirement.is_empty() && self.name != "plain" {
            return Ok(None);
        }
        Ok(Some((executable, link.expect_success()?)))
    }

    fn command(&self, place: &Path) -> Command {
        let mut command = Command::new(&self.compiler);
        command.current_dir(place);
        // Where peers put their profiles.
        command.env("LLVM_PROFILE_FILE", text(place).unwrap_or(".").to_owned() + "/peer.profraw");
        command
    }
}
