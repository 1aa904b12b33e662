//! The ways to build a program: plain, ours, and the peers, each for the languages that it has.

use crate::build::LEVEL;
use crate::tool;
use std::path::{Path, PathBuf};

/// One way to build.
pub(crate) struct Variant {
    /// Its name in the tables.
    pub(crate) name: &'static str,
    /// For C and C++.
    pub(crate) c: Option<CBuild>,
    /// For Rust.
    pub(crate) rust: Option<RustBuild>,
    /// What runs the program, if not the system itself.
    pub(crate) runner: &'static [&'static str],
    /// Built with the profile of a run for the instructions' count, from this other variant that stands before it.
    pub(crate) trained_by: Option<&'static str>,
}

/// A compiler with its options.
pub(crate) struct CBuild {
    pub(crate) compiler: PathBuf,
    pub(crate) options: &'static [&'static str],
    /// A peer's runtime may not be installed: its link may fail.
    pub(crate) may_lack_runtime: bool,
}

/// `cargo build` or `cargo bbprof build`.
pub(crate) struct RustBuild {
    /// The words of cargo before its options.
    pub(crate) command: &'static [&'static str],
    /// Flags of rustc for the program and what it depends on.
    pub(crate) flags: &'static str,
}

impl CBuild {
    /// The command of a compilation, without its files; profiles by which it is placed have no name here.
    pub(crate) fn command_line(&self, is_trained: bool) -> String {
        let compiler = self.compiler.file_name().unwrap_or(self.compiler.as_os_str()).to_string_lossy();
        let trained = is_trained.then_some("--bbprof-weights=PROFILES");
        [&*compiler, LEVEL].into_iter().chain(self.options.iter().copied()).chain(trained).collect::<Vec<_>>().join(" ")
    }
}

impl RustBuild {
    /// The command, likewise.
    pub(crate) fn command_line(&self, is_trained: bool) -> String {
        let flags = if self.flags.is_empty() { String::new() } else { format!("RUSTFLAGS=\"{}\" ", self.flags) };
        let trained = if is_trained { " --weights=PROFILES" } else { "" };
        format!("{flags}cargo {} --release{trained}", self.command.join(" "))
    }
}

/// What leaves the parts of the placement out, one after the other, for C and for cargo.
const WITHOUT: [&str; 8] = [
    "--bbprof-without=unrolling",
    "--bbprof-without=handing",
    "--bbprof-without=guesses",
    "--bbprof-without=dispatches",
    "--bbprof-without=closing",
    "--bbprof-without=bases",
    "--bbprof-without=loops",
    "--bbprof-without=costs",
];
const WITHOUT_IN_CARGO: [&str; 11] = [
    "bbprof",
    "build",
    "--deps=all",
    "--without=unrolling",
    "--without=handing",
    "--without=guesses",
    "--without=dispatches",
    "--without=closing",
    "--without=bases",
    "--without=loops",
    "--without=costs",
];

impl Variant {
    /// Whether it is another profiler's: neither ours nor the plain build.
    pub(crate) fn is_peer(&self) -> bool {
        self.name != "plain" && !self.name.starts_with("bbprof")
    }

    /// All of them; the plain build first.
    pub(crate) fn all(root: &Path) -> Vec<Self> {
        let cc = tool(root, "bbprof-cc");
        let ours = |name, options, command| Self {
            name,
            c: Some(CBuild { compiler: cc.clone(), options, may_lack_runtime: false }),
            rust: Some(RustBuild { command, flags: "" }),
            runner: &[],
            trained_by: None,
        };
        let without = |parts, name| ours(name, &WITHOUT[..parts], &WITHOUT_IN_CARGO[..3 + parts]);
        let ours_for_c = |name, options| Self { rust: None, ..ours(name, options, &[]) };
        let peer = |name, options, flags: Option<&'static str>| Self {
            name,
            c: Some(CBuild { compiler: PathBuf::from("clang-22"), options, may_lack_runtime: true }),
            rust: flags.map(|flags| RustBuild { command: &["build"], flags }),
            runner: &[],
            trained_by: None,
        };
        vec![
            peer("plain", &[], Some("")),
            ours("bbprof", &[], &["bbprof", "build", "--deps=all"]),
            Self { trained_by: Some("bbprof"), ..ours("bbprof --weights", &[], &["bbprof", "build", "--deps=all"]) },
            // Code generation, too, is told of them: not only the counters make the difference then.
            Self {
                trained_by: Some("bbprof"),
                ..ours(
                    "bbprof --weights, branches",
                    &["--bbprof-with=branches"],
                    &["bbprof", "build", "--deps=all", "--with=branches"],
                )
            },
            ours_for_c("bbprof -fPIC", &["-fPIC"]),
            ours("bbprof shared", &["--bbprof-storage=shared"], &["bbprof", "build", "--deps=all", "--storage=shared"]),
            ours("bbprof atomic", &["--bbprof-storage=atomic"], &["bbprof", "build", "--deps=all", "--storage=atomic"]),
            ours("bbprof paths", &["--bbprof-counters=paths"], &["bbprof", "build", "--deps=all", "--counters=paths"]),
            ours(
                "bbprof paths hashed",
                &["--bbprof-counters=paths", "--bbprof-path-limit=100000000"],
                &["bbprof", "build", "--deps=all", "--counters=paths", "--path-limit=100000000"],
            ),
            // What each part of the placement gains: every block, patterns, a tree, with the price of splits, with loops, with
            // base registers, with loops closed, with dispatches repeated, with guesses of types, with counters' places handed on
            // in shared libraries, with tight loops unrolled (that is bbprof), with an earlier profile; and with the counters of
            // tight loops in registers.
            without(1, "bbprof without unrolling"),
            without(2, "bbprof without handing"),
            without(3, "bbprof without guesses"),
            without(4, "bbprof without dispatches"),
            without(5, "bbprof without closing"),
            without(6, "bbprof without bases"),
            without(7, "bbprof without loops"),
            without(8, "bbprof tree"),
            ours("bbprof registers", &["--bbprof-with=registers"], &["bbprof", "build", "--deps=all", "--with=registers"]),
            ours("bbprof patterns", &["--bbprof-counters=patterns"], &["bbprof", "build", "--deps=all", "--counters=patterns"]),
            ours("bbprof blocks", &["--bbprof-counters=blocks"], &["bbprof", "build", "--deps=all", "--counters=blocks"]),
            peer("clang, rustc IR PGO", &["-fprofile-generate"], Some("-Cprofile-generate=.")),
            peer(
                "clang, rustc IR PGO, no values",
                &["-fprofile-generate", "-mllvm", "-disable-vp"],
                Some("-Cprofile-generate=. -Cllvm-args=-disable-vp"),
            ),
            peer("front-end counters", &["-fprofile-instr-generate"], Some("-Cinstrument-coverage")),
            peer("clang gcov", &["--coverage"], None),
            peer("clang gprof", &["-pg"], None),
            Self {
                runner: &["valgrind", "--tool=callgrind", "--callgrind-out-file=callgrind.out"],
                ..peer("callgrind", &[], Some(""))
            },
        ]
    }
}
