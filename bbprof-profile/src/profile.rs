//! The profile: every image of every process, solved.

use crate::image::LinkedModule;
use crate::module_names::{ModuleNames, name_modules, source};
use crate::view::FunctionView;
use crate::{FileId, Files, Image, ProfileError, SolvedImage, replaced};
use bbprof_format::BuildId;
use bbprof_format::manifest::StringId;
use bbprof_format::map::BuildMap;
use bbprof_format::merged::{ImageCounters, Process};
use std::collections::HashSet;
use std::sync::Arc;

/// Counts of all functions of all images.
#[derive(Debug)]
pub struct Profile {
    /// The processes that were counted.
    pub processes: Vec<Process>,
    /// Their source files.
    pub files: Files,
    pub(crate) images: Vec<ProfiledImage>,
}

/// One image of a profile.
#[derive(Debug)]
pub(crate) struct ProfiledImage {
    pub(crate) path: String,
    pub(crate) image: Arc<Image>,
    pub(crate) presence: Vec<bool>,
    pub(crate) solved: SolvedImage,
    /// By module and by [`bbprof_format::manifest::StringId`]: the file that the string names, where it names one.
    pub(crate) files: Vec<Vec<Option<FileId>>>,
    pub(crate) module_names: ModuleNames,
}

impl ProfiledImage {
    /// The modules that are in the program, by position.
    pub(crate) fn modules(&self) -> impl Iterator<Item = (u32, &LinkedModule)> {
        self.image.linked_modules(&self.presence)
    }

    /// The name of a compilation unit.
    pub(crate) fn module_name(&self, module: u32, unit: Option<StringId>) -> &str {
        match self.module_names.get(&(module, unit)) {
            Some(name) => name,
            None => source(&self.image.modules[module as usize].module, unit),
        }
    }
}

/// Sums over a profile.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// Functions with counts.
    pub functions: u64,
    /// Those that ran.
    pub functions_executed: u64,
    /// Basic blocks of functions with counts.
    pub blocks: u64,
    /// Those that ran.
    pub blocks_executed: u64,
    /// Executions of blocks.
    pub block_executions: u128,
    /// Executed LLVM IR instructions.
    pub instructions: u128,
    /// Those of them that have a source line.
    pub instructions_with_line: u128,
}

/// A function that was not instrumented.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SkippedFunction<'p> {
    /// Its linker symbol.
    pub symbol: &'p str,
    /// Why.
    pub reason: &'p str,
    /// The module it is in.
    pub module: &'p str,
}

impl Profile {
    /// How many processes were counted.
    #[must_use]
    pub fn num_processes(&self) -> u64 {
        self.processes.iter().map(|process| process.number).sum()
    }

    /// Solves the counters of each image with its build map.
    ///
    /// # Errors
    /// When a map cannot be used, or is not the one of the counters beside it.
    pub fn new(processes: Vec<Process>, parts: Vec<(BuildMap, ImageCounters)>) -> Result<Self, ProfileError> {
        let decode = |(map, counters)| Ok((Arc::new(Image::decode(map)?), counters));
        Self::of_images(processes, parts.into_iter().map(decode).collect::<Result<_, ProfileError>>()?)
    }

    /// Solves the counters of each image; decoded images can serve many profiles.
    ///
    /// # Errors
    /// When counters are not those of the image beside them.
    pub fn of_images(processes: Vec<Process>, parts: Vec<(Arc<Image>, ImageCounters)>) -> Result<Self, ProfileError> {
        let mut files = Files::default();
        let mut images = Vec::with_capacity(parts.len());
        for (image, counters) in parts {
            let solved = image.solve(&counters)?;
            let module_files = image.modules.iter().map(|linked| name_files(linked, &mut files)).collect();
            images.push(ProfiledImage {
                path: counters.path,
                image,
                presence: counters.presence,
                solved,
                files: module_files,
                module_names: ModuleNames::new(),
            });
        }
        name_modules(&mut images);
        let mut profile = Self { processes, files, images };
        replaced::leave_out(&mut profile);
        Ok(profile)
    }

    /// All functions with counts: by image, in the order of its build map.
    pub fn functions(&self) -> impl Iterator<Item = FunctionView<'_>> {
        self.images.iter().flat_map(move |image| image.solved.functions.iter().map(move |counts| FunctionView::new(image, counts)))
    }

    /// Paths of the images.
    pub fn image_paths(&self) -> impl Iterator<Item = &str> {
        self.images.iter().map(|image| image.path.as_str())
    }

    /// Its images: where each was when it ran, which link it is, and the sources of its code.
    pub fn image_builds(&self) -> impl Iterator<Item = (&str, BuildId, HashSet<&str>)> {
        self.images.iter().map(|image| {
            let sources = image.files.iter().flatten().flatten().map(|file| self.files.path(*file));
            (image.path.as_str(), image.image.build_id, sources.collect())
        })
    }

    /// How many edges had a counter of their own (check mode).
    #[must_use]
    pub fn compared_edges(&self) -> u64 {
        self.images.iter().map(|image| image.solved.compared_edges).sum()
    }

    /// The sums.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for function in self.functions() {
            totals.functions += 1;
            totals.blocks += u64::from(function.num_blocks());
            if !function.is_executed() {
                continue;
            }
            totals.functions_executed += 1;
            totals.instructions += function.counts.instructions;
            for block in function.blocks() {
                totals.blocks_executed += u64::from(block.count() > 0);
                totals.block_executions += u128::from(block.count());
                totals.instructions_with_line += block.instructions_with_line();
            }
        }
        totals
    }

    /// The functions that were not instrumented, each once, by symbol.
    #[must_use]
    pub fn skipped(&self) -> Vec<SkippedFunction<'_>> {
        let mut skipped: Vec<SkippedFunction<'_>> = Vec::new();
        for image in &self.images {
            for (position, linked) in image.modules() {
                let module = &linked.module;
                skipped.extend(module.skipped.iter().map(|skip| SkippedFunction {
                    symbol: module.string(skip.symbol),
                    reason: module.string(skip.reason),
                    module: image.module_name(position, None),
                }));
            }
        }
        skipped.sort();
        skipped.dedup();
        skipped
    }
}

/// Gives every source file that a module names its place among the files of the profile.
fn name_files(linked: &LinkedModule, files: &mut Files) -> Vec<Option<FileId>> {
    let module = &linked.module;
    let mut ids = vec![None; module.strings.len()];
    for file in &linked.files {
        ids[file.0 as usize] = Some(files.add(&module.directory, module.string(*file)));
    }
    for checksum in &module.checksums {
        if let Some(file) = ids[checksum.file.0 as usize] {
            files.add_md5(file, module.string(checksum.md5));
        }
    }
    ids
}
