//! The same input gives the same bytes, whatever the number of jobs; and counts do not depend on where the counters are.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use bbprof_tests::{CProgram, Exported, Parcel, Run, Sandbox, calm_lua, is_long, tool};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Builds the parcel's Makefile afresh with this many jobs, and gives the content of everything that was made.
fn made_by_make(parcel: &Parcel, jobs: u32) -> Vec<(String, Vec<u8>)> {
    parcel.run("make").arg("clean").ok();
    let compiler = format!("CC={}", tool("bbprof-cc").display());
    parcel.run("make").args([&format!("-j{jobs}"), &compiler, "CFLAGS=-O2 -g"]).ok();
    let made = ["main.o", "shelf.o", "unused.o", "parcel", "parcel.bbmap", "parcel-archive", "parcel-archive.bbmap"];
    made.map(|name| (name.to_owned(), std::fs::read(parcel.source().join(name)).unwrap())).to_vec()
}

#[test]
fn builds_are_byte_identical_for_any_number_of_jobs() {
    let parcel = Parcel::new("determinism");
    let first = made_by_make(&parcel, 1);
    for jobs in [1, 2, 4] {
        for ((name, expected), (_, found)) in first.iter().zip(made_by_make(&parcel, jobs)) {
            assert!(*expected == found, "{name} differs with -j{jobs}");
        }
    }
}

#[test]
fn links_are_byte_identical_with_every_linker() {
    let parcel = Parcel::new("same");
    let names = ["parcel", "parcel.bbmap", "libshelf.so", "libshelf.so.bbmap"];
    let build = |linker: &str| {
        let cc = |words: &[&str]| parcel.run(tool("bbprof-cc")).args(["-O2", &format!("-fuse-ld={linker}")]).args(words).ok();
        cc(&["-fPIC", "-shared", "shelf.c", "unused.c", "-o", "libshelf.so"]);
        cc(&["main.c", "shelf.c", "-o", "parcel"]);
        names.map(|name| std::fs::read(parcel.source().join(name)).unwrap())
    };
    for linker in ["bfd", "gold", "lld", "mold"] {
        let (first, second) = (build(linker), build(linker));
        for ((name, first), second) in names.iter().zip(first).zip(second) {
            assert!(first == second, "{linker}: {name} differs");
        }
    }
}

/// A plugin with `permute-weights`, which no driver offers: a folder as the drivers make them, with one line more.
fn permuting_plugin(sandbox: &Sandbox, seed: u64) -> PathBuf {
    let bin = tool("bbprof");
    let variables = Run::new(&bin).args(["env", "--sh", "--counters", "check"]).in_folder(sandbox.path()).ok().text();
    let flags = variables.lines().find_map(|line| line.strip_prefix("export CFLAGS=")).expect("bbprof env prints CFLAGS");
    let plugin =
        flags.trim_matches('\'').split_whitespace().find_map(|word| word.strip_prefix("-fpass-plugin=")).expect("a plugin");
    let plugin = Path::new(plugin);
    let options = std::fs::read_to_string(plugin.with_file_name("options")).expect("the plugin's options");
    let name = format!("permuted-{seed}");
    sandbox.write(&format!("{name}/options"), format!("{options}permute-weights={seed}\n"));
    let link = sandbox.join(&name).join("bbprof.so");
    std::os::unix::fs::symlink(plugin.canonicalize().unwrap(), &link).unwrap();
    link
}

/// The functions of the profile, without what may depend on the placement.
fn functions(program: &CProgram, plugin: &Path, sandbox: &Sandbox, level: &str, output: &str) -> (Vec<Value>, Vec<u8>) {
    let environment = Run::new(tool("bbprof")).args(["env", "--sh"]).in_folder(sandbox.path()).ok().text();
    let flags = environment.lines().find_map(|line| line.strip_prefix("export LDFLAGS=")).expect("bbprof env prints LDFLAGS");
    let plugin = format!("-fpass-plugin={}", plugin.display());
    let mut options = vec![level, "-gline-tables-only", &plugin];
    options.extend(flags.trim_matches('\'').split_whitespace());
    let binary = program.build("clang-22", &options, sandbox.join(output).join(program.name));
    let raw = binary.with_extension("bbraw");
    Run::new(&binary).args(&program.arguments).env("BBPROF_OUT", &raw).outcome().expect_code(program.exit_code);
    Run::new(tool("bbprof")).arg("verify").arg(&raw).ok();
    let exported = Exported::of(&[raw]);
    assert!(exported.is_exact());
    let map =
        bbprof_format::map::BuildMap::decode(&std::fs::read(sandbox.join(output).join(format!("{}.bbmap", program.name))).unwrap());
    let sites = map.unwrap().body.modules.iter().flat_map(|module| sites(&module.manifest)).collect();
    (exported.functions().into_iter().map(|function| function.value).collect(), sites)
}

/// Where the counters are, as bytes to compare.
fn sites(manifest: &[u8]) -> Vec<u8> {
    let module = bbprof_format::manifest::Manifest::read(manifest).unwrap().module().unwrap();
    module.functions.iter().flat_map(|function| format!("{:?}", function.sites).into_bytes()).collect()
}

#[test]
fn counts_do_not_depend_on_the_weights() {
    for level in if is_long() { &["-O0", "-O2"][..] } else { &["-O2"] } {
        let sandbox = Sandbox::new("permuted");
        let (expected, placed) = functions(&calm_lua(), &permuting_plugin(&sandbox, 1), &sandbox, level, "first");
        assert!(expected.len() > 400);
        for seed in [2, 3] {
            let output = format!("seed-{seed}");
            let (found, moved) = functions(&calm_lua(), &permuting_plugin(&sandbox, seed), &sandbox, level, &output);
            assert!(placed != moved, "{level}: seed {seed} did not move a counter");
            assert_eq!(expected.len(), found.len());
            for (expected, found) in expected.iter().zip(&found) {
                // All but the image's path, which is in another folder.
                for (key, value) in expected.as_object().unwrap().iter().filter(|(key, _)| *key != "image") {
                    assert_eq!(value, &found[key], "{level}, seed {seed}: {key} of {}", expected["name"]);
                }
            }
        }
    }
}
