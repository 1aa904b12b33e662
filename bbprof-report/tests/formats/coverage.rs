//! Cobertura, and the markers that take lines out of it and of lcov.

use crate::example::{profile, run_one_line, text};
use crate::readers::said_of;
use bbprof_report::{Coverage, write_cobertura, write_lcov};
use std::io;

const DTD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/formats/coverage-04.dtd");

fn cobertura(root: &str) -> String {
    text(|out| write_cobertura(&profile(), root, Coverage::default(), out))
}

/// Validates against the grammar beside this file, which the report names by its address.
fn validate(xml: &str) {
    let here = xml.replace("http://cobertura.sourceforge.net/xml/coverage-04.dtd", DTD);
    assert_ne!(here, xml);
    said_of(here.as_bytes(), "c.xml", "xmllint", &["--noout", "--nonet", "--valid", "{}"]);
}

fn asked(xml: &str, xpath: &str) -> String {
    said_of(xml.as_bytes(), "c.xml", "xmllint", &["--nonet", "--xpath", xpath, "{}"]).trim_end().to_owned()
}

/// Requires libxml2-utils. The numbers are those of the lcov test.
#[test]
fn cobertura_is_valid_and_has_the_numbers() {
    let xml = cobertura("/src");
    validate(&xml);
    for (path, value) in [
        ("string(/coverage/@lines-covered)", "8"),
        ("string(/coverage/@lines-valid)", "9"),
        ("string(/coverage/@line-rate)", "0.8888"),
        ("string(/coverage/@branches-valid)", "4"),
        ("string(//source)", "/src"),
        ("string(//class/@filename)", "a.c"),
        ("string(//class/lines/line[@number=3]/@hits)", "8"),
        ("string(//class/lines/line[@number=3]/@condition-coverage)", "100% (2/2)"),
        ("string(//method[3]/@name)", "never::run"),
        ("string(//method[3]/@line-rate)", "0.0000"),
        ("count(//class/lines/line)", "9"),
    ] {
        assert_eq!(asked(&xml, path), value, "{path}");
    }
    assert_eq!(asked(&cobertura(""), "string(//class/@filename)"), "/src/a.c");
    assert_eq!(asked(&cobertura("/sr"), "string(//class/@filename)"), "/src/a.c", "/sr is no folder above it");
}

/// The validation is not blind.
#[test]
#[should_panic(expected = "xmllint")]
fn what_is_not_valid_is_refused() {
    validate(&cobertura("/src").replace(" hits=", " visits="));
}

const MARKED: &str = "int f(int n) {\n for (;;) // LCOV_EXCL_BR_LINE\n  if (g(i))\n   a(); // LCOV_EXCL_LINE\n  else b();\n}\n\
                      // GCOV_EXCL_START\n { return x & 1; }\n// GCOV_EXCL_STOP\n";

#[test]
fn markers_take_lines_branches_and_functions_out() {
    let read = |_: &str| -> io::Result<String> { Ok(MARKED.to_owned()) };
    let lcov = text(|out| write_lcov(&profile(), "", Coverage { markers: Some(&read), ..Coverage::default() }, out));
    assert!(
        lcov.contains(
            "\nFNF:1\nFNH:1\nBRDA:3,0,0,5\nBRDA:3,0,1,2\nBRF:2\nBRH:2\nDA:1,3\nDA:2,10\nDA:3,8\nDA:5,2\nDA:6,2\nLF:5\nLH:5\n"
        ),
        "{lcov}"
    );
    let xml = text(|out| write_cobertura(&profile(), "", Coverage { markers: Some(&read), ..Coverage::default() }, out));
    validate(&xml);
    assert_eq!(asked(&xml, "string(/coverage/@lines-valid)"), "5");
    // Without the text of a source there are no markers.
    let unreadable = |_: &str| -> io::Result<String> { Err(io::ErrorKind::NotFound.into()) };
    assert!(
        text(|out| write_lcov(&profile(), "", Coverage { markers: Some(&unreadable), ..Coverage::default() }, out))
            .contains("\nLF:9\n")
    );
}

/// Readers would take others for them.
#[test]
fn counts_above_64_bits_are_refused() {
    let one_line = |times: u64| run_one_line(times).profile().expect("counters fit the map");
    let none = Coverage::default();
    let largest = text(|out| write_lcov(&one_line(u64::MAX / 2), "", none, out));
    assert!(largest.contains(&format!("DA:8,{}\n", u64::MAX - 1)), "{largest}");
    assert!(write_cobertura(&one_line(u64::MAX / 2), "", none, &mut Vec::new()).is_ok());
    let larger = one_line(u64::MAX / 2 + 1);
    for written in [write_lcov(&larger, "", none, &mut Vec::new()), write_cobertura(&larger, "", none, &mut Vec::new())] {
        let said = written.expect_err("a count is too large").to_string();
        assert!(said.starts_with("/src/a.c:1: 18446744073709551616 executions") && said.contains("64 bits"), "{said}");
    }
}
