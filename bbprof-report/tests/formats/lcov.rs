//! The lcov export: its text, and what lcov itself reads in it.

use crate::example::{profile, text};
use bbprof_report::{Coverage, write_lcov};
use std::process::Command;

const EXPECTED: &str = "\
TN:unit_test
SF:/src/a.c
FN:1,f
FN:7,g
FN:9,_ZN5never3runE
FNDA:3,f
FNDA:8,g
FNDA:0,_ZN5never3runE
FNF:3
FNH:2
BRDA:2,0,0,8
BRDA:2,0,1,2
BRDA:3,0,0,5
BRDA:3,0,1,2
BRF:4
BRH:4
DA:1,3
DA:2,10
DA:3,8
DA:4,5
DA:5,2
DA:6,2
DA:7,8
DA:8,8
DA:9,0
LF:9
LH:8
end_of_record
";

#[test]
fn records() {
    assert_eq!(text(|out| write_lcov(&profile(), "unit test", Coverage::default(), out)), EXPECTED);
}

/// Requires lcov (the set-up of the tests installs it).
#[test]
fn lcov_reads_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.info");
    std::fs::write(&path, text(|out| write_lcov(&profile(), "", Coverage::default(), out))).expect("written");
    let output =
        Command::new("lcov").args(["--rc", "lcov_branch_coverage=1", "--summary"]).arg(&path).output().expect("lcov is installed");
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    for figure in ["8 of 9 lines", "2 of 3 functions", "4 of 4 branches"] {
        assert!(said.contains(figure), "{said}");
    }
}
