//! The static side of one linked image: its build map, decoded and proven.

use crate::ProfileError;
use crate::memo::Memo;
use crate::prepared::PreparedFunctions;
use crate::solve::Outcome;
use bbprof_format::manifest::{ArrayHeader, Function, Manifest, Module, StringId};
use bbprof_format::map::{ArrayPlacement, Bank, BuildMap};
use bbprof_format::merged::ImageCounters;
use bbprof_format::{BuildId, Digest, HashedPath};
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};

/// What the name of a function begins with that the linker's `--wrap` puts in another's place.
pub(crate) const WRAPPER: &str = "__wrap_";

/// One linked image, ready to solve counters of its processes.
#[derive(Debug)]
pub struct Image {
    /// Identifies the link.
    pub build_id: BuildId,
    /// Digest of its counter arrays in order.
    pub layout: Digest,
    /// File name of the linked image.
    pub output: String,
    /// Number of counters in the thread-local bank.
    pub tls_counters: u64,
    /// Number of counters in the global bank.
    pub global_counters: u64,
    /// The modules in link order.
    pub modules: Vec<LinkedModule>,
    /// Solutions that may serve again, where that is wanted.
    pub(crate) memo: Option<Memo<Outcome>>,
    /// What solving needs, likewise.
    pub(crate) prepared: Option<PreparedFunctions>,
}

/// One module of an image.
#[derive(Debug)]
pub struct LinkedModule {
    /// Where it came from: `a.o` or `liba.a(a.o)`.
    pub origin: String,
    /// Position in the presence table, when the linker was free to leave the module out.
    pub optional: Option<u32>,
    /// What the plugin knew of it.
    pub module: Module,
    /// The strings that name its source files, in the order in which its locations and functions do.
    pub(crate) files: Vec<StringId>,
    /// Its compilation units; `None` is the module itself.
    pub(crate) units: Vec<Option<StringId>>,
    /// The names of its functions that begin with `__wrap_`.
    pub(crate) wrappers: Vec<StringId>,
    /// Where its counter arrays are; `None` for an array without counters.
    placements: Vec<Option<ArrayPlacement>>,
    /// The names of its counter arrays.
    arrays: Vec<ArrayHeader>,
}

impl Image {
    /// Decodes a build map: every manifest in it is read, and every counter found in its bank.
    ///
    /// # Errors
    /// A manifest that cannot be read, or counters outside the image's.
    pub fn decode(map: BuildMap) -> Result<Self, ProfileError> {
        let body = map.body;
        let placements: HashMap<Digest, ArrayPlacement> = body.arrays.iter().map(|array| (array.name, *array)).collect();
        let bank_len = |bank| if bank == Bank::Tls { body.tls_counters } else { body.global_counters };
        let modules = body
            .modules
            .into_par_iter()
            .map(|linked| {
                let manifest = read_manifest(&linked)?;
                let origin = linked.origin.clone();
                let (module, arrays) = match manifest.module() {
                    Ok(module) => (module, manifest.header.arrays),
                    Err(fault) => return Err(ProfileError::Module { origin, fault }),
                };
                let placements = arrays.iter().map(|array| place(*array, &placements, bank_len)).collect::<Result<_, _>>();
                match placements {
                    Ok(placements) => Ok(LinkedModule {
                        origin,
                        optional: linked.optional,
                        files: files_of(&module),
                        units: units_of(&module),
                        wrappers: wrappers_of(&module),
                        module,
                        placements,
                        arrays,
                    }),
                    Err(what) => Err(ProfileError::Placement { origin, what }),
                }
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            build_id: map.build_id,
            layout: body.layout,
            output: body.output,
            tls_counters: body.tls_counters,
            global_counters: body.global_counters,
            modules,
            memo: None,
            prepared: None,
        })
    }

    /// Whether a map was written by this version and is whole: what [`Self::decode`] needs, without its work.
    ///
    /// # Errors
    /// A manifest that is damaged, or of another version.
    pub fn check(map: &BuildMap) -> Result<(), ProfileError> {
        map.body.modules.par_iter().try_for_each(|linked| read_manifest(linked).map(drop))
    }

    /// The same image, to solve counters of many processes: it remembers solutions, and what they are derived from.
    #[must_use]
    pub fn for_many(mut self) -> Self {
        let positions = (0..)
            .zip(&self.modules)
            .flat_map(|(module, linked)| (0..linked.module.functions.len() as u32).map(move |function| (module, function)));
        self.memo = Some(Memo::new(positions));
        self.prepared = Some(PreparedFunctions::new(&self.modules));
        self
    }

    /// A hashed path that belongs to no function with hashed paths.
    pub(crate) fn stray_path<'c>(&self, counters: &'c ImageCounters) -> Option<&'c HashedPath> {
        if counters.hashed_paths.is_empty() {
            return None;
        }
        let functions =
            self.modules.iter().flat_map(|linked| linked.module.functions.iter().map(move |function| (linked, function)));
        let hashed = functions.filter(|(_, function)| function.is_hashed());
        let known: HashSet<u64> =
            hashed.filter_map(|(linked, function)| linked.first_counter(function, self.tls_counters)).collect();
        counters.hashed_paths.iter().find(|path| !known.contains(&path.counter))
    }

    /// The modules that are in the program, by position: of those that only may be linked, the ones that were.
    pub(crate) fn linked_modules<'i>(&'i self, presence: &'i [bool]) -> impl Iterator<Item = (u32, &'i LinkedModule)> {
        let is_there = |linked: &LinkedModule| linked.optional.is_none_or(|optional| presence[optional as usize]);
        (0..).zip(&self.modules).filter(move |(_, linked)| is_there(linked))
    }

    /// How many modules the linker was free to leave out.
    #[must_use]
    pub fn num_optional(&self) -> usize {
        self.modules.iter().filter_map(|module| module.optional).max().map_or(0, |last| last as usize + 1)
    }
}

fn read_manifest<'m>(linked: &'m bbprof_format::map::LinkedModule<'_>) -> Result<Manifest<'m>, ProfileError> {
    Manifest::read(&linked.manifest).map_err(|fault| ProfileError::Module { origin: linked.origin.clone(), fault })
}

fn files_of(module: &Module) -> Vec<StringId> {
    let mut is_known = vec![false; module.strings.len()];
    let located = module.locations.iter().flat_map(|location| [location.file, location.function_file]);
    let named = located.chain(module.functions.iter().filter_map(|function| function.file));
    named.filter(|file| !std::mem::replace(&mut is_known[file.0 as usize], true)).collect()
}

fn units_of(module: &Module) -> Vec<Option<StringId>> {
    let units: HashSet<Option<StringId>> = module.functions.iter().map(|function| function.unit).chain([None]).collect();
    let mut units: Vec<_> = units.into_iter().collect();
    units.sort_unstable();
    units
}

/// Functions without counts are as good as any.
fn wrappers_of(module: &Module) -> Vec<StringId> {
    let counted = module.functions.iter().map(|function| function.symbol);
    let all = counted.chain(module.skipped.iter().map(|skipped| skipped.symbol));
    all.filter(|symbol| module.string(*symbol).starts_with(WRAPPER)).collect()
}

/// Where an array is, proven to lie inside its bank.
fn place(
    array: ArrayHeader,
    placements: &HashMap<Digest, ArrayPlacement>,
    bank_len: impl Fn(Bank) -> u64,
) -> Result<Option<ArrayPlacement>, String> {
    if array.len == 0 {
        return Ok(None);
    }
    let placement = placements.get(&array.name).ok_or_else(|| format!("counter array {} is not in the map", array.name))?;
    if placement.len != array.len {
        return Err(format!("counter array {} has {} counters, in the map {}", array.name, array.len, placement.len));
    }
    let (end, len) = (placement.first.saturating_add(u64::from(placement.len)), bank_len(placement.bank));
    if end > len {
        return Err(format!("counter array {} ends at {end}, but its bank has {len} counters", array.name));
    }
    Ok(Some(*placement))
}

impl LinkedModule {
    /// Identifies the counters of a function: functions of one image that share them are copies of each other.
    pub(crate) fn counters_key(&self, function: &Function) -> (Digest, u32) {
        (self.arrays[function.array as usize].name, function.first_counter)
    }

    /// Whether each thread has counters of its own for the function, which go with it.
    pub(crate) fn counts_in_tls(&self, function: &Function) -> bool {
        self.placements[function.array as usize].is_some_and(|placement| placement.bank == Bank::Tls)
    }

    /// Where among the counters of the image, thread-local ones first, the function's are; `None` when it has none.
    fn first_counter(&self, function: &Function, num_tls: u64) -> Option<u64> {
        let placement = self.placements[function.array as usize]?;
        let before = if placement.bank == Bank::Tls { 0 } else { num_tls };
        Some(before + placement.first + u64::from(function.first_counter))
    }

    /// The hashed paths of a function, out of those of the image.
    pub(crate) fn hashed_paths<'c>(&self, function: &Function, counters: &'c ImageCounters) -> &'c [HashedPath] {
        let counter = self.first_counter(function, counters.tls.len() as u64).filter(|_| function.is_hashed());
        let Some(counter) = counter else { return &[] };
        let all = &counters.hashed_paths;
        let first = all.partition_point(|path| path.counter < counter);
        let len = all[first..].partition_point(|path| path.counter == counter);
        &all[first..first + len]
    }

    /// The counters of a function, planned ones first, out of the counters of the image.
    pub(crate) fn counters<'c>(&self, function: &Function, tls: &'c [u64], global: &'c [u64]) -> &'c [u64] {
        let Some(placement) = &self.placements[function.array as usize] else { return &[] };
        let first = placement.first as usize + function.first_counter as usize;
        let bank = if placement.bank == Bank::Tls { tls } else { global };
        &bank[first..first + function.num_counters()]
    }
}
