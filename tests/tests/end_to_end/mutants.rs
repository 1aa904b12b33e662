//! Would the checks notice? Each mutant is one small damage to a profile that is exact; `bbprof verify` must refuse every one.
//!
//! The program is built in check mode. Increments are dropped from its machine code, counters are changed and swapped in its raw
//! profile, edges are flipped and maps mixed in its build map.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use bbprof_format::manifest::{Function, Manifest, Site};
use bbprof_format::map::BuildMap;
use bbprof_format::raw::RawProfile;
use bbprof_tests::{Outcome, Parcel, ProfiledRun, Run, tool};
use std::path::{Path, PathBuf};

/// An exact profile to damage.
struct Original {
    parcel: Parcel,
    program: PathBuf,
    map_path: PathBuf,
    map: BuildMap<'static>,
    raw: RawProfile,
}

impl Original {
    fn new(level: &str) -> Self {
        let parcel = Parcel::new("mutants");
        let cc = parcel.run(tool("bbprof-cc"));
        cc.args(["--bbprof-counters=check", level, "-o", "parcel", "main.c", "shelf.c"]).ok();
        let program = parcel.source().join("parcel");
        let run = parcel.check(&program, None, &["parcel"]);
        let map_path = parcel.source().join("parcel.bbmap");
        let map = BuildMap::decode(&std::fs::read(&map_path).unwrap()).unwrap();
        Self { raw: run.raw_profile(), parcel, program, map_path, map }
    }

    /// What `bbprof verify` says of these counters with this map.
    fn verify(&self, raw: &[u8], map: &[u8]) -> Outcome {
        let raw = self.parcel.sandbox.write("mutant.bbraw", raw);
        std::fs::write(&self.map_path, map).unwrap();
        verify(&raw)
    }

    fn verify_raw(&self, raw: &RawProfile) -> Outcome {
        self.verify(&raw.encode(), &self.map.encode())
    }

    fn counters(&self) -> &[u64] {
        &self.raw.images[0].tls_counters
    }
}

fn verify(raw: &Path) -> Outcome {
    let outcome = Run::new(tool("bbprof")).arg("verify").arg(raw).outcome();
    assert!(!outcome.stderr.contains("panicked"), "{}", outcome.stderr);
    outcome
}

/// Not exact, in words.
fn is_refused(outcome: &Outcome, what: &str) {
    assert_eq!(outcome.code, 5, "{what} went unnoticed:\n{}{}", outcome.text(), outcome.stderr);
    assert!(outcome.text().lines().any(|line| line.starts_with("not exact: ")), "{what}: {}", outcome.text());
}

/// `incq %fs:disp32`: the increment of a thread-local counter, at every level.
fn is_increment(code: &[u8]) -> bool {
    code.starts_with(&[0x64, 0x48, 0xff, 0x04, 0x25])
}

const INCREMENT_BYTES: usize = 9;

#[test]
fn a_dropped_increment_is_noticed() {
    for level in ["-O0", "-O2"] {
        let original = Original::new(level);
        let program = std::fs::read(&original.program).unwrap();
        let found = program.windows(INCREMENT_BYTES).enumerate().filter(|(_, bytes)| is_increment(bytes));
        let places: Vec<usize> = found.map(|(at, _)| at).collect();
        assert!(places.len() > 40, "{level}: only {} increments", places.len());
        let (mut noticed, mut never_executed) = (0, 0);
        for at in places {
            let mut mutant = program.clone();
            mutant[at..at + INCREMENT_BYTES].fill(0x90);
            // Over the original: the map beside it is right.
            std::fs::remove_file(&original.program).unwrap();
            std::fs::write(&original.program, mutant).unwrap();
            Run::new("chmod").arg("755").arg(&original.program).ok();
            let run = ProfiledRun::of(&original.program, &[], &original.parcel.sandbox);
            assert_eq!(run.outcome.text(), Parcel::expected_output(false));
            let counters = run.raw_profile().images.swap_remove(0).tls_counters;
            if counters == original.counters() {
                never_executed += 1;
                continue;
            }
            is_refused(&verify(&run.raw), &format!("{level}: the increment at {at:#x}"));
            noticed += 1;
        }
        assert!(noticed > never_executed && noticed > 40, "{level}: {noticed} noticed, {never_executed} never executed");
    }
}

#[test]
fn a_changed_counter_is_noticed() {
    let original = Original::new("-O1");
    for (k, count) in original.counters().iter().enumerate() {
        for changed in [count.checked_sub(1), Some(count + 1), Some(count / 2), Some(u64::MAX)].into_iter().flatten() {
            if changed == *count {
                continue;
            }
            let mut raw = original.raw.clone();
            raw.images[0].tls_counters[k] = changed;
            is_refused(&original.verify_raw(&raw), &format!("counter {k}: {changed} instead of {count}"));
        }
    }
}

#[test]
fn swapped_counters_are_noticed() {
    let original = Original::new("-O1");
    let mut swapped = 0;
    for k in 1..original.counters().len() {
        let mut raw = original.raw.clone();
        raw.images[0].tls_counters.swap(k - 1, k);
        if raw == original.raw {
            continue;
        }
        is_refused(&original.verify_raw(&raw), &format!("counters {} and {k} swapped", k - 1));
        swapped += 1;
    }
    assert!(swapped > 20, "{swapped}");
}

/// Every module of the map, decoded, changed and encoded again; the build id and the layout stay.
fn with_functions(map: &BuildMap<'static>, change: impl FnOnce(&mut Vec<Function>)) -> Option<BuildMap<'static>> {
    let mut map = map.clone();
    let linked = map.body.modules.iter_mut().max_by_key(|module| module.manifest.len())?;
    let manifest = Manifest::read(&linked.manifest).unwrap();
    let (header, mut module) = (manifest.header.clone(), manifest.module().unwrap());
    let before = module.functions.clone();
    change(&mut module.functions);
    if module.functions == before {
        return None;
    }
    let own = header.arrays[0];
    let encoded = Manifest::encode(&module, header.storage, own.len, &header.arrays[1..]);
    // A module's id, and its array's name, follow from its content: the map must say where the renamed array is.
    let renamed = Manifest::read(&encoded).unwrap().header.arrays[0].name;
    map.body.arrays.iter_mut().filter(|array| array.name == own.name).for_each(|array| array.name = renamed);
    linked.manifest = encoded.into();
    Some(map)
}

#[test]
fn swapped_functions_are_noticed() {
    let original = Original::new("-O1");
    let mut swapped = 0;
    for first in 0..20 {
        let mutant = with_functions(&original.map, |functions| {
            if first + 1 < functions.len() {
                let (a, b) = (functions[first].first_counter, functions[first + 1].first_counter);
                let (na, nb) = (functions[first].num_counters() as u32, functions[first + 1].num_counters() as u32);
                // Neighbours change places.
                (functions[first + 1].first_counter, functions[first].first_counter) = (a.min(b), a.min(b) + nb);
                assert_eq!(a.max(b) - a.min(b), if a < b { na } else { nb });
            }
        });
        let Some(mutant) = mutant else { break };
        is_refused(&original.verify(&original.raw.encode(), &mutant.encode()), &format!("functions {first} and {}", first + 1));
        swapped += 1;
    }
    assert!(swapped >= 3, "{swapped}");
}

/// The counters of the function at this position in the module that [`with_functions`] changes, and the function.
fn counters_of(original: &Original, position: usize) -> Option<(Function, &[u64])> {
    let linked = original.map.body.modules.iter().max_by_key(|module| module.manifest.len())?;
    let manifest = Manifest::read(&linked.manifest).unwrap();
    let function = manifest.module().unwrap().functions.into_iter().nth(position)?;
    let name = manifest.header.arrays[function.array as usize].name;
    let array = original.map.body.arrays.iter().find(|array| array.name == name)?;
    let first = (array.first + u64::from(function.first_counter)) as usize;
    let counters = &original.counters()[first..first + function.num_counters()];
    Some((function, counters))
}

/// A planned counter said to be on another edge than it is: noticed, unless that edge was
/// executed as often, by check mode's own counter.
#[test]
fn a_flipped_edge_is_noticed() {
    let original = Original::new("-O1");
    let (mut noticed, mut same) = (0, 0);
    for position in 0..12 {
        let Some((function, counters)) = counters_of(&original, position) else { continue };
        let num_edges = function.edges.len() as u32;
        for (counter, flip) in (0..function.sites.len()).flat_map(|counter| [(counter, 1), (counter, 3)]) {
            let (Site::Edge(at) | Site::Node(at) | Site::PhiEdge(at) | Site::BeforeLoop(at)) = function.sites[counter];
            // Another edge that has no counter: one of the tree.
            let mut others = (flip..num_edges).map(|step| (at + step) % num_edges);
            let Some(other) = others.find(|edge| !function.sites.contains(&Site::Edge(*edge))) else { continue };
            let mutant = with_functions(&original.map, |functions| functions[position].sites[counter] = Site::Edge(other));
            let Some(mutant) = mutant else { continue };
            let checking = function.check_sites.iter().position(|site| *site == Site::Edge(other));
            let truth = checking.map(|check| counters[function.num_planned() + check]);
            let outcome = original.verify(&original.raw.encode(), &mutant.encode());
            if outcome.code == 0 {
                assert_eq!(truth, Some(counters[counter]), "edge {other} of function {position}: {}", outcome.text());
                same += 1;
            } else {
                assert!([1, 5].contains(&outcome.code), "{}", outcome.stderr);
                noticed += 1;
            }
        }
    }
    assert!(noticed > 20, "{noticed} noticed, {same} the same");
}

#[test]
fn mixed_maps_are_noticed() {
    let original = Original::new("-O1");
    let other = Original::new("-O0");
    // The other map as it is: the build id tells.
    let outcome = original.verify(&original.raw.encode(), &other.map.encode());
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("does not match") && outcome.stderr.contains("--map"), "{}", outcome.stderr);
    // With a forged build id: the layout tells.
    let forged = BuildMap { build_id: original.map.build_id, body: other.map.body.clone() };
    let outcome = original.verify(&original.raw.encode(), &forged.encode());
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("layout"), "{}", outcome.stderr);
    // With a forged layout, too.
    let mut forged = forged;
    forged.body.layout = original.map.body.layout;
    let outcome = original.verify(&original.raw.encode(), &forged.encode());
    assert_ne!(outcome.code, 0, "{}", outcome.text());
}

#[test]
fn truncated_files_are_noticed() {
    let original = Original::new("-O1");
    let (raw, map) = (original.raw.encode(), original.map.encode());
    let lengths = |all: usize| (0..all).step_by(97).chain(all.saturating_sub(9)..all).collect::<Vec<_>>();
    for length in lengths(raw.len()) {
        let outcome = original.verify(&raw[..length], &map);
        assert_eq!(outcome.code, 1, "raw profile of {length} bytes: {}{}", outcome.text(), outcome.stderr);
        assert!(outcome.stderr.contains("mutant.bbraw: "), "{}", outcome.stderr);
    }
    for length in lengths(map.len()) {
        let outcome = original.verify(&raw, &map[..length]);
        assert!([1, 2].contains(&outcome.code), "map of {length} bytes: {}{}", outcome.text(), outcome.stderr);
        assert!(outcome.stderr.contains("parcel.bbmap"), "{}", outcome.stderr);
    }
    assert_eq!(original.verify(&raw, &map).code, 0);
}
