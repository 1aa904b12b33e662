//! Profiles of what build scripts run while cargo builds: C programs that they compile, or that `configure` or CMake try out. They
//! are no part of the run, which has them only where something was to be built.

use anyhow::{Context, Result};
use bbprof_format::raw::{ProcessInfo, RawProfile};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Takes them out of a run's raw profiles; `ours` is our folder of the target directory.
/// One that cannot be read is told of by who reads it.
pub(super) fn take_out(profiles: &mut Vec<PathBuf>, ours: &Path) -> Result<Vec<PathBuf>> {
    let ours = ours.canonicalize().with_context(|| ours.display().to_string())?;
    let read = |path: &PathBuf| Some(RawProfile::read(&std::fs::read(path).ok()?).ok()?.process);
    let processes: Vec<Option<ProcessInfo>> = profiles.iter().map(read).collect();
    let run_begun_ns = run_begun_ns(processes.iter().flatten(), &ours);
    let is_of_build = |process: &ProcessInfo| {
        let executable = executable(process);
        is_in_out_dir(&executable, &ours) && (!executable.exists() || run_begun_ns.is_some_and(|run| process.begun_ns < run))
    };
    let mut of_build = processes.iter().map(|process| process.as_ref().is_some_and(is_of_build));
    Ok(profiles.extract_if(.., |_| of_build.next().unwrap_or(false)).collect())
}

/// When the first program began that no build script made: cargo has built everything by then.
fn run_begun_ns<'p>(processes: impl Iterator<Item = &'p ProcessInfo>, ours: &Path) -> Option<u64> {
    processes.filter(|process| !is_in_out_dir(&executable(process), ours)).map(|process| process.begun_ns).min()
}

fn executable(process: &ProcessInfo) -> PathBuf {
    OsString::from_vec(process.executable.clone()).into()
}

/// Cargo calls an `OUT_DIR` `build/PACKAGE-HASH/out`, or, with its new layout of build folders, `build/PACKAGE/HASH/out`.
fn is_in_out_dir(program: &Path, ours: &Path) -> bool {
    let Ok(inside) = program.strip_prefix(ours) else { return false };
    let folders: Vec<_> = inside.iter().collect();
    let is_out_dir = |folders: &[&OsStr]| folders.first() == Some(&"build".as_ref()) && folders.last() == Some(&"out".as_ref());
    folders.windows(3).chain(folders.windows(4)).any(is_out_dir)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bbprof_format::raw::{Fate, State};

    #[test]
    fn what_a_build_script_ran_before_the_run() {
        let target = tempfile::tempdir().expect("a folder");
        let ours = target.path().canonicalize().expect("there");
        let out = ours.join("0a1b/release/build/gen-0a1b/out");
        std::fs::create_dir_all(&out).expect("a folder");
        std::fs::write(out.join("helper"), "").expect("written");
        let write = |name: &str, executable: PathBuf, begun_ns: u64| {
            let executable = executable.into_os_string().into_vec();
            let process = ProcessInfo { pid: 7, begun_ns, executable, ..ProcessInfo::default() };
            let ending = Fate::Exit { status: Some(0) }.into();
            let raw = RawProfile { process, state: State::Complete, ending, threads: 1, images: vec![], pooled: vec![] };
            let path = ours.join(name);
            std::fs::write(&path, raw.encode()).expect("written");
            path
        };
        let (build, run) = (write("a", out.join("helper"), 1), write("c", ours.join("0a1b/release/app"), 2));
        let (tried, of_run) = (write("b", out.join("conftest"), 9), write("d", out.join("helper"), 3));
        let taken = |profiles: &[&PathBuf]| {
            let mut profiles: Vec<PathBuf> = profiles.iter().map(|path| (*path).clone()).collect();
            take_out(&mut profiles, &ours).expect("read")
        };
        assert_eq!(taken(&[&build, &tried, &run, &of_run]), [build.clone(), tried.clone()]);
        // Of a run that counts nothing else, all that there is.
        assert_eq!(taken(&[&build, &tried]), [tried]);
    }

    #[test]
    fn out_dirs_are_known() {
        let is_in = |program: &str| is_in_out_dir(program.as_ref(), "/target/bbprof".as_ref());
        assert!(is_in("/target/bbprof/0a1b/x86_64-unknown-linux-gnu/debug/build/jemalloc-0a1b/out/build/conftest"));
        assert!(is_in("/target/bbprof/0a1b/release/build/jemalloc-0a1b/out/conftest"));
        assert!(is_in("/target/bbprof/0a1b/x86_64-unknown-linux-gnu/debug/build/jemalloc/0a1b/out/build/conftest"));
        assert!(
            !is_in("/target/bbprof/0a1b/x86_64-unknown-linux-gnu/debug/deps/app-0a1b") && !is_in("/target/build/a/out/conftest")
        );
    }
}
