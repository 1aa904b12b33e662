//! Builds the runtime's archives and the hand-instrumented programs of `tests/c`, runs them, reads what they left.

use bbprof_format::raw::{Fate, ImageCounts, RawProfile, State};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::{Arc, Mutex, OnceLock};

/// How a program is linked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Link {
    Dynamic,
    Static,
    StaticPie,
}

impl Link {
    pub(crate) const ALL: [Self; 3] = [Self::Dynamic, Self::Static, Self::StaticPie];
}

/// First byte of the build ids in `tests/c`.
pub(crate) const PROGRAM: u8 = 0xe0;
pub(crate) const LIBRARY: u8 = 0x1b;

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn run_tool(command: &mut Command) {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
}

/// Where this test binary builds.
fn build_folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let name = std::env::current_exe().unwrap();
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name.file_stem().unwrap());
        std::fs::create_dir_all(&folder).unwrap();
        folder
    })
}

/// Builds `make` once under this name.
fn once(name: &str, make: impl FnOnce(&Path)) -> PathBuf {
    static BUILT: Mutex<BTreeMap<String, Arc<OnceLock<PathBuf>>>> = Mutex::new(BTreeMap::new());
    let built = BUILT.lock().unwrap_or_else(|e| e.into_inner()).entry(name.to_owned()).or_default().clone();
    let make = || {
        let path = build_folder().join(name);
        make(&path);
        path
    };
    built.get_or_init(make).clone()
}

fn variant_flags(variant: &str) -> &'static [&'static str] {
    match variant {
        "lib" => &["-fPIC", "-ftls-model=initial-exec", "-DBBPROF_RT_LIB"],
        _ => &["-fPIE", "-ftls-model=local-exec", "-DBBPROF_RT_EXEC"],
    }
}

fn sources(variant: &str) -> Vec<String> {
    let list = std::fs::read_to_string(source("c/SOURCES")).unwrap();
    let line = |name: &str| list.lines().find_map(|line| line.strip_prefix(&format!("{name}: "))).expect("a line for each");
    ["core", variant].iter().flat_map(|name| line(name).split_whitespace()).map(str::to_owned).collect()
}

/// Builds an archive of the runtime, with the compiler and warnings that users of the sources get.
pub(crate) fn archive(variant: &'static str, compiler: &str) -> PathBuf {
    let flags = std::fs::read_to_string(source("c/FLAGS")).unwrap();
    let mut objects = Vec::new();
    for name in sources(variant) {
        objects.push(once(&format!("{compiler}-{variant}-{name}.o"), |object| {
            let mut command = Command::new(compiler);
            command.args(flags.split_whitespace()).args(variant_flags(variant)).args(["-Wall", "-Wextra", "-Werror", "-c"]);
            run_tool(command.arg(source("c").join(&name)).arg("-o").arg(object));
        }));
    }
    once(&format!("{compiler}-{variant}.a"), |path| {
        let _ = std::fs::remove_file(path);
        run_tool(Command::new("ar").arg("rcs").arg(path).args(&objects));
    })
}

/// Links the scenario program.
pub(crate) fn program(link: Link) -> PathBuf {
    program_with(link, 1000)
}

/// Links the scenario program with another number of thread-local counters.
pub(crate) fn program_with(link: Link, tls_counters: u32) -> PathBuf {
    let runtime = archive(if link == Link::Dynamic { "exec" } else { "static" }, "cc");
    once(&format!("scenario-{link:?}-{tls_counters}"), |path| {
        let mut command = Command::new("cc");
        command.args(["-O1", "-g", "-w", "-DBBPROF_RT_EXEC", "-I"]).arg(source("c")).arg(format!("-DNUM_TLS={tls_counters}"));
        match link {
            Link::Dynamic => command.args(["-fPIE", "-pie"]),
            Link::Static => command.args(["-fno-pie", "-no-pie", "-static", "-DFLAGS=BBPROF_FLAG_STATIC|BBPROF_FLAG_DELTA"]),
            Link::StaticPie => command.args(["-fPIE", "-static-pie", "-DFLAGS=BBPROF_FLAG_STATIC|BBPROF_FLAG_DELTA"]),
        };
        if link != Link::Dynamic {
            let lists = std::fs::read_to_string(source("c/INTERPOSED")).unwrap();
            let wrapped = lists.lines().filter_map(|line| line.strip_prefix("wrapped:")).flat_map(str::split_whitespace);
            command.args(wrapped.map(|name| format!("-Wl,--wrap={name}")));
        }
        run_tool(command.arg(source("tests/c/scenario.c")).arg(&runtime).arg("-o").arg(path));
    })
}

/// The scenario program with a sanitizer; `runtime_too` = the runtime's own code is checked as well.
pub(crate) fn sanitized_program(compiler: &'static str, sanitizer: &str, runtime_too: bool) -> PathBuf {
    let runtime = archive("exec", "cc");
    once(&format!("{compiler}-{sanitizer}-{runtime_too}"), |path| {
        let mut command = Command::new(compiler);
        command.args(["-O1", "-g", "-w", "-DBBPROF_RT_EXEC", "-D_GNU_SOURCE", "-fPIE", "-pie", "-I"]).arg(source("c"));
        command.arg(format!("-fsanitize={sanitizer}")).arg(source("tests/c/scenario.c"));
        if runtime_too {
            command.args(["-fvisibility=hidden", "-ftls-model=local-exec"]);
            command.args(sources("exec").iter().map(|name| source("c").join(name)));
        } else {
            command.arg(&runtime);
        }
        run_tool(command.arg("-o").arg(path));
    })
}

/// The scenario program and the profiled library, with runtimes that tell helgrind of their lock. Requires valgrind's headers.
pub(crate) fn annotated_program_and_library() -> [PathBuf; 2] {
    let flags = std::fs::read_to_string(source("c/FLAGS")).unwrap();
    let link = |name: &str, variant: &str, program: &str, options: &[&str]| {
        once(name, |path| {
            let mut command = Command::new("cc");
            command.args(flags.split_whitespace()).args(variant_flags(variant)).args(["-w", "-g", "-DBBPROF_RT_ANNOTATED", "-I"]);
            command.arg(source("c")).args(options).arg(source(program));
            run_tool(command.args(sources(variant).iter().map(|name| source("c").join(name))).arg("-o").arg(path));
        })
    };
    let build_id = format!("-DBUILD_ID={LIBRARY}");
    [
        link("annotated", "exec", "tests/c/scenario.c", &["-pie"]),
        link("libannotated.so", "lib", "tests/c/library.c", &["-shared", &build_id]),
    ]
}

/// Links the profiled library.
pub(crate) fn library() -> PathBuf {
    library_named("liblibrary.so", LIBRARY)
}

/// Links the profiled library under another name and build id.
pub(crate) fn library_named(name: &str, build_id: u8) -> PathBuf {
    let runtime = archive("lib", "cc");
    once(name, |path| {
        let mut command = Command::new("cc");
        command.args(["-O1", "-g", "-w", "-fPIC", "-shared", "-I"]).arg(source("c")).arg(format!("-DBUILD_ID={build_id}"));
        run_tool(command.arg(source("tests/c/library.c")).arg(&runtime).arg("-o").arg(path));
    })
}

/// Links the profiled library with a runtime in whose headers the definition of a version is another.
pub(crate) fn library_of_version(name: &str, build_id: u8, header: &str, definition: &str, other: &str) -> PathBuf {
    once(name, |path| {
        let folder = path.with_extension("sources");
        std::fs::create_dir_all(&folder).unwrap();
        for entry in std::fs::read_dir(source("c")).unwrap() {
            let file = entry.unwrap().path();
            std::fs::copy(&file, folder.join(file.file_name().unwrap())).unwrap();
        }
        let text = std::fs::read_to_string(folder.join(header)).unwrap();
        assert!(text.contains(definition), "{header} does not say {definition}");
        std::fs::write(folder.join(header), text.replace(definition, other)).unwrap();
        let flags = std::fs::read_to_string(source("c/FLAGS")).unwrap();
        let mut command = Command::new("cc");
        command.args(flags.split_whitespace()).args(variant_flags("lib")).args(["-shared", "-w", "-I"]).arg(&folder);
        command.arg(format!("-DBUILD_ID={build_id}")).arg(source("tests/c/library.c"));
        run_tool(command.args(sources("lib").iter().map(|name| folder.join(name))).arg("-o").arg(path));
    })
}

/// Links the program that is not profiled with the library that is.
pub(crate) fn plain_program() -> PathBuf {
    let library = library();
    once("plain", |path| {
        let mut rpath = std::ffi::OsString::from("-Wl,-rpath,");
        rpath.push(build_folder());
        run_tool(
            Command::new("cc").args(["-O1", "-w"]).arg(source("tests/c/plain.c")).arg(&library).arg(rpath).arg("-o").arg(path),
        );
    })
}

/// Links the program that loads libraries.
pub(crate) fn loader_program() -> PathBuf {
    once("loader", |path| run_tool(Command::new("cc").args(["-O1", "-w"]).arg(source("tests/c/loader.c")).arg("-o").arg(path)))
}

/// Links a Rust program that uses the API.
pub(crate) fn rust_program() -> PathBuf {
    let runtime = archive("exec", "cc");
    let object = once("rust-record.o", |path| {
        let mut command = Command::new("cc");
        command.args(["-O1", "-w", "-fPIE", "-c", "-DBBPROF_RT_EXEC", "-I"]).arg(source("c"));
        run_tool(command.arg(source("tests/c/rust_record.c")).arg("-o").arg(path));
    });
    once("rust-program", |path| {
        let mut command = Command::new("rustc");
        command.args(["--edition=2024", "-Adead_code", "-Ccodegen-units=1"]).arg(source("tests/rust/program.rs"));
        command.arg(format!("-Clink-arg={}", object.display())).arg(format!("-Clink-arg={}", runtime.display()));
        run_tool(command.arg("-o").arg(path));
    })
}

/// Links the program without libc.
pub(crate) fn bare_program() -> PathBuf {
    let runtime = archive("static", "cc");
    once("bare", |path| {
        let mut command = Command::new("cc");
        command.args([
            "-O1",
            "-w",
            "-ffreestanding",
            "-fno-stack-protector",
            "-nostdlib",
            "-static",
            "-no-pie",
            "-DBBPROF_RT_EXEC",
            "-I",
        ]);
        run_tool(command.arg(source("c")).arg(source("tests/c/bare.c")).arg(&runtime).arg("-o").arg(path));
    })
}

/// What a run left.
pub(crate) struct Run {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    pub(crate) folder: tempfile::TempDir,
}

/// Runs a program in a fresh folder.
pub(crate) fn run(program: &Path, arguments: &[&str]) -> Run {
    run_with(program, arguments, |_| {})
}

/// Runs a program in a fresh folder; `prepare` may change the command, whose directory is that folder.
pub(crate) fn run_with(program: &Path, arguments: &[&str], prepare: impl FnOnce(&mut Command)) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder.path());
    for name in ["BBPROF_OUT", "BBPROF_OFF", "BBPROF_DUMP", "NEXTEST_TEST_NAME"] {
        command.env_remove(name);
    }
    prepare(&mut command);
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    Run { status: output.status, stdout: output.stdout, stderr: String::from_utf8_lossy(&output.stderr).into_owned(), folder }
}

impl Run {
    /// Names of the files in the folder, sorted.
    pub(crate) fn file_names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Reads one profile.
    pub(crate) fn read(&self, name: &str) -> RawProfile {
        let bytes = std::fs::read(self.folder.path().join(name)).unwrap();
        RawProfile::read(&bytes).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// All profiles, in the order in which they were begun.
    pub(crate) fn profiles(&self) -> Vec<RawProfile> {
        let mut profiles: Vec<_> = self.file_names().iter().map(|name| self.read(name)).collect();
        profiles.sort_by_key(|profile| profile.process.begun_ns);
        profiles
    }

    /// The only profile; checks that stderr is silent.
    pub(crate) fn profile(&self) -> RawProfile {
        assert_eq!(self.stderr, "");
        let mut profiles = self.profiles();
        assert_eq!(profiles.len(), 1, "{:?}", self.file_names());
        profiles.remove(0)
    }
}

/// The image whose build id begins with this byte.
pub(crate) fn image(profile: &RawProfile, build_id: u8) -> &ImageCounts {
    let mut found = profile.images.iter().filter(|image| image.build_id.0[0] == build_id);
    let image = found.next().unwrap_or_else(|| panic!("no image {build_id:x} in {profile:?}"));
    assert!(found.next().is_none(), "two images {build_id:x}");
    image
}

/// Checks the program's counts: thread-local counters 0 to 4, and that all others are zero.
#[track_caller]
pub(crate) fn assert_tls(profile: &RawProfile, expected: [u64; 5]) {
    let counters = &image(profile, PROGRAM).tls_counters;
    assert_eq!(counters[..5], expected);
    assert!(counters[5..].iter().all(|counter| *counter == 0));
}

/// Checks the program's global counters 0 and 1, and that all others are zero.
#[track_caller]
pub(crate) fn assert_global(profile: &RawProfile, expected: [u64; 2]) {
    let counters = &image(profile, PROGRAM).global_counters;
    assert_eq!(counters[..2], expected);
    assert!(counters[2..].iter().all(|counter| *counter == 0));
}

/// All others waited in this system call, and counted nothing any more.
#[track_caller]
pub(crate) fn assert_waiting(profile: &RawProfile, call: u16, threads: u16) {
    let waits = profile.ending.waits.as_ref().map(|waits| (waits.threads.clone(), waits.went_on));
    assert_eq!((profile.ending.live_threads, waits), (0, Some(([(call, threads)].into(), false))));
}
pub(crate) const READ: u16 = 0;
pub(crate) const PAUSE: u16 = 34;

/// Checks how it ended.
#[track_caller]
pub(crate) fn assert_end(profile: &RawProfile, state: State, fate: Fate) {
    assert_eq!((profile.state, profile.ending.fate), (state, fate));
}
