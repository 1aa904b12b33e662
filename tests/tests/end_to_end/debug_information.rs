//! bbprof needs lines, but objects and programs have the debug information that was asked for, and no other.
#![allow(clippy::unwrap_used)]

use bbprof_format::manifest::{LocationId, Manifest};
use bbprof_format::map::BuildMap;
use bbprof_tests::{Cargo, Run, Sandbox, tool};
use std::collections::{BTreeSet, HashSet};
use std::path::Path;

/// The sections with debug information in an object or program.
fn debug_sections(file: &Path) -> BTreeSet<String> {
    let table = Run::new("readelf").arg("-SW").arg(file).ok().text();
    table.split_whitespace().filter(|word| word.starts_with(".debug_")).map(str::to_owned).collect()
}

/// Whether the report of a profile knows where a function stands.
fn report_has(profile: &Path, place: &str) -> bool {
    Run::new(tool("bbprof")).arg("report").arg(profile).ok().text().contains(place)
}

/// As other compilers' IR may have it: LLVM asks for a file only where there is a line.
#[test]
fn of_a_function_without_a_file() {
    let sandbox = Sandbox::new("debug-no-file");
    let text = "target triple = \"x86_64-pc-linux-gnu\"
define i32 @main() !dbg !3 {
  %r = call i32 @made(), !dbg !6
  ret i32 %r, !dbg !6
}
define internal i32 @made() !dbg !7 {
  ret i32 0, !dbg !8
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, producer: \"x\", isOptimized: false, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: \"a.c\", directory: \"/source\")
!2 = !{i32 2, !\"Debug Info Version\", i32 3}
!3 = distinct !DISubprogram(name: \"main\", scope: !1, file: !1, line: 1, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!4 = !DISubroutineType(types: !5)
!5 = !{}
!6 = !DILocation(line: 2, scope: !3)
!7 = distinct !DISubprogram(name: \"made\", scope: null, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!8 = !DILocation(line: 3, scope: !7)
";
    let source = sandbox.write("a.ll", text);
    let program = sandbox.join("a");
    Run::new(tool("bbprof-cc")).arg("-O0").arg(&source).arg("-o").arg(&program).in_folder(sandbox.path()).ok();
    let profile = sandbox.join("a.bbraw");
    Run::new(&program).env("BBPROF_OUT", &profile).ok();
    let verified = Run::new(tool("bbprof")).arg("verify").arg(&profile).ok().text();
    assert!(verified.contains("exact: 2 functions"), "{verified}");
    assert!(report_has(&profile, "main  a.c:1"));
    let lines = Run::new(tool("bbprof")).args(["export", "lcov=-"]).arg(&profile).ok().text();
    assert!(lines.contains("DA:2,1") && !lines.contains("DA:3"), "{lines}");
}

#[test]
fn of_c() {
    let sandbox = Sandbox::new("debug-c");
    let source = sandbox.write("a.c", "int main(int argc, char **argv) {\n  return argc - 1;\n}\n");
    let compiled = |compiler: &Path, name: &str, options: &[&str]| {
        let program = sandbox.join(name);
        Run::new(compiler).args(options).arg(&source).arg("-o").arg(&program).in_folder(sandbox.path()).ok();
        program
    };
    let all: [&[&str]; 10] = [
        &[],
        &["-O2"],
        &["-O2", "-g"],
        &["-O2", "-g1"],
        &["-O1", "-ggdb3"],
        &["-gline-tables-only"],
        &["-O2", "-gdwarf-4"],
        &["-O2", "-g", "-gsplit-dwarf"],
        &["-O2", "-g0"],
        &["-O2", "-g", "-g0"],
    ];
    for options in all {
        let plain = compiled("clang-22".as_ref(), "plain", options);
        let program = compiled(&tool("bbprof-cc"), "program", options);
        assert_eq!(debug_sections(&program), debug_sections(&plain), "{options:?}");
        let raw = sandbox.join("run.bbraw");
        let _ = std::fs::remove_file(&raw);
        Run::new(&program).env("BBPROF_OUT", &raw).ok();
        // Whoever says -g0 wants no lines at all.
        assert_eq!(report_has(&raw, "a.c:1"), !options.contains(&"-g0"), "{options:?}");
        for kind in ["lcov=-", "cobertura=-"] {
            let export = Run::new(tool("bbprof")).args(["export", kind]).arg(&raw).ok();
            assert_eq!(
                export.stderr.contains("no source line is known"),
                options.contains(&"-g0"),
                "{options:?}: {}",
                export.stderr
            );
            assert_eq!(export.text().contains("line-rate=\"0.0000\""), kind.starts_with('c') && options.contains(&"-g0"));
        }
    }
    let assembly = sandbox.write("b.S", ".text\n.globl f\nf: ret\n");
    for (options, has_any) in [(&["-c"][..], false), (&["-c", "-g"], true)] {
        let object = sandbox.join("b.o");
        Run::new(tool("bbprof-cc")).args(options).arg(&assembly).arg("-o").arg(&object).ok();
        assert_eq!(!debug_sections(&object).is_empty(), has_any, "{options:?}");
    }
}

/// From 22 on clang's are several where debuggers have several steps there (`-gkey-instructions`).
#[test]
fn a_place_is_one_location() {
    let sandbox = Sandbox::new("debug-places");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/loops/main.c");
    for level in ["-O0", "-O2"] {
        let program = sandbox.join("loops");
        Run::new(tool("bbprof-cc")).arg(level).arg(&source).arg("-o").arg(&program).ok();
        let map = BuildMap::decode(&std::fs::read(sandbox.join("loops.bbmap")).unwrap()).unwrap();
        let module = Manifest::read(&map.body.modules[0].manifest).unwrap().module().unwrap();
        // Two calls at one place are two all the same.
        let calls: BTreeSet<LocationId> = module.locations.iter().filter_map(|location| location.inlined_at).collect();
        let places = module.locations.iter().enumerate().filter(|(id, _)| !calls.contains(&LocationId(*id as u32)));
        let mut known = HashSet::new();
        let again: Vec<_> = places.filter(|(_, place)| !known.insert(*place)).collect();
        assert!(known.len() > 100 && again.is_empty(), "{level}: {again:?} of {}", known.len());
    }
}

#[test]
fn of_rust() {
    let sandbox = Sandbox::new("debug-rust");
    let profile = |name: &str, settings: &str| format!("[profile.{name}]\ninherits = \"release\"\nstrip = false\n{settings}\n");
    let profiles =
        [("none", ""), ("fat", "lto = \"fat\""), ("thin", "lto = \"thin\""), ("lines", "debug = 1"), ("all", "debug = true")];
    let manifest = "[package]\nname = \"debugged\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n".to_owned();
    sandbox.write("Cargo.toml", manifest + &profiles.map(|(name, settings)| profile(name, settings)).join("\n"));
    sandbox.write("Cargo.lock", "version = 4\n\n[[package]]\nname = \"debugged\"\nversion = \"0.1.0\"\n");
    sandbox.write("src/main.rs", "fn main() {\n    println!(\"{:?}\", std::env::args().skip(1).collect::<Vec<_>>());\n}\n");
    let package = Cargo::new(sandbox.path(), sandbox.join("target"));
    for (name, _) in profiles {
        package.plain("build", &["--quiet", "--profile", name]).ok();
        package.profiled("run", &["--quiet", "--no-report", "--profile", name], &sandbox).ok();
        let built = |folder: &str| sandbox.join("target").join(folder).join(name).join("debugged");
        assert_eq!(debug_sections(&built("bbprof/build/x86_64-unknown-linux-gnu")), debug_sections(&built("")), "{name}");
        let profiles = sandbox.raw_profiles("raw");
        assert_eq!(profiles.len(), 1, "{name}");
        assert!(report_has(&profiles[0], "main.rs:1"), "{name}");
        std::fs::remove_file(&profiles[0]).unwrap();
    }
}
