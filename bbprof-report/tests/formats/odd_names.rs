//! Names that formats have reason to fear survive each of them: spaces, `;`, `,`, quotes, angle brackets, UTF-8, 10,000 characters.
//! Control characters are shown as `?`, so that none reaches a terminal or ends a line.

use crate::example::text;
use crate::readers::{filtered, said_of};
use crate::schema::check;
use crate::support::*;
use bbprof_profile::{CounterMode, Linkage, Profile};
use bbprof_report::{self as report, Coverage};
use flate2::read::GzDecoder;
use serde_json::Value;
use std::io::{self, Read};

fn long() -> String {
    format!("long<{}>", "(x y);".repeat(1_666))
}

fn names() -> Vec<String> {
    let names = [
        "<alloc::vec::Vec<[u8; 4]> as core::ops::Deref>::deref",
        "std::map<char, std::less<char> >::operator[](char const&)",
        "(anonymous namespace)::größe(日本語)",
        "<script>alert(\"it's & 'this'\")</script>",
        "back\\slash\\n",
        "a=b:7 8",
    ];
    names.into_iter().map(str::to_owned).chain([long()]).collect()
}

/// Each function is one block of 4 instructions that ran as often as its position says, from 1.
fn profile(names: &[String]) -> Profile {
    let mut maker = ModuleMaker::new("dir with spaces/ü;b.c", CounterMode::Edges);
    for (position, name) in names.iter().enumerate() {
        let function = leaf(&mut maker, name, Linkage::External);
        maker.module.functions[function].line = position as u32 + 1;
    }
    let mut run = Run::new(&[(&maker, None)]);
    for position in 0..names.len() {
        run.walk(&maker, position, &[0, 1], position as u64 + 1);
    }
    run.profile().expect("counters fit the map")
}

#[test]
fn callgrind() {
    let (names, profile) = (names(), profile(&names()));
    let out = text(|out| report::write_callgrind(&profile, out));
    let said =
        said_of(out.as_bytes(), "callgrind.out", "callgrind_annotate", &["--threshold=100", "--show-percs=no", "--auto=no", "{}"]);
    for (position, name) in names.iter().enumerate() {
        let line = said.lines().find(|line| line.contains(&format!("b.c:{name}"))).unwrap_or_else(|| panic!("{name}: {said}"));
        assert_eq!(line.split_whitespace().next(), Some(&*(4 * (position + 1)).to_string()), "{line}");
    }
}

#[test]
fn folded() {
    let (names, profile) = (names(), profile(&names()));
    let out = text(|out| report::write_folded(&profile, out));
    for (position, name) in names.iter().enumerate() {
        let line = out.lines().find(|line| line.starts_with(&name.replace(';', ":"))).unwrap_or_else(|| panic!("{name}"));
        let (stack, count) = line.rsplit_once(' ').expect("a count");
        assert_eq!((stack.split(';').count(), count), (1, &*(4 * (position + 1)).to_string()));
    }
}

#[test]
fn json_speedscope_and_pprof() {
    let (names, profile) = (names(), profile(&names()));
    let json: Value = serde_json::from_str(&text(|out| report::write_json(&profile, false, out))).expect("JSON");
    let speedscope: Value = serde_json::from_str(&text(|out| report::write_speedscope(&profile, out))).expect("JSON");
    let schema = serde_json::from_str(include_str!("speedscope/file-format-schema.json")).expect("JSON");
    assert_eq!(check(&schema, &speedscope, "$"), Ok(()));
    let mut packed = Vec::new();
    report::write_pprof(&profile, &mut packed).expect("memory");
    let mut message = Vec::new();
    GzDecoder::new(&packed[..]).read_to_end(&mut message).expect("gzip");
    // A message of our own for the reader: only the string table.
    let schema = "syntax = \"proto3\"; message P { repeated string s = 6; }";
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("p.proto"), schema).expect("written");
    let path = format!("--proto_path={}", folder.path().display());
    let said = filtered(&message, "protoc", &[&path, "--decode=P", "p.proto"]);
    for name in &names {
        let is_name = |value: &Value| value == name;
        assert!(json["functions"].as_array().expect("list").iter().any(|function| is_name(&function["name"])), "{name}");
        let frames = speedscope["shared"]["frames"].as_array().expect("list");
        assert!(frames.iter().any(|frame| is_name(&frame["name"])), "{name}");
        // protoc writes what is not ASCII as octal, byte by byte.
        let octal: String =
            name.bytes().map(|byte| if byte < 128 { (byte as char).to_string() } else { format!("\\{byte:03o}") }).collect();
        let escaped = name.replace('\\', "\\\\").replace('"', "\\\"").replace('\'', "\\'");
        assert!(said.contains(&format!("s: \"{escaped}\"\n")) || said.contains(&format!("s: \"{octal}\"\n")), "{name}");
    }
}

#[test]
fn csv_dot_and_cobertura() {
    let (names, profile) = (names(), profile(&names()));
    let csv = text(|out| report::write_csv(&profile, out));
    let script =
        "import csv,sys,json; csv.field_size_limit(1 << 20); print(json.dumps([r['function'] for r in csv.DictReader(sys.stdin)]))";
    let found: Vec<String> =
        serde_json::from_str(&filtered(csv.as_bytes(), "python3", &["-X", "utf8", "-c", script])).expect("JSON");
    assert_eq!(found, names);
    let xml = text(|out| report::write_cobertura(&profile, "", Coverage::default(), out));
    let script =
        "import sys,json,xml.etree.ElementTree as E; print(json.dumps([m.get('name') for m in E.parse(sys.stdin).iter('method')]))";
    let found: Vec<String> =
        serde_json::from_str(&filtered(xml.as_bytes(), "python3", &["-X", "utf8", "-c", script])).expect("JSON");
    assert_eq!(found, names);
    let files = report::dot_files(&profile);
    let mut file_names: Vec<&str> = files.iter().map(|(name, _)| &**name).collect();
    assert!(
        file_names.iter().all(|name| name.len() < 200 && !name.contains(['/', ' ', '<']) && !name.starts_with('.')),
        "{file_names:?}"
    );
    file_names.sort_unstable();
    file_names.dedup();
    assert_eq!(file_names.len(), names.len());
    for ((_, function), name) in files.iter().zip(&names) {
        let graph = text(|out| report::write_dot(&profile, *function, out));
        let drawn: Value = serde_json::from_str(&filtered(graph.as_bytes(), "dot", &["-Tdot_json"])).expect("JSON");
        // graphviz keeps an escaped backslash as it was written.
        assert_eq!(drawn["name"], name.replace('\\', "\\\\"));
    }
}

#[test]
fn lcov_and_afdo() {
    let (names, profile) = (names(), profile(&names()));
    let lcov = text(|out| report::write_lcov(&profile, "", Coverage::default(), out));
    for (position, name) in names.iter().enumerate() {
        assert!(lcov.contains(&format!("\nFNDA:{},{}\n", position + 1, name.replace(',', ";"))), "{name}");
    }
    said_of(lcov.as_bytes(), "a.info", "lcov", &["--summary", "{}"]);
    let afdo = text(|out| report::write_afdo(&profile, out));
    let again =
        said_of(afdo.as_bytes(), "a.prof", "/usr/lib/llvm-22/bin/llvm-profdata", &["merge", "--sample", "--text", "{}", "-o", "-"]);
    for (position, name) in names.iter().enumerate() {
        let count = position + 1;
        assert!(again.contains(&format!("{name}:{count}:{count}\n")), "{name}: {again}");
    }
}

/// No control character but the line's end leaves any text format, whatever a symbol holds.
#[test]
fn control_characters_do_not_pass() {
    let profile = profile(&["evil\u{1b}[31m\nfn=x\r\u{7}\u{9b}".to_owned()]);
    type Write = fn(&Profile, &mut dyn std::io::Write) -> std::io::Result<()>;
    let writers: [(&str, Write); 8] = [
        ("callgrind", |p, out| report::write_callgrind(p, out)),
        ("folded", |p, out| report::write_folded(p, out)),
        ("lcov", |p, out| report::write_lcov(p, "", Coverage::default(), out).map(drop)),
        ("cobertura", |p, out| report::write_cobertura(p, "", Coverage::default(), out).map(drop)),
        ("speedscope", |p, out| report::write_speedscope(p, out)),
        ("json", |p, out| report::write_json(p, false, out)),
        ("afdo", |p, out| report::write_afdo(p, out)),
        ("dot", |p, out| p.functions().try_for_each(|function| report::write_dot(p, function, out))),
    ];
    for (format, write) in writers {
        let out = text(|out| write(&profile, out));
        let raw = out.chars().find(|c| c.is_ascii_control() && *c != '\n');
        assert_eq!(raw, None, "{format}: {out}");
        assert!(!out.contains("\nfn=x"), "{format}: {out}");
    }
}

/// Requires graphviz, which takes no longer strings. As template arguments, such names come from short symbols.
#[test]
fn dot_cuts_names_that_graphviz_does_not_take() {
    for name in ["x".repeat(20_000), "ü".repeat(20_000), "\\".repeat(20_000), "a\"".repeat(20_000)] {
        let profile = profile(std::slice::from_ref(&name));
        let function = profile.functions().next().expect("one");
        let graph = text(|out| report::write_dot(&profile, function, out));
        let drawn: Value = serde_json::from_str(&filtered(graph.as_bytes(), "dot", &["-Tdot_json"])).expect("JSON");
        let label = drawn["label"].as_str().expect("text");
        assert!(label.starts_with(&name[..4_000]) && label.contains("...\\nentered 1 time,"), "{}", &label[label.len() - 100..]);
    }
}

/// As stdout when the reader of a pipe left; buffers of libraries fill with the long name.
struct ClosedPipe;

impl io::Write for ClosedPipe {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn every_format_tells_that_its_reader_left() {
    let profile = profile(&names());
    type Writer = fn(&Profile, &mut dyn io::Write) -> io::Result<()>;
    let writers: [(&str, Writer); 9] = [
        ("csv", report::write_csv),
        ("callgrind", report::write_callgrind),
        ("folded", report::write_folded),
        ("afdo", report::write_afdo),
        ("pprof", report::write_pprof),
        ("speedscope", report::write_speedscope),
        ("json", |profile, out| report::write_json(profile, false, out)),
        ("lcov", |profile, out| report::write_lcov(profile, "", Coverage::default(), out).map(drop)),
        ("cobertura", |profile, out| report::write_cobertura(profile, "", Coverage::default(), out).map(drop)),
    ];
    for (name, write) in writers {
        let error = write(&profile, &mut ClosedPipe).expect_err("nothing can be written");
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe, "{name}");
    }
}
