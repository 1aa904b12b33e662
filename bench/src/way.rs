//! A workload in each of its ways: built, trained where that is asked, and its instructions counted.

use crate::build::{Builder, Built};
use crate::measure::{self, Runs};
use crate::result::Measured;
use crate::variant::Variant;
use crate::workload::Workload;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// A program as one variant has built it in its place, and what is known of it so far.
pub(crate) struct Way {
    pub(crate) variant: Variant,
    pub(crate) built: Built,
    pub(crate) place: PathBuf,
    /// The profiles that it was built by.
    pub(crate) weights: Option<PathBuf>,
    pub(crate) measured: Measured,
}

impl Way {
    pub(crate) fn runs<'a>(&'a self, workload: &'a Workload, arguments: &'a [Vec<String>]) -> Runs<'a> {
        workload.runs(&self.built.executable, arguments, &self.place)
    }
}

/// Builds the program in the ways that its language has; what is left out is said.
pub(crate) fn build_all(workload: &Workload, variants: Vec<Variant>, builder: &mut Builder, folder: &Path) -> Result<Vec<Way>> {
    let mut ways: Vec<Way> = Vec::new();
    for variant in variants {
        eprintln!("bench: {}: building {}", workload.name, variant.name);
        let place = folder.join(workload.name.replace(' ', "-")).join(variant.name.replace([' ', ','], "-"));
        let weights = match variant.trained_by {
            Some(trainer) => match ways.iter().find(|way| way.variant.name == trainer) {
                Some(trainer) => Some(train(trainer, workload)?),
                // It has no such language.
                None => continue,
            },
            None => None,
        };
        let Some(built) = builder.build(&variant, &workload.source, weights.as_deref(), &place)? else {
            eprintln!("bench: {}: {} left out: it has no such language, or its runtime is missing", workload.name, variant.name);
            continue;
        };
        let measured = Measured::new(variant.name, built.compile, measure::sizes(&built.executable)?);
        ways.push(Way { variant, built, place, weights, measured });
    }
    Ok(ways)
}

/// Counts the instructions of each, on all processors, since counts repeat whatever else runs.
pub(crate) fn count_all(workload: &Workload, ways: &mut [Way]) -> Result<()> {
    eprintln!("bench: {}: counting instructions", workload.name);
    let todo = Mutex::new(ways.iter_mut().filter(|way| !way.variant.runner.contains(&"valgrind")));
    let next = || todo.lock().expect("nobody panics with it").next();
    let count_some = || -> Result<()> {
        while let Some(way) = next() {
            let runs = way.runs(workload, &workload.counted);
            // What a program keeps from run to run (CPython: compiled modules) is there before anything is counted.
            runs.time(&[])?;
            way.measured.instructions = match runs.instructions() {
                // gprof's crash under valgrind at their end.
                Err(why) if way.variant.is_peer() => {
                    eprintln!("bench: {}: {} has no instruction count: {why:#}", workload.name, way.variant.name);
                    None
                }
                counted => Some(counted?),
            };
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let processors = std::thread::available_parallelism()?.get();
        let counting: Vec<_> = (0..processors).map(|_| scope.spawn(count_some)).collect();
        counting.into_iter().try_for_each(|thread| thread.join().expect("a thread's panic has been told"))
    })
}

/// A folder with the profiles of runs with the work that instructions are counted by.
fn train(way: &Way, workload: &Workload) -> Result<PathBuf> {
    let (place, own) = (&way.place, &way.built.executable);
    let folder = place.join("training");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    for (position, (binary, arguments)) in workload.training.iter().enumerate() {
        let executable = binary.map_or_else(|| own.clone(), |binary| own.with_file_name(binary));
        let arguments = std::slice::from_ref(arguments);
        workload.runs(&executable, arguments, place).time(&[])?;
        let profile = folder.join(format!("{position}.bbraw"));
        std::fs::rename(place.join("run.bbraw"), &profile).with_context(|| profile.display().to_string())?;
    }
    Ok(folder)
}
