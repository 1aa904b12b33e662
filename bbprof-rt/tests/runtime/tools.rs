//! Together with other tools that look into programs: sanitizers and valgrind. Requires gcc, clang-22 and valgrind.

use crate::support::{
    Link, PROGRAM, annotated_program_and_library, archive, assert_end, assert_tls, image, program, run, run_with, sanitized_program,
};
use bbprof_format::raw::{Fate, State};
use std::path::PathBuf;
use std::process::Command;

/// The runtime's own accesses are checked by ThreadSanitizer here: no report, and no change of the exit code. (What runs in the
/// last round of thread-specific destructors is behind ThreadSanitizer's own: it must not be asked to report there, so no
/// cancellation here, and no late destructors of the program below.)
#[test]
fn no_data_race_in_the_runtime() {
    let program = sanitized_program("gcc", "thread", true);
    for (how, threads) in [("threads", 8_000_000), ("short-threads", 10_000), ("delta-threads", 0)] {
        let run = run(&program, &[how]);
        assert_eq!((run.status.code(), run.stderr.as_str()), (Some(0), ""), "{how}");
        assert_tls(&run.profile(), [1, 100, threads, 0, 1]);
    }
}

#[test]
fn sanitized_programs() {
    for compiler in ["gcc", "clang-22"] {
        for sanitizer in ["address", "thread", "undefined"] {
            let program = sanitized_program(compiler, sanitizer, false);
            for how in ["threads", "late", "fork-then-threads", "small-stack"] {
                if (sanitizer, how) == ("thread", "late") {
                    continue;
                }
                let run = run(&program, &[how]);
                assert_eq!((run.status.code(), run.stderr.as_str()), (Some(0), ""), "{compiler} {sanitizer} {how}");
                let expected = match how {
                    "threads" => [1, 100, 8_000_000, 0, 1],
                    "late" => [1, 100, 3, 0, 13],
                    _ => [1, 100, 40, 0, 1],
                };
                assert_tls(&run.profiles()[0], expected);
            }
        }
    }
}

/// Valgrind cannot map pages twice; the counts reach the file all the same.
#[test]
fn valgrind() {
    for (how, code, tls) in [("kill", None, [1, 100, 0, 0, 0]), ("threads", Some(0), [1, 100, 8_000_000, 0, 1])] {
        let run = run_with("valgrind".as_ref(), &["-q", program(Link::Dynamic).to_str().unwrap(), how], |_| {});
        assert_eq!(run.status.code(), code);
        let profile = &run.profiles()[0];
        assert_tls(profile, tls);
        if how == "kill" {
            assert_end(profile, State::Ended, Fate::OwnSignal { signal: 9 });
        }
    }
}

/// helgrind, once it knows the runtime's lock, finds nothing in its code: threads of all kinds, dumps, resets, forks, a library
/// loaded again and again. More of it, which takes a minute, in the long suite.
#[test]
fn helgrind() {
    let [program, library] = annotated_program_and_library();
    let library = library.to_str().unwrap();
    let few: &[&[&str]] = &[&["c11"], &["late"], &["dump", "dumped.bbraw"], &["fork-in-thread"], &["dlopen", library, "3"]];
    let many: &[&[&str]] = &[&["threads"], &["delta-short-threads"], &["cancel"], &["fork-then-threads"], &["signals"]];
    let is_long = std::env::var_os("BBPROF_LONG").is_some();
    for arguments in few.iter().chain(if is_long { many } else { &[] }) {
        let words = [&["--tool=helgrind", "-q", "--error-exitcode=77", program.to_str().unwrap()], *arguments].concat();
        let run = run_with("valgrind".as_ref(), &words, |command| {
            command.env("BBPROF_DUMP", "signal:USR2");
        });
        assert_eq!((run.status.code(), run.stderr.as_str()), (Some(0), ""), "{arguments:?}");
        let profiles = run.profiles();
        assert!(profiles.iter().any(|profile| image(profile, PROGRAM).tls_counters[1] > 0), "{arguments:?}: nothing was counted");
    }
}

/// Both compilers, with warnings as errors; and nothing of libc is needed that a program without it would lack.
#[test]
fn archives_compile_cleanly_and_need_no_libc() {
    for compiler in ["gcc", "clang-22"] {
        for variant in ["exec", "static", "lib"] {
            let strong = undefined_symbols(&archive(variant, compiler));
            let foreign = strong.iter().filter(|name| !name.contains("bbprof") && !name.starts_with("pthread_"));
            let foreign: Vec<_> =
                foreign.filter(|name| name.as_str() != "_GLOBAL_OFFSET_TABLE_" && !name.starts_with("__real_")).collect();
            assert!(foreign.is_empty(), "{compiler} {variant}: {foreign:?}");
        }
    }
}

/// The archives are linked into other people's programs: no name of theirs may clash with ours.
#[test]
fn all_names_have_the_prefix() {
    for variant in ["exec", "static", "lib"] {
        let output = Command::new("nm").args(["--defined-only", "--extern-only"]).arg(archive(variant, "cc")).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let names: Vec<_> = text.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
        let prefixes = ["bbprof_", "__bbprof_", "__wrap_"];
        let foreign = names.iter().filter(|name| !prefixes.iter().any(|prefix| name.starts_with(prefix)));
        // Weak names give way to the program's own.
        let strong: Vec<_> = text.lines().filter(|line| !line.contains(" W ")).collect();
        let foreign = foreign.filter(|name| strong.iter().any(|line| line.split_whitespace().nth(2) == Some(**name)));
        let foreign: Vec<_> = foreign.filter(|name| !["pthread_create", "thrd_create", "_Fork"].contains(name)).collect();
        assert!(names.contains(&"bbprof_dump") && foreign.is_empty(), "{variant}: {foreign:?}");
    }
}

/// What an archive's members ask for and must get.
fn undefined_symbols(archive: &PathBuf) -> Vec<String> {
    let output = Command::new("nm").arg(archive).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().filter_map(|line| line.trim_start().strip_prefix("U ").map(str::to_owned));
    let defined: Vec<_> = text.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
    lines.filter(|name| !defined.contains(&name.as_str())).collect()
}
