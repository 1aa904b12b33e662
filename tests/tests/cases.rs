//! Every case of `tests/cases`, at every level, against its own tallies and a counter on every edge.

use bbprof_tests::Case;

macro_rules! cases {
    ($($name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            Case::named(stringify!($name)).check(&[]);
        })*

        #[test]
        fn every_folder_is_listed() {
            let listed = [$(stringify!($name)),*];
            let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
            for entry in std::fs::read_dir(folder).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                assert!(listed.contains(&name.as_str()), "tests/cases/{name} is not run");
            }
        }
    };
}

cases!(calls, exceptions, exit_inside, gotos, longjmp, switches, tail_calls, threads, virtuals);

#[test]
fn library_storage_counts_the_same() {
    for name in ["calls", "exceptions", "threads"] {
        Case::named(name).check(&["-fPIC"]);
        Case::named(name).check(&["--bbprof-storage=atomic"]);
    }
}
