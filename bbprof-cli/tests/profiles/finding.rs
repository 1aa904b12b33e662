//! Which profiles are the last run's, and where build maps are found.

use crate::folder::Folder;
use std::fs;
use std::time::{Duration, SystemTime};

fn turns(said: &crate::folder::Said) -> Option<u64> {
    said.out.lines().find_map(|line| line.strip_prefix("DA:4,")?.parse().ok())
}

#[test]
fn the_last_run() {
    let folder = Folder::new();
    let none = folder.bbprof(&["report"]);
    assert_eq!(none.code, 2);
    assert!(none.err.contains("no profile: "), "{}", none.err);

    let age = |name: &str, seconds| {
        let file = fs::File::options().write(true).open(folder.path(name)).expect("there");
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).expect("set");
    };
    for (name, turns, seconds) in [("a.bbraw", 5, 60), ("b.bbraw", 6, 30), ("c.bbraw", 7, 90)] {
        folder.write(name, &folder.raw(turns as u32, turns));
        age(name, seconds);
    }
    let newest = folder.bbprof(&["export", "lcov=-"]);
    assert_eq!(turns(&newest), Some(6));
    assert!(newest.err.contains("the newest of 3 profiles here"), "{}", newest.err);

    // With the child of its process.
    let mut child = folder.raw(8, 100);
    child.process.parent_pid = 6;
    folder.write("d.bbraw", &child);
    age("d.bbraw", 50);
    let newest = folder.bbprof(&["export", "lcov=-"]);
    assert_eq!(turns(&newest), Some(106));
    assert!(newest.err.contains("b.bbraw, the newest of 4 profiles here, with 1 more"), "{}", newest.err);
    fs::remove_file(folder.path("d.bbraw")).expect("removed");

    // A run of cargo bbprof, all its processes, from a folder below.
    fs::create_dir_all(folder.path("target/bbprof/runs/1")).expect("made");
    fs::create_dir_all(folder.path("src")).expect("made");
    folder.write("target/bbprof/runs/1/x.bbraw", &folder.raw(2, 10));
    folder.write("target/bbprof/runs/1/y.bbraw", &folder.raw(3, 20));
    fs::write(folder.path("target/bbprof/last"), format!("{}\n", folder.path("target/bbprof/runs/1").display())).expect("written");
    assert_eq!(turns(&folder.bbprof(&["export", "lcov=-"])), Some(30));
    let below = folder.command(&["export", "lcov=-"]).current_dir(folder.path("src")).output().expect("runs");
    assert!(String::from_utf8_lossy(&below.stdout).contains("DA:4,30\n"));
    // A newer profile beside it wins.
    age("target/bbprof/last", 45);
    assert_eq!(turns(&folder.bbprof(&["export", "lcov=-"])), Some(6));
    // What was merged is no run, however new it is.
    assert_eq!(folder.bbprof(&["merge", "-o", "usual.bbprof", "a.bbraw", "b.bbraw"]).code, 0);
    age("target/bbprof/last", 20);
    let noted = folder.bbprof(&["export", "lcov=-"]);
    assert_eq!((turns(&noted), noted.err.contains("usual.bbprof")), (Some(30), false), "{}", noted.err);
    fs::remove_file(folder.path("target/bbprof/last")).expect("removed");
    assert_eq!(turns(&folder.bbprof(&["export", "lcov=-"])), Some(6));
    for name in ["a.bbraw", "b.bbraw", "c.bbraw"] {
        fs::remove_file(folder.path(name)).expect("removed");
    }
    let merged = folder.bbprof(&["export", "lcov=-"]);
    assert_eq!(turns(&merged), Some(11));
    assert!(merged.err.contains("usual.bbprof, a merged profile: no run is noted"), "{}", merged.err);
}

#[test]
fn maps_are_found_by_build_id() {
    let folder = Folder::new();
    let raw = folder.raw(7, 5);
    folder.write("a.bbraw", &raw);
    let id = raw.images[0].build_id;
    let move_map = |from: &str, to: &str| {
        fs::create_dir_all(folder.path(to).parent().expect("a folder")).expect("made");
        fs::rename(folder.path(from), folder.path(to)).expect("moved");
    };
    let found = || folder.bbprof(&["report"]).code == 0;
    assert!(found(), "beside the program");
    move_map("app.bbmap", "renamed.bbmap");
    assert!(found(), "in the folder of the program, by another name");
    move_map("renamed.bbmap", "deps/app-0123.bbmap");
    assert!(found(), "in deps below it");
    move_map("deps/app-0123.bbmap", &format!("cache/bbprof/maps/{id}.bbmap"));
    assert!(found(), "in the cache");
    move_map(&format!("cache/bbprof/maps/{id}.bbmap"), "build/app/0123/out/app.bbmap");
    assert!(found(), "where newer cargos link");
    move_map("build/app/0123/out/app.bbmap", "elsewhere/x.bbmap");
    assert!(!found());
    assert_eq!(folder.bbprof(&["report", "--map", "elsewhere"]).code, 0);
    assert_eq!(folder.bbprof(&["report", "--map", "elsewhere/x.bbmap"]).code, 0);
    let output = folder.command(&["report"]).env("BBPROF_MAPS", "nowhere:elsewhere").output().expect("runs");
    assert!(output.status.success());
    let absent = folder.bbprof(&["report", "--map", "absent.bbmap"]);
    assert_eq!(absent.code, 2);
    assert!(absent.err.contains("absent.bbmap"), "{}", absent.err);
    let missing = folder.bbprof(&["report"]);
    assert_eq!(missing.code, 2);
    assert!(missing.err.contains(&id.to_string()) && missing.err.contains("--map"), "{}", missing.err);
}

#[test]
fn a_map_in_one_input_serves_all_in_any_order() {
    let folder = Folder::new();
    folder.write("a.bbraw", &folder.raw(1, 5));
    folder.write("b.bbraw", &folder.raw(2, 6));
    assert_eq!(folder.bbprof(&["merge", "-o", "b.bbprof", "b.bbraw"]).code, 0);
    fs::remove_file(folder.path("app.bbmap")).expect("removed");
    for inputs in [["a.bbraw", "b.bbprof"], ["b.bbprof", "a.bbraw"]] {
        assert_eq!(turns(&folder.bbprof(&["export", "lcov=-", inputs[0], inputs[1]])), Some(11));
        let verified = folder.bbprof(&["verify", inputs[0], inputs[1]]);
        assert_eq!((verified.code, verified.out.contains("in 2 processes")), (0, true), "{inputs:?}: {}", verified.err);
    }
    let alone = folder.bbprof(&["verify", "a.bbraw", "b.bbraw"]);
    assert_eq!((alone.code, alone.err.matches("no build map").count()), (2, 1), "{}", alone.err);
}
