//! Counts by tools that share no code with bbprof: gcov's line counts, callgrind's calls, and what lcov makes of the export.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use bbprof_tests::{CProgram, Exported, LineCounts, Run, Sandbox, calm_lua, differences, gcov_lines, tool, traced_files};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn lines_program() -> CProgram {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/lines/lines.c");
    CProgram { name: "lines", sources: vec![source], options: vec![], libraries: vec![], arguments: vec![], exit_code: 0 }
}

/// Builds with these options of `compiler`, in a folder of this name, and gives the program.
fn build(program: &CProgram, compiler: &Path, options: &[&str], sandbox: &Sandbox, name: &str) -> PathBuf {
    program.build(compiler, options, sandbox.join(name).join(program.name))
}

fn run(program: &CProgram, binary: &Path) -> Run {
    Run::new(binary).args(&program.arguments).in_folder(binary.parent().unwrap())
}

/// Line counts by gcov, by source file.
fn by_gcov(program: &CProgram, compiler: &Path, gcov: &[&str], sandbox: &Sandbox, name: &str) -> BTreeMap<PathBuf, LineCounts> {
    let binary = build(program, compiler, &["-O0", "--coverage"], sandbox, name);
    run(program, &binary).outcome().expect_code(program.exit_code);
    let folder = binary.parent().unwrap();
    let data: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let mut counts = BTreeMap::new();
    for data in data.iter().filter(|path| path.extension().is_some_and(|extension| extension == "gcda")) {
        let text = Run::new(gcov[0]).args(&gcov[1..]).arg("-t").arg(data).in_folder(folder).ok().text();
        // One section for each source file, headers included.
        for section in text.split("-:    0:Source:").skip(1) {
            let source = PathBuf::from(section.lines().next().unwrap());
            if program.sources.contains(&source) {
                counts.insert(source, gcov_lines(section));
            }
        }
    }
    // Some of Lua's files hold tables only.
    assert!(counts.len() + 2 >= program.sources.len(), "gcov counted {} sources only", counts.len());
    counts
}

/// The trace file of a profiled run.
fn traced(program: &CProgram, sandbox: &Sandbox, level: &str) -> String {
    let binary = build(program, &tool("bbprof-cc"), &[level, "--bbprof-counters=check"], sandbox, &format!("profiled{level}"));
    let raw = sandbox.join(format!("{}{level}.bbraw", program.name));
    run(program, &binary).env("BBPROF_OUT", &raw).outcome().expect_code(program.exit_code);
    Run::new(tool("bbprof")).arg("verify").arg(&raw).ok();
    Run::new(tool("bbprof")).args(["export", "lcov=-"]).arg(&raw).ok().text()
}

/// Lines of Lua on which neither gcov has the number of visits: how they begin, and what is right instead.
const LUA_TOLD: [(&str, u64); 3] = [
    // A call whose arguments stand on the next line: both gcovs count the line again for the call itself.
    ("L->ci = ci = prepCallInfo(L, func, nresults, CIST_C,", 436),
    ("seminfo->ts = luaX_newstring(ls, luaZ_buffer(ls->buff) + 1,", 7),
    // `?` of a condition that macros spread over several blocks.
    ("if (ttisinteger(rb)  /* fast track for integers? */", 336),
];

/// True counts, by line: a comment `/*= 19 times */` of `lines.c`, or of Lua what is told above.
fn told(source: &Path) -> LineCounts {
    let text = std::fs::read_to_string(source).unwrap();
    let of_line = |line: &str| {
        let by_comment = line.split_once("/*= ").and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
        by_comment.or_else(|| LUA_TOLD.iter().find(|(begin, _)| line.trim() == *begin).map(|(_, count)| *count))
    };
    (1_u32..).zip(text.lines()).filter_map(|(number, line)| Some((number, of_line(line)?))).collect()
}

/// Every line has the count that gcc's gcov gives it, but for lines that gcc finds no code in.
///
/// The compilers do not always give the parts of a statement to the same lines. So where the two gcovs differ, clang's count
/// will do, or the true count, told by a comment.
fn lines_agree(program: &CProgram, min_lines: usize) {
    let sandbox = Sandbox::new("gcov");
    let clang = by_gcov(program, "clang-22".as_ref(), &["llvm-cov-22", "gcov"], &sandbox, "by-clang");
    let gcc = by_gcov(program, "gcc".as_ref(), &["gcov"], &sandbox, "by-gcc");
    let files = traced_files(&traced(program, &sandbox, "-O0"));
    let (mut alike, mut disputed, mut all) = (0, 0, Vec::new());
    for (source, clang) in &clang {
        let found =
            &files.get(source.to_str().unwrap()).unwrap_or_else(|| panic!("{} is not in the export", source.display())).lines;
        assert_eq!(found.keys().collect::<Vec<_>>(), clang.keys().collect::<Vec<_>>(), "{}: lines with code", source.display());
        let told = told(source);
        let mut expected = found.clone();
        for (line, count) in found {
            let by_clang = clang[line];
            let Some(by_gcc) = gcc[source].get(line).copied() else { continue };
            let right = match told.get(line) {
                Some(told) => *told,
                None if by_gcc != by_clang && *count == by_clang => by_clang,
                None => by_gcc,
            };
            expected.insert(*line, right);
            if right == by_gcc { alike += 1 } else { disputed += 1 }
        }
        all.extend(differences(source, &expected, found));
    }
    assert!(all.is_empty(), "{}: {} of {alike} lines, {disputed} disputed, differ\n{}", program.name, all.len(), all.join("\n"));
    assert!(alike > min_lines && disputed * 15 < alike, "{}: {alike} lines, {disputed} disputed", program.name);
    eprintln!("{}: {alike} lines as gcc's gcov has them, {disputed} that clang puts elsewhere", program.name);
}

#[test]
fn lines_equal_gcovs() {
    lines_agree(&lines_program(), 60);
}

#[test]
fn lua_lines_equal_gcovs() {
    lines_agree(&calm_lua(), 9_000);
}

/// Calls by callee in `program`, as callgrind wrote them: other objects may have functions of the same names.
fn callgrind_calls(text: &str, program: &Path) -> BTreeMap<String, u64> {
    // Names come once, with an id; objects and functions have ids of their own.
    let mut names: BTreeMap<(bool, String), String> = BTreeMap::new();
    let mut name_of = |is_object: bool, text: &str| match text.split_once(") ") {
        Some((id, name)) => {
            names.insert((is_object, id.to_owned()), name.to_owned());
            name.to_owned()
        }
        None => names[&(is_object, text.trim_end_matches(')').to_owned())].clone(),
    };
    let mut calls: BTreeMap<String, u64> = BTreeMap::new();
    let (mut object, mut callees_object, mut callee) = (String::new(), None, String::new());
    for line in text.lines() {
        let Some((key, value)) = line.split_once('=') else { continue };
        match key {
            "ob" => object = name_of(true, value),
            "cob" => callees_object = Some(name_of(true, value)),
            "fn" => drop(name_of(false, value)),
            "cfn" => callee = name_of(false, value),
            "calls" => {
                let count: u64 = value.split_whitespace().next().unwrap().parse().unwrap();
                if Path::new(callees_object.as_ref().unwrap_or(&object)) == program {
                    // Within a cycle a function is called name'2.
                    *calls.entry(callee.split('\'').next().unwrap().to_owned()).or_default() += count;
                }
                callees_object = None;
            }
            _ => {}
        }
    }
    calls
}

#[test]
fn entries_equal_callgrinds_calls() {
    for program in [calm_lua(), lines_program()] {
        let sandbox = Sandbox::new("callgrind");
        let plain = build(&program, "clang-22".as_ref(), &["-O0"], &sandbox, "plain");
        let out = sandbox.join("callgrind.out");
        Run::new("valgrind")
            .args(["--tool=callgrind", "--quiet"])
            .arg(format!("--callgrind-out-file={}", out.display()))
            .arg(&plain)
            .args(&program.arguments)
            .in_folder(sandbox.path())
            .outcome()
            .expect_code(program.exit_code);
        let calls = callgrind_calls(&std::fs::read_to_string(&out).unwrap(), &plain);
        let binary = build(&program, &tool("bbprof-cc"), &["-O0"], &sandbox, "profiled");
        let raw = sandbox.join("run.bbraw");
        run(&program, &binary).env("BBPROF_OUT", &raw).outcome().expect_code(program.exit_code);
        let exported = Exported::of(&[raw]);
        let mut entries: BTreeMap<String, u64> = BTreeMap::new();
        for function in exported.functions() {
            *entries.entry(function.value["symbol"].as_str().unwrap().to_owned()).or_default() += function.entries();
        }
        let mut executed = 0;
        for (name, count) in &entries {
            assert_eq!(calls.get(name).copied().unwrap_or(0), *count, "{}: calls of {name}", program.name);
            executed += usize::from(*count > 0);
        }
        assert!(executed >= 10, "{executed} functions");
        eprintln!("{}: the calls of {executed} executed functions of {} agree", program.name, entries.len());
    }
}

/// lcov 1.16 takes the export without a word on stderr, and a function with a hit line is hit (what lcov 2 insists on).
#[test]
fn lcov_accepts_the_export() {
    let sandbox = Sandbox::new("lcov");
    for level in ["-O0", "-O2"] {
        for program in [lines_program(), calm_lua()] {
            let text = traced(&program, &sandbox, level);
            let info = sandbox.write("trace.info", &text);
            let summary = Run::new("lcov").args(["--summary", "--rc", "lcov_branch_coverage=1"]).arg(&info).ok();
            let said = summary.text() + &summary.stderr;
            for part in ["lines", "functions", "branches"] {
                let line = said.lines().find(|line| line.trim_start().starts_with(part)).unwrap_or_else(|| panic!("{said}"));
                assert!(line.contains(" of "), "{level}: {line}");
            }
            assert!(!said.contains("WARNING") && !said.contains("ERROR") && !said.contains("no data"), "{said}");
            let html = sandbox.join("html");
            let made = Run::new("genhtml").args(["--branch-coverage", "-o"]).arg(&html).arg(&info).ok();
            assert!(!made.stderr.contains("WARNING") && !made.stderr.contains("ERROR"), "{}", made.stderr);
            // Adding it to itself doubles it: lcov understood every record.
            let doubled = Run::new("lcov").arg("-a").arg(&info).arg("-a").arg(&info).arg("-o").arg(sandbox.join("doubled.info"));
            doubled.args(["--rc", "lcov_branch_coverage=1"]).ok();
            let doubled = traced_files(&std::fs::read_to_string(sandbox.join("doubled.info")).unwrap());
            let files = traced_files(&text);
            assert_eq!(files.len(), doubled.len());
            for (path, file) in &files {
                let twice: LineCounts = file.lines.iter().map(|(line, count)| (*line, count * 2)).collect();
                assert_eq!(doubled[path].lines, twice, "{path}");
                hit_lines_are_in_hit_functions(path, file);
            }
        }
    }
}

/// lcov 2's check: no line between a function's first line and the next function's is hit when the function is not.
fn hit_lines_are_in_hit_functions(path: &str, file: &bbprof_tests::TracedFile) {
    let mut starts: Vec<(u32, &String, u64)> = file.functions.iter().map(|(name, (line, count))| (*line, name, *count)).collect();
    starts.sort_unstable();
    for (position, (start, name, count)) in starts.iter().enumerate() {
        let end = starts[position + 1..].iter().map(|next| next.0).find(|next| next > start).unwrap_or(u32::MAX);
        // Others may begin on the same line (macros that define functions): then one of them has to be hit.
        let any_hit = *count > 0 || starts.iter().any(|other| other.0 == *start && other.2 > 0);
        let hit = file.lines.range(start..).take_while(|(line, _)| **line < end).find(|(_, count)| **count > 0);
        assert!(any_hit || hit.is_none(), "{path}: function {name} is not hit but line {hit:?} is");
    }
}
