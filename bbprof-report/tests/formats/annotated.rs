//! Annotated source.

use crate::example::{PLAIN, profile, run, text};
use crate::support::*;
use bbprof_profile::{CounterMode, Linkage};
use bbprof_report::{Style, Subject, SubjectError, annotate, find_subject, write_copies, write_ir};
use std::io;

const SOURCE: &str =
    "int f(int n) {\n for (int i = 0; i < n; i++)\n  if (g(i))\n   a();\n  else b();\n}\nint g(int x)\n { return x & 1; }\n\n";

#[test]
fn a_function() {
    let profile = profile();
    let subject = find_subject(&profile, "f").expect("f is there");
    let expected = "\
f
entered 3 times, 105 instructions
/src/a.c:1
    3       1  int f(int n) {
   10 *     2   for (int i = 0; i < n; i++)
               branch: 80.0 % / 20.0 %
    8 *     3    if (g(i))
               branch: 71.4 % / 28.6 %
    5 *     4     a();
    2 *     5    else b();
    2       6  }
";
    assert_eq!(text(|out| annotate(&profile, &subject, |_| Ok(SOURCE.to_owned()), PLAIN, out)), expected);
}

/// `#line` may put code anywhere.
#[test]
fn a_line_far_behind_the_text() {
    let mut maker = ModuleMaker::new("a.c", CounterMode::Edges);
    let far = leaf(&mut maker, "far", Linkage::Internal);
    maker.module.functions[far].line = 9;
    maker.module.locations.iter_mut().for_each(|location| location.line = u32::MAX);
    let mut run = Run::new(&[(&maker, None)]);
    run.walk(&maker, far, &[0, 1], 5);
    let profile = run.profile().expect("counters fit the map");
    let subject = find_subject(&profile, "far").expect("it is there");
    let shown = text(|out| annotate(&profile, &subject, |_| Ok(SOURCE.to_owned()), PLAIN, out));
    let lines: Vec<&str> = shown.lines().skip(3).collect();
    assert!(lines[0].contains("changed since the build"), "{shown}");
    assert_eq!((lines.len(), lines.last()), (3, Some(&"    5 * 4294967295")), "{shown}");
}

/// Compilers make functions that begin nowhere, of code that stands somewhere.
#[test]
fn a_function_without_a_line() {
    let mut maker = ModuleMaker::new("a.c", CounterMode::Edges);
    let init = leaf(&mut maker, "init", Linkage::Internal);
    maker.module.functions[init].line = 0;
    maker.module.locations.iter_mut().for_each(|location| location.function_line = 0);
    let mut run = Run::new(&[(&maker, None)]);
    run.walk(&maker, init, &[0, 1], 5);
    let profile = run.profile().expect("counters fit the map");
    let subject = find_subject(&profile, "init").expect("it is there");
    let expected = "init\nentered 5 times, 20 instructions\n/src/a.c:8\n    5 *     8   { return x & 1; }\n";
    assert_eq!(text(|out| annotate(&profile, &subject, |_| Ok(SOURCE.to_owned()), PLAIN, out)), expected);
}

#[test]
fn sources_that_are_missing_or_too_short_are_named_and_the_counts_stay() {
    let profile = profile();
    let subject = find_subject(&profile, "a.c").expect("the file is there");
    assert!(matches!(subject, Subject::File(_)));
    let missing = text(|out| annotate(&profile, &subject, |_| Err(io::ErrorKind::NotFound.into()), PLAIN, out));
    assert!(missing.contains("(source not shown: entity not found)"), "{missing}");
    assert!(missing.contains("   10 *     2\n"), "{missing}");
    let short = text(|out| annotate(&profile, &subject, |_| Ok("one\ntwo\n".to_owned()), PLAIN, out));
    assert!(short.contains("(the file has 2 lines, but code on line 9: it was changed since the build)"), "{short}");
    assert!(short.contains("    8 *     8\n"), "{short}");
}

#[test]
fn names_are_found_by_their_end() {
    let profile = profile();
    for name in ["never::run", "run", "_ZN5never3runE"] {
        assert!(matches!(find_subject(&profile, name), Ok(Subject::Functions(found, _)) if found.len() == 1), "{name}");
    }
    let Err(SubjectError::NotFound { nearest, .. }) = find_subject(&profile, "ever") else { panic!("there is no such name") };
    assert_eq!(nearest, ["never::run"]);
    let why = find_subject(&profile, "naked_one").expect_err("it has no counts").to_string();
    assert_eq!(why, "\"naked_one\" was not instrumented: a.c: it is naked");
}

#[test]
fn functions_whose_counters_make_no_flow_are_not_taken_for_unknown() {
    let mut run = run();
    run.counters.tls[0] = u64::MAX;
    let profile = run.profile().expect("it fits");
    let why = find_subject(&profile, "f").expect_err("it has no counts").to_string();
    assert!(why.starts_with("\"f\" has no counts: f, ") && why.ends_with("; see `bbprof verify`"), "{why}");
}

#[test]
fn functions_that_are_only_inlined() {
    let mut maker = ModuleMaker::new("a.cpp", CounterMode::Edges);
    let host = leaf(&mut maker, "_Z4hosti", Linkage::External);
    let call = maker.location("_Z4hosti", 8, None);
    let inlined = maker.location("_ZN1a1S3getEi", 3, Some(call));
    maker.module.functions[host].nodes[0].locations = vec![(inlined, 4)];
    let mut run = Run::new(&[(&maker, None)]);
    run.walk(&maker, host, &[0, 1], 7);
    let profile = run.profile().expect("counters fit the map");
    for name in ["a::S::get(int)", "a::S::get", "get", "_ZN1a1S3getEi"] {
        let subject = find_subject(&profile, name).expect("its copy is there");
        assert!(matches!(&subject, Subject::Inlined(places, _) if places.len() == 1), "{name}");
        let said = text(|out| annotate(&profile, &subject, |_| Ok("\n\nget() {}\n".to_owned()), PLAIN, out));
        let where_to = "executed 7 times; `bbprof report --copies=a::S::get` says where\n";
        let expected = format!(
            "a::S::get(int)\nis inlined wherever it is called: {where_to}/src/a.cpp:1\n    7       1\n            2\n    7 *     3  get() {{}}\n"
        );
        assert_eq!(said, expected);
    }
    // What begins on its line is no copy of it.
    let subject = find_subject(&profile, "host").expect("it is there");
    let said = text(|out| annotate(&profile, &subject, |_| Ok(String::new()), PLAIN, out));
    assert!(said.starts_with("host(int)\nentered 7 times, 28 instructions\n/src/a.cpp:1\n"), "{said}");
    let mut found = 0;
    let write =
        |out: &mut dyn io::Write| write_copies(&profile, "a::S::get", 9, PLAIN, &|_| None, out).map(|functions| found = functions);
    assert!(text(write).contains("in host(int)"));
    assert_eq!(found, 1);
}

#[test]
fn hot_lines_and_those_that_never_ran_are_coloured() {
    let profile = profile();
    let subject = find_subject(&profile, "a.c").expect("the file is there");
    let style = Style { colour: true, ..PLAIN };
    let said = text(|out| annotate(&profile, &subject, |_| Ok(SOURCE.to_owned()), style, out));
    assert!(said.contains("\u{1b}[1;31m   10 *     2   for (int i = 0; i < n; i++)\u{1b}[0m\n"), "{said:?}");
    assert!(said.contains("\u{1b}[2m    0       9\u{1b}[0m\n"), "{said:?}");
}

/// As of an `async fn`, whose own code only makes the future.
#[test]
fn functions_of_their_own_within_one_are_named() {
    let mut maker = ModuleMaker::new("a.rs", CounterMode::Edges);
    for symbol in ["_ZN1a5fetch17h0123456789abcdefE", "_ZN1a5fetch28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE"] {
        leaf(&mut maker, symbol, Linkage::External);
    }
    leaf(&mut maker, "_ZN1a7fetcher17h0123456789abcdefE", Linkage::External);
    let profile = Run::new(&[(&maker, None)]).profile().expect("counters fit the map");
    let shown = |name: &str| {
        let subject = find_subject(&profile, name).expect("it is there");
        text(|out| annotate(&profile, &subject, |_| Ok(SOURCE.to_owned()), PLAIN, out))
    };
    let said = shown("fetch");
    let expected = "\nclosures in it, and the body of an async fn, are functions of their own: 'a::fetch::{{closure}}'\n";
    assert!(said.contains(expected), "{said}");
    assert!(!shown("a::fetch::{{closure}}").contains("closures in it") && !shown("fetcher").contains("closures in it"));
}

#[test]
fn generated_code() {
    let profile = profile();
    let Ok(Subject::Functions(functions, _)) = find_subject(&profile, "f") else { panic!("f is there") };
    let said = text(|out| write_ir(&profile, functions[0], PLAIN, out));
    assert!(
        said.starts_with(
            "f\nentered 3 times, 105 instructions\n(opcodes only: the build kept no IR; --ir does, or --bbprof-ir of bbprof-cc)\n"
        ),
        "{said}"
    );
    assert!(said.contains("\n#1  10  a.c:2\n    3 add\n    -> #2  8 (80.0 %)\n    -> #6  2 (20.0 %)\n"), "{said}");
    assert!(said.contains("\n#2  8  a.c:3\n    3 add, call\n    -> #3  5 (71.4 %)\n    -> #4  2 (28.6 %)\n"), "{said}");
}
