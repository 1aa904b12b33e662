//! Sums of profiles: what `bbprof merge` writes, and what is added up with it.
//!
//! Requires `unshare` (util-linux) and the right to make user namespaces.

use bbprof_tests::{Parcel, ProfiledRun, Run, tool};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// A parcel, built, and a profile of it.
fn profiled() -> (Parcel, ProfiledRun) {
    let parcel = Parcel::new("merge");
    parcel.run(tool("bbprof-cc")).args(["-O1", "-o", "parcel", "main.c", "shelf.c"]).ok();
    let run = parcel.check(&parcel.source().join("parcel"), None, &["parcel"]);
    (parcel, run)
}

/// `merge` takes the place of nothing that is not in the sum: who forgets the output's name gives the first input's.
#[test]
fn sums_take_the_place_of_nothing_else() {
    let (parcel, run) = profiled();
    let other = ProfiledRun::of(&parcel.source().join("parcel"), &[], &parcel.sandbox).raw;
    let map = parcel.source().join("parcel.bbmap");
    let merge = |output: &Path, inputs: &[&Path]| Run::new(tool("bbprof")).args(["merge", "-o"]).arg(output).args(inputs).outcome();
    let refuses = |output: &Path, inputs: &[&Path]| {
        let said = merge(output, inputs).expect_code(2).stderr;
        assert!(said.contains(output.to_str().unwrap()) && said.contains("would be lost"), "{said}");
    };
    for (output, input) in [(&*other, &*run.raw), (&map, &run.raw), (&parcel.source().join("main.c"), &run.raw)] {
        let before = std::fs::read(output).unwrap();
        refuses(output, &[input]);
        assert_eq!(std::fs::read(output).unwrap(), before);
    }
    let sum = parcel.sandbox.write("sum.bbprof", "");
    merge(&sum, &[&run.raw]).expect_code(0);
    merge(&sum, &[&other]).expect_code(0);
    merge(&sum, &[&run.raw, &other]).expect_code(0);
    merge(&run.raw, &[&run.raw, &other]).expect_code(0);
    assert_eq!(std::fs::read(&run.raw).unwrap(), std::fs::read(&sum).unwrap());
    assert_eq!(merge(Path::new("-"), &[&sum]).expect_code(0).stdout, std::fs::read(&sum).unwrap());
}

/// What came out of a pipe cannot be read again, neither to be compared.
#[test]
fn profiles_are_compared_as_they_were_verified() {
    let (_parcel, run) = profiled();
    let text = format!("{} verify <(cat {raw}) --against {raw}", tool("bbprof").display(), raw = run.raw.display());
    let said = Run::new("bash").args(["-c", &text]).ok().text();
    assert!(said.contains(" edges, 0 differences\n"), "{said}");
}

/// Run again, it writes the same: its earlier output lies among its inputs, and is none of them; where it is named it is.
#[test]
fn into_a_folder_of_inputs() {
    let (parcel, run) = profiled();
    let folder = parcel.sandbox.join("folder");
    std::fs::create_dir(&folder).unwrap();
    std::fs::copy(&run.raw, folder.join("a.bbraw")).unwrap();
    let sum = folder.join("sum.bbprof");
    let merge = |input: &Path| Run::new(tool("bbprof")).args(["merge", "-o"]).arg(&sum).arg(input).outcome().expect_code(0).stderr;
    assert_eq!(merge(&folder), "");
    let first = std::fs::read(&sum).unwrap();
    let told = merge(&folder);
    assert!(told.contains("left out ") && told.contains("sum.bbprof: this merge writes it anew"), "{told}");
    assert_eq!(std::fs::read(&sum).unwrap(), first);
    assert_eq!(merge(&sum), "");
    assert_eq!(std::fs::read(&sum).unwrap(), first);
}

/// The same process twice is added twice, as was asked for, and said: by itself, and in what was merged.
#[test]
fn one_process_in_two_files() {
    let (parcel, run) = profiled();
    let copy = parcel.sandbox.join("copy.bbraw");
    std::fs::copy(&run.raw, &copy).unwrap();
    let verified = Run::new(tool("bbprof")).arg("verify").args([&run.raw, &copy]).ok();
    assert!(verified.stderr.contains("are added 2 times"), "{}", verified.stderr);
    let other = ProfiledRun::of(&parcel.source().join("parcel"), &[], &parcel.sandbox).raw;
    let merged = parcel.sandbox.join("all.bbprof");
    let merge = |inputs: &[&Path]| Run::new(tool("bbprof")).args(["merge", "-o"]).arg(&merged).args(inputs).ok().stderr;
    assert_eq!(merge(&[&run.raw, &other]), "");
    for inputs in [[&merged, &other], [&merged, &merged]] {
        for reader in [&["verify"][..], &["report"], &["export", "json=-"]] {
            let told = Run::new(tool("bbprof")).args(reader).args(inputs).ok().stderr;
            let more = told.contains("; so it is with another process");
            assert!(told.contains("are added 2 times") && more == (inputs[1] == &merged), "{told}");
        }
    }
    assert!(merge(&[&merged, &other]).contains("are added 2 times"));
    let doubled = Run::new(tool("bbprof")).arg("verify").arg(&merged).ok().stderr;
    assert!(doubled.contains("all.bbprof: the counts of process") && doubled.contains("are added 2 times"), "{doubled}");
    assert_eq!(Run::new(tool("bbprof")).arg("verify").arg(&copy).ok().stderr, "");
}

/// `runs/*` has folders of runs that could not be built: they are named, and the others
/// summed. Where there is nothing else it is an error.
#[test]
fn folders_without_profiles() {
    let (parcel, run) = profiled();
    let (empty, full) = (parcel.sandbox.join("runs/1"), parcel.sandbox.join("runs/2"));
    std::fs::create_dir_all(&empty).unwrap();
    std::fs::create_dir(&full).unwrap();
    std::fs::copy(&run.raw, full.join("a.bbraw")).unwrap();
    let merged = parcel.sandbox.join("all.bbprof");
    let merge = |inputs: &[&Path]| Run::new(tool("bbprof")).args(["merge", "-o"]).arg(&merged).args(inputs).outcome();
    let no_profile = |word: &str| format!("{word}{}: no profile (*.bbraw, *.bbprof) is in this folder\n", empty.display());
    let said = merge(&[&empty, &empty]).expect_code(2).stderr;
    assert!(said.ends_with(&no_profile("error: ")) && !merged.exists(), "{said}");
    let said = merge(&[&empty, &full]).expect_code(0).stderr;
    assert!(said.lines().count() == 1 && said.ends_with(&no_profile("left out ")), "{said}");
    let verified = Run::new(tool("bbprof")).args(["verify", "--against"]).args([&run.raw, &merged]).ok().text();
    assert!(verified.contains(" edges, 0 differences\n"), "{verified}");
}

/// A folder that cannot be listed is an input that cannot be read: named and left out. (Beneath `unshare -U` root is nobody
/// special; elsewhere it would list the folder.)
#[test]
fn folders_that_cannot_be_listed() {
    let (parcel, run) = profiled();
    let (runs, closed) = (parcel.sandbox.join("runs"), parcel.sandbox.join("runs/closed"));
    std::fs::create_dir_all(&closed).unwrap();
    std::fs::copy(&run.raw, runs.join("a.bbraw")).unwrap();
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o000)).unwrap();
    let verify = |inputs: &[&Path]| Run::new("unshare").arg("-U").arg(tool("bbprof")).arg("verify").args(inputs).outcome();
    let said = verify(&[&runs]).expect_code(4);
    assert!(said.text().contains("\nexact: "), "{}", said.text());
    let why = format!("{}: a folder that cannot be listed: Permission denied", closed.display());
    assert!(said.stderr.contains(&format!("skipped {why}")), "{}", said.stderr);
    let alone = verify(&[&closed]).expect_code(1).stderr;
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o700)).unwrap();
    assert!(alone.contains(&format!("error: {why}")), "{alone}");
}
