//! Where reports in HTML are put: into folders that hold nothing else, and whole.

use bbprof_tests::{Run, Sandbox, tool};
use std::path::PathBuf;

fn profiled(sandbox: &Sandbox) -> PathBuf {
    let (source, program, raw) =
        (sandbox.write("main.c", "int main(void) {}\n"), sandbox.join("program"), sandbox.join("run.bbraw"));
    Run::new(tool("bbprof-cc")).args(["-g", "-o"]).arg(&program).arg(&source).ok();
    Run::new(&program).env("BBPROF_OUT", &raw).ok();
    raw
}

#[test]
fn folders_that_are_not_ours_stay_as_they_are() {
    let sandbox = Sandbox::new("html-folder");
    let raw = profiled(&sandbox);
    let kept = sandbox.write("mine/thesis.txt", "years of work");
    let target = format!("html={}", sandbox.join("mine").display());
    let refused = Run::new(tool("bbprof")).args(["export", &target]).arg(&raw).outcome().expect_code(2);
    assert!(refused.stderr.contains("not a report"), "{}", refused.stderr);
    assert_eq!(std::fs::read_to_string(&kept).expect("it is there"), "years of work");
    let unused = Run::new(tool("bbprof")).args(["export", "json=-", "--single-file", "--no-markers"]).arg(&raw).ok().stderr;
    assert!(
        unused.contains("--single-file is for html, and") && unused.contains("--no-markers is for lcov and cobertura, and"),
        "{unused}"
    );
    let refused = Run::new(tool("bbprof")).args(["export", "html=-"]).arg(&raw).outcome().expect_code(2);
    assert!(refused.stderr.contains("--single-file"), "{}", refused.stderr);
    let page = Run::new(tool("bbprof")).args(["export", "html=-", "--single-file"]).arg(&raw).ok();
    assert!(page.text().starts_with("<!doctype html>"));
    let again = Run::new(tool("bbprof")).args(["export", "html=-", "--single-file"]).arg(&raw).ok();
    assert_eq!(page.stdout, again.stdout, "the same profile gives the same bytes");
}

/// Of a report that could not be written whole, nothing is there, and all of the earlier one.
#[test]
fn an_earlier_report_stays_until_the_next_is_whole() {
    let sandbox = Sandbox::new("html-replaced");
    let raw = profiled(&sandbox);
    let listed =
        || Run::new("sh").args(["-c", "cd kept && find . -type f | sort | xargs md5sum"]).in_folder(sandbox.path()).ok().text();
    let export = format!("ulimit -f {{}}; exec {} export html=kept {}", tool("bbprof").display(), raw.display());
    let export = |blocks: &str| Run::new("bash").args(["-c", &export.replace("{}", blocks)]).in_folder(sandbox.path()).outcome();
    // Nor is anything left where there was none; a folder that was there is as it was.
    std::fs::create_dir(sandbox.join("empty")).expect("a folder");
    for (folder, is_there) in [("kept", false), ("above/kept", false), ("empty", true)] {
        let script = format!("ulimit -f 8; exec {} export html={folder} {}", tool("bbprof").display(), raw.display());
        let failed = Run::new("bash").args(["-c", &script]).in_folder(sandbox.path()).outcome().expect_code(1).stderr;
        assert!(failed.contains(&format!("{folder}: cannot be written")), "{failed}");
        let first = sandbox.join(folder.split('/').next().expect("a name"));
        assert_eq!(std::fs::read_dir(&first).map(Iterator::count).ok(), is_there.then_some(0), "{folder}");
    }
    export("unlimited").expect_code(0);
    let earlier = listed();
    assert!(earlier.contains("./index.html") && earlier.contains("./data/"), "{earlier}");
    let said = export("8").expect_code(1).stderr;
    assert!(said.contains("kept: cannot be written") && said.contains("File too large"), "{said}");
    assert_eq!(listed(), earlier);
    // One that was killed leaves what it had begun, until the next.
    std::fs::create_dir_all(sandbox.join("kept/.new-1234/data")).expect("a folder");
    export("unlimited").expect_code(0);
    assert_eq!(listed(), earlier);
}
