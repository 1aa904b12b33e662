//! Whatever is in the way of a profile: the program's output and exit code are those of the plain build, one line on stderr says
//! why, nothing of anybody else's is touched, and no half-written file is taken for a whole one.
//!
//! Requires `unshare` (util-linux), the right to make user namespaces, and to be root or in a second group.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use bbprof_format::raw::RawProfile;
use bbprof_tests::{Exported, MuslImage, Run, Sandbox, for_musl, tool};
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const NOBODY: u32 = 65_534;

/// Who reads stderr.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    Listens,
    IsGone,
    /// Is there, but does not read.
    Sleeps,
}
use Reader::{IsGone, Listens, Sleeps};

/// What is in the way, and what is said of it.
struct Refusal {
    name: &'static str,
    /// What the program does, see `refused.c`.
    way: &'static str,
    reader: Reader,
    /// What stands in the line about it; `None` = there is no line.
    line: Option<&'static str>,
    /// How many profiles there are in the end.
    profiles: usize,
    /// Sets the scene: gets the folder and the program, gives the command.
    scene: fn(&Path, &Path) -> Command,
}

const fn refusal(
    name: &'static str,
    way: &'static str,
    line: Option<&'static str>,
    profiles: usize,
    scene: fn(&Path, &Path) -> Command,
) -> Refusal {
    Refusal { name, way, reader: Listens, line, profiles, scene }
}

impl Refusal {
    const fn heard_by(self, reader: Reader) -> Self {
        Self { reader, ..self }
    }
}

/// The profile goes to the folder `raw`.
fn usual(_: &Path, program: &Path) -> Command {
    Command::new(program)
}

/// The profile is to go elsewhere.
fn to(out: impl AsRef<OsStr>, program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("BBPROF_OUT", out);
    command
}

/// By a shell script, in which `"$@"` is the program.
fn script(words: &[&str], text: &str, program: &Path) -> Command {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).args(["-c", text, "bash"]).arg(program);
    command
}

fn is_root() -> bool {
    Run::new("id").arg("-u").ok().text().trim() == "0"
}

/// By somebody who may not write to the file: a user that root becomes, or ourselves.
fn by_another(file: &Path, mut command: Command) -> Command {
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    std::fs::set_permissions(file, PermissionsExt::from_mode(0o444)).unwrap();
    command
}

/// A copy of the program with rights to read any file, as root gives them to one, started by nobody; else with another group.
fn of_more_capabilities(folder: &Path, program: &Path) -> Command {
    if !is_root() {
        return Command::new(of_another_group(folder, program));
    }
    let copy = folder.join("capable");
    std::fs::copy(program, &copy).unwrap();
    // Version 2, effective; CAP_DAC_READ_SEARCH.
    let attribute = "bytes.fromhex('0100000204000000') + bytes(12)";
    let code = format!("import os, sys; os.setxattr(sys.argv[1], 'security.capability', {attribute})");
    Run::new("python3").args(["-c", &code]).arg(&copy).ok();
    let mut command = Command::new(copy);
    command.uid(NOBODY).gid(NOBODY);
    command
}

/// A copy of the program that gives another group to who starts it.
fn of_another_group(folder: &Path, program: &Path) -> PathBuf {
    let copy = folder.join("raised");
    std::fs::copy(program, &copy).unwrap();
    let own = std::fs::metadata(&copy).unwrap().gid();
    let groups = Run::new("id").arg("-G").ok().text();
    let other = groups.split_whitespace().filter_map(|group| group.parse().ok()).find(|group| *group != own);
    let group = if is_root() { NOBODY } else { other.expect("this test needs root, or a user with a second group") };
    std::os::unix::fs::chown(&copy, None, Some(group)).unwrap();
    std::fs::set_permissions(&copy, PermissionsExt::from_mode(0o2755)).unwrap();
    copy
}

const NO_FILE: Option<&str> = Some("not a regular file");
const LIMIT: Option<&str> = Some("larger than the file size limit");
const NO_FOLDER: Option<&str> = Some("no such directory");
const NO_RIGHT: Option<&str> = Some("permission denied");
const TOO_LONG: Option<&str> = Some("path too long");

const REFUSALS: &[Refusal] = &[
    refusal("nothing", "works", None, 1, usual),
    refusal("no folder", "works", NO_FOLDER, 0, |_, program| to("missing/x.bbraw", program)),
    refusal("a device", "works", NO_FILE, 0, |_, program| to("/dev/full", program)),
    refusal("a FIFO", "works", NO_FILE, 0, |folder, program| {
        Run::new("mkfifo").arg(folder.join("raw/x")).ok();
        to("raw/x", program)
    }),
    refusal("a link to a device", "works", NO_FILE, 0, |folder, program| {
        symlink("/dev/null", folder.join("raw/x")).unwrap();
        to("raw/x", program)
    }),
    refusal("a link as /dev/stdout", "works", NO_FILE, 0, |folder, program| {
        symlink("/proc/self/fd/3", folder.join("raw/x")).unwrap();
        script(&["bash"], "BBPROF_OUT=raw/x exec \"$@\" 3</etc/passwd", program)
    }),
    refusal("a link to a folder", "works", NO_FILE, 0, |folder, program| {
        symlink(".", folder.join("raw/x")).unwrap();
        to("raw/x", program)
    }),
    refusal("the program", "works", Some("is a program that runs"), 0, |_, program| to(program, program)),
    refusal("a file of another user", "works", NO_RIGHT, 0, |folder, program| {
        let file = folder.join("raw/x");
        std::fs::write(&file, "theirs").unwrap();
        by_another(&file, to("raw/x", program))
    }),
    refusal("a link to a file of another user", "works", NO_RIGHT, 0, |folder, program| {
        let file = folder.join("theirs");
        std::fs::write(&file, "theirs").unwrap();
        symlink("../theirs", folder.join("raw/x")).unwrap();
        by_another(&file, to("raw/x", program))
    }),
    refusal("a path of 4,096 bytes", "works", TOO_LONG, 0, |_, program| to("x/".repeat(2048), program)),
    refusal("a name of 4,096 bytes", "works", TOO_LONG, 0, |_, program| to("x".repeat(4096), program)),
    refusal("a full disk", "works", Some("no space left on device"), 0, |_, program| {
        let text = "mount -t tmpfs -o size=4k none raw && exec \"$@\"";
        script(&["unshare", "-rm", "bash"], text, program)
    }),
    refusal("a closed stderr", "works", None, 0, |_, program| script(&["bash"], "BBPROF_OUT=missing/x exec \"$@\" 2>&-", program)),
    refusal("a broken pipe", "works", None, 0, |_, program| to("missing/x", program)).heard_by(IsGone),
    refusal("a broken pipe with its signal blocked", "signals_blocked", None, 1, usual).heard_by(IsGone),
    refusal("a full pipe", "full_stderr", None, 1, usual).heard_by(Sleeps),
    refusal("a stderr at its limit", "works", None, 0, |_, program| {
        script(&["bash"], "ulimit -f 0; exec \"$@\" 2> stderr", program)
    }),
    refusal("a file with the number of stderr", "number_two", None, 1, usual),
    refusal("a folder that goes", "folder_goes", NO_FOLDER, 1, usual),
    refusal("a limit at once", "works", LIMIT, 0, |_, program| script(&["bash"], "ulimit -f 1; exec \"$@\"", program)),
    refusal("a limit before a child", "limited", LIMIT, 1, usual),
    refusal("a limit before a thread", "limited_thread", LIMIT, 1, usual),
    refusal("a limit before a thread and _exit", "limited_thread_at_once", LIMIT, 1, usual),
    refusal("a limit before a thread and an exec that fails", "limited_thread_fails", LIMIT, 1, usual),
    refusal("a limit before a thread and a kill", "limited_thread_killed", LIMIT, 1, usual),
    refusal("another root", "rooted", NO_FOLDER, 1, |_, program| {
        let mut command = Command::new("unshare");
        command.arg("-r").arg(program);
        command
    }),
    refusal("dropped privileges", "dropped", NO_RIGHT, 1, |folder, program| {
        std::fs::set_permissions(folder.join("raw"), PermissionsExt::from_mode(0o755)).unwrap();
        Command::new(program)
    }),
    refusal("raised privileges", "works", Some("raised privileges"), 0, |folder, program| {
        Command::new(of_another_group(folder, program))
    }),
    refusal("raised privileges and dumps", "dumps", Some("raised privileges"), 0, |folder, program| {
        let mut command = Command::new(of_another_group(folder, program));
        command.env("BBPROF_OUT", "raw/x.bbraw").env("BBPROF_DUMP", "every:1ms");
        command
    }),
    refusal("more capabilities", "dumps", Some("raised privileges"), 0, of_more_capabilities),
    refusal("SIGTERM from outside", "ended", None, 2, usual),
];

fn compile(sandbox: &Sandbox, driver: &Path, name: &str, options: &[&str]) -> PathBuf {
    compile_between(sandbox, driver, name, options, &[])
}

fn compile_between(sandbox: &Sandbox, driver: &Path, name: &str, before: &[&str], behind: &[String]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/refused/refused.c");
    let program = sandbox.join(name);
    Run::new(driver).args(["-O2", "-D_GNU_SOURCE", "-pthread"]).args(before).arg(source).args(behind).arg("-o").arg(&program).ok();
    open_to_all(sandbox.path());
    program
}

fn open_to_all(folder: &Path) {
    std::fs::set_permissions(folder, PermissionsExt::from_mode(0o777)).unwrap();
}

/// All that is in a folder: where, of what kind, and what is in it.
fn everything(folder: &Path) -> Vec<(PathBuf, u32, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let about = path.symlink_metadata().unwrap();
        if about.is_dir() {
            all.extend(everything(&path));
        }
        let bytes = if about.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
        all.push((path, about.mode(), bytes));
    }
    all
}

/// What is seen of a run from outside, and the folder it left.
struct Seen {
    code: i32,
    stdout: String,
    stderr: String,
    sandbox: Sandbox,
}

fn run(refusal: &Refusal, program: &Path) -> Seen {
    let sandbox = Sandbox::new("refused");
    let raw = sandbox.join("raw");
    std::fs::create_dir(&raw).unwrap();
    open_to_all(sandbox.path());
    open_to_all(&raw);
    let mut command = (refusal.scene)(sandbox.path(), program);
    let before = everything(sandbox.path());
    if !command.get_envs().any(|(name, _)| name == "BBPROF_OUT") {
        command.env("BBPROF_OUT", "raw/%p.bbraw");
    }
    if !command.get_envs().any(|(name, _)| name == "BBPROF_DUMP") {
        command.env_remove("BBPROF_DUMP");
    }
    command.env_remove("BBPROF_OFF").current_dir(sandbox.path()).arg(refusal.way);
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut stderr = String::new();
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(writer).spawn().unwrap();
    drop(command);
    let output = match refusal.reader {
        Listens => {
            reader.read_to_string(&mut stderr).unwrap();
            child.wait_with_output().unwrap()
        }
        IsGone => {
            drop(reader);
            child.wait_with_output().unwrap()
        }
        Sleeps => {
            let output = child.wait_with_output().unwrap();
            drop(reader);
            output
        }
    };
    let after = everything(sandbox.path());
    let folder_went = !raw.exists();
    for entry in before.iter().filter(|entry| !folder_went || entry.0 != raw) {
        assert!(
            after.iter().any(|there| there.0 == entry.0 && there.2 == entry.2),
            "{}: {} changed",
            refusal.name,
            entry.0.display()
        );
    }
    let code = output.status.code().unwrap_or_else(|| 128 + output.status.signal().unwrap_or(0));
    Seen { code, stdout: String::from_utf8(output.stdout).unwrap(), stderr, sandbox }
}

/// What `verify` may have to say of these profiles.
const EXCEPTIONS: [&str; 2] = ["no end of the process was seen", "1 process that was forked here could not write a profile"];

/// The profiles that are left can be read, and are exact or say why not; nothing else is left of them.
fn check_profiles(refusal: &Refusal, sandbox: &Sandbox) {
    let mut profiles = 0;
    for (path, ..) in everything(sandbox.path()) {
        assert!(!path.to_string_lossy().contains(".tmp"), "{}: {} is left", refusal.name, path.display());
        if path.extension().is_some_and(|extension| extension == "bbraw") {
            profiles += 1;
            RawProfile::read(&std::fs::read(&path).unwrap()).unwrap_or_else(|error| panic!("{}: {error}", refusal.name));
            let verified = Run::new(tool("bbprof")).arg("verify").arg(&path).outcome();
            let says_why = EXCEPTIONS.iter().any(|why| verified.text().contains(why));
            assert!(
                verified.code == if says_why { 5 } else { 0 },
                "{}: verify ends with {}: {}",
                refusal.name,
                verified.code,
                verified.text()
            );
        }
    }
    assert_eq!(profiles, refusal.profiles, "{}: profiles", refusal.name);
}

#[test]
fn as_the_plain_build() {
    let sandbox = Sandbox::new("refused-programs");
    let plain = compile(&sandbox, Path::new("cc"), "plain", &[]);
    let profiled = compile(&sandbox, &tool("bbprof-cc"), "profiled", &[]);
    compare(REFUSALS.iter(), &plain, &profiled);
}

/// Without the loader, which tells dynamic programs of raised privileges.
#[test]
fn as_the_plain_build_in_static_programs() {
    let sandbox = Sandbox::new("refused-programs");
    let plain = compile(&sandbox, Path::new("cc"), "plain", &["-static"]);
    let profiled = compile(&sandbox, &tool("bbprof-cc"), "profiled", &["-static"]);
    let privileged = |refusal: &&Refusal| refusal.line == Some("raised privileges");
    compare(REFUSALS.iter().filter(privileged), &plain, &profiled);
    let [before, behind] = for_musl(MuslImage::Static, &sandbox);
    let before: Vec<&str> = before.iter().map(String::as_str).collect();
    let musl = compile_between(&sandbox, &tool("bbprof-cc"), "musl", &before, &behind);
    compare(REFUSALS.iter().filter(privileged), &plain, &musl);
}

fn compare<'r>(refusals: impl Iterator<Item = &'r Refusal>, plain: &Path, profiled: &Path) {
    for refusal in refusals {
        let name = refusal.name;
        let (expected, seen) = (run(refusal, plain), run(refusal, profiled));
        assert_eq!((seen.code, &seen.stdout), (expected.code, &expected.stdout), "{name}: {}", seen.stderr);
        assert_eq!(expected.stderr, "", "{name}: the plain build says something itself");
        match refusal.line {
            None => assert_eq!(seen.stderr, "", "{name}"),
            Some(why) => {
                let is_line = seen.stderr.lines().count() == 1 && seen.stderr.ends_with('\n');
                assert!(is_line && seen.stderr.contains(why), "{name}: expected one line with {why:?}: {}", seen.stderr);
            }
        }
        check_profiles(refusal, &seen.sandbox);
    }
}

/// An exit waits a moment for threads to come to rest, but not where it cannot be told whether they do.
#[test]
fn threads_that_cannot_be_looked_at_delay_no_exit() {
    let sandbox = Sandbox::new("hidden-thread");
    let program = compile(&sandbox, &tool("bbprof-cc"), "profiled", &[]);
    let seen = run(&refusal("a hidden thread", "hidden_thread", None, 2, usual), &program);
    assert_eq!((seen.code, &*seen.stdout, &*seen.stderr), (9, "sum 721611\n", ""));
    let verified = Run::new(tool("bbprof")).arg("verify").args(seen.sandbox.raw_profiles("raw")).outcome();
    assert_eq!(verified.code, 5, "{}", verified.text());
    assert!(verified.text().contains("1 other thread was running when it ended"), "{}", verified.text());
}

/// What an end that was seen brought to the file is there; where there was none, or one that did not come, it is said that counts
/// may be missing. Each is added to the pool that it belongs in.
#[test]
fn counts_that_found_no_room() {
    const MISSING: &str = "the file could not grow: some counts were kept in memory only, and may be missing";
    let sandbox = Sandbox::new("no-room");
    let program = compile(&sandbox, &tool("bbprof-cc"), "profiled", &[]);
    let ways = [
        ("limited_thread", 6, 2000, true),
        ("limited_thread_at_once", 6, 2000, true),
        ("limited_thread_fails", 6, 3000, true),
        ("limited_thread_killed", 128 + 9, 1000, false),
        ("limited_thread_fails_killed", 128 + 9, 2000, false),
        ("limited_thread_reset_killed", 128 + 9, 1000, false),
        ("limited_thread_runs_killed", 128 + 9, 1000, false),
    ];
    for (way, code, steps, is_exact) in ways {
        let raw = sandbox.join(format!("{way}.bbraw"));
        Run::new(&program).arg(way).env("BBPROF_OUT", &raw).outcome().expect_code(code);
        let verified = Run::new(tool("bbprof")).arg("verify").arg(&raw).outcome().expect_code(if is_exact { 0 } else { 5 });
        assert_eq!(verified.text().contains(MISSING), !is_exact, "{way}: {}", verified.text());
        assert_eq!(Exported::of(&[raw]).entries("step"), Some(steps), "{way}");
        let pool = sandbox.join(format!("{way}-%m.bbraw"));
        for (way, code) in [(way, code), ("works", 4)] {
            Run::new(&program).arg(way).env("BBPROF_OUT", &pool).outcome().expect_code(code);
        }
        let read = |path: PathBuf| RawProfile::read(&std::fs::read(path).unwrap()).unwrap();
        let is_pool = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(&format!("{way}-"));
        let pools: Vec<RawProfile> = sandbox.raw_profiles("").into_iter().filter(is_pool).map(read).collect();
        let processes = |pool: &RawProfile| pool.pooled.iter().map(|(_, processes)| processes).sum::<u64>();
        let expected = if is_exact { &[2][..] } else { &[1, 1] };
        assert_eq!(pools.iter().map(processes).collect::<Vec<_>>(), expected, "{way}");
        let mut told = pools.iter().flat_map(|pool| &pool.pooled).filter(|(ending, _)| ending.in_memory.no_room);
        assert_eq!(told.next().is_some(), !is_exact, "{way}");
    }
}

/// Where another root has a folder of the same name, the complete file is written there; the first one learns of the end, too.
#[test]
fn the_same_folder_in_another_root() {
    const PROGRAM: &str = "#include <unistd.h>\nint main(void) { return chroot(\"root\") == 0 ? 9 : 8; }\n";
    let sandbox = Sandbox::new("another-root");
    let (source, program) = (sandbox.write("program.c", PROGRAM), sandbox.join("program"));
    Run::new(tool("bbprof-cc")).args(["-O1", "-D_DEFAULT_SOURCE", "-o"]).arg(&program).arg(&source).ok();
    let there = sandbox.join(format!("root/{}/raw", sandbox.path().display()));
    for folder in [&there, &sandbox.join("raw")] {
        std::fs::create_dir_all(folder).unwrap();
    }
    let run = Run::new("unshare").arg("-r").arg(&program).in_folder(sandbox.path());
    run.env("BBPROF_OUT", sandbox.join("raw/x.bbraw")).outcome().expect_code(9);
    for folder in [&there, &sandbox.join("raw")] {
        let verify = Run::new(tool("bbprof")).arg("verify").arg(folder.join("x.bbraw"));
        let verified = verify.env("BBPROF_MAPS", sandbox.path()).ok().text();
        assert!(verified.contains(": exit 9\n"), "{verified}");
    }
}

/// Processes that have the same number, in namespaces of their own, and one name for their files.
#[test]
fn one_number_for_many_processes() {
    let sandbox = Sandbox::new("one-number");
    let program = compile(&sandbox, &tool("bbprof-cc"), "profiled", &[]);
    std::fs::create_dir(sandbox.join("raw")).unwrap();
    let raw = sandbox.join("raw/one.bbraw");
    for _ in 0..5 {
        let start = |_| {
            let mut command = Command::new("unshare");
            command.args(["-rpf"]).arg(&program).arg("works").env("BBPROF_OUT", &raw).current_dir(sandbox.path());
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let children: Vec<_> = (0..6).map(start).collect();
        let mut silent = 0;
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert_eq!((output.status.code(), &*output.stdout), (Some(4), &b"sum 721611\n"[..]));
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(said.lines().count() <= 1, "{said}");
            silent += usize::from(said.is_empty());
        }
        assert!(silent > 0, "one of them keeps its file");
        // Those that also began in the same moment are taken for one process before and behind an exec: its files have numbers.
        let profiles = sandbox.raw_profiles("raw");
        Run::new(tool("bbprof")).arg("verify").args(&profiles).ok();
        assert_eq!(std::fs::read_dir(sandbox.join("raw")).unwrap().count(), profiles.len(), "temporary files are left");
    }
}
