//! A folder with a build map and raw profiles of it, and `bbprof` called in it.

use crate::support::*;
use bbprof_format::raw::{Fate, ImageCounts, ProcessInfo, RawProfile, State};
use bbprof_profile::{CounterMode, Linkage};
use std::path::PathBuf;
use std::process::Command;

pub(crate) struct Folder {
    pub(crate) dir: tempfile::TempDir,
    maker: ModuleMaker,
    run: Run,
}

pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Folder {
    /// `app.bbmap` of a program `app` with the functions `f` and `g` of [`crate::support`]; no profile yet.
    pub(crate) fn new() -> Self {
        Self::of_source("a.c")
    }

    /// The same program, compiled from another source file: another build.
    pub(crate) fn of_source(source: &str) -> Self {
        let mut maker = ModuleMaker::new(source, CounterMode::Check);
        loop_with_branch(&mut maker, "f", Linkage::External);
        leaf(&mut maker, "g", Linkage::External);
        let run = Run::new(&[(&maker, None)]);
        let folder = Self { dir: tempfile::tempdir().expect("a folder"), maker, run };
        std::fs::write(folder.path("app.bbmap"), folder.run.map.encode()).expect("written");
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A raw profile of a process that turned `turns` times in the loop of `f`.
    pub(crate) fn raw(&self, pid: u32, turns: u64) -> RawProfile {
        let mut run = Run { map: self.run.map.clone(), counters: self.run.counters.clone(), processes: vec![] };
        run.walk(&self.maker, 0, &ENTER, 1);
        run.walk(&self.maker, 0, &THEN, turns);
        run.walk(&self.maker, 0, &LEAVE, 1);
        run.walk(&self.maker, 1, &[0, 1], turns);
        RawProfile {
            process: ProcessInfo { pid, executable: self.path("app").into_os_string().into_encoded_bytes(), ..Default::default() },
            state: State::Complete,
            ending: Fate::Exit { status: Some(0) }.into(),
            threads: 1,
            pooled: vec![],
            images: vec![ImageCounts {
                build_id: run.counters.build_id,
                layout: run.counters.layout,
                flags: 0,
                path: self.path("app").into_os_string().into_encoded_bytes(),
                presence: vec![],
                tls_counters: run.counters.tls,
                global_counters: vec![],
                hashed_paths: run.counters.hashed_paths,
                segments: 1,
            }],
        }
    }

    pub(crate) fn write(&self, name: &str, raw: &RawProfile) {
        std::fs::write(self.path(name), raw.encode()).expect("written");
    }

    /// `bbprof WORDS` in this folder.
    pub(crate) fn bbprof(&self, words: &[&str]) -> Said {
        let output = self.command(words).output().expect("bbprof runs");
        Said {
            code: output.status.code().expect("bbprof ends by itself"),
            out: String::from_utf8(output.stdout).expect("text"),
            err: String::from_utf8(output.stderr).expect("text"),
        }
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bbprof"));
        command.args(words).current_dir(self.dir.path()).env("XDG_CACHE_HOME", self.path("cache"));
        command.env_remove("BBPROF_MAPS").env_remove("CARGO_TARGET_DIR").env_remove("COLUMNS");
        command
    }
}
