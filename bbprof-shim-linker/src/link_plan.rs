//! Where every counter of a link goes: which arrays there are, in which bank and at which position, and which modules the
//! linker may leave out. Pure; the generated object and the build map both follow from it.

use crate::command_line::Product;
use crate::scan::FoundModule;
use bbprof_format::Digest;
use bbprof_format::manifest::{ArrayHeader, Storage};
use bbprof_format::map::{ArrayPlacement, Bank, Body, BuildMap, LinkedModule, layout_digest};
use std::borrow::Cow;
use std::collections::HashMap;

/// The plan of a link.
#[derive(Debug)]
pub(crate) struct LinkPlan<'m> {
    /// What is written beside the output, build id included.
    pub map: BuildMap<'m>,
    /// Some modules use [`Storage::Delta`].
    pub uses_delta: bool,
    /// Some modules use [`Storage::Shared`].
    pub uses_shared: bool,
    /// Some modules count paths in hash tables.
    pub hashes_paths: bool,
    /// Ids of the modules that the linker may leave out, by position in the presence table.
    pub optional_modules: Vec<Digest>,
}

/// Modules that cannot be linked together, or not into this kind of image.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum PlanError {
    #[error(
        "{origin}: its counters are thread-local as in executables, but this link makes a shared library ({output}); \
         compile it with -fPIC (bbprof-cc then counts as libraries need it), or with --storage=shared (--bbprof-storage=shared of bbprof-cc)"
    )]
    TlsInLibrary { origin: String, output: String },
    #[error(
        "counter array {array} has {first_len} counters in {first}, but {second_len} in {second}; recompile both with the same bbprof options"
    )]
    Length { array: Digest, first: String, first_len: u32, second: String, second_len: u32 },
    #[error(
        "counter array {array} is stored as {first_storage:?} in {first}, but as {second_storage:?} in {second}; recompile both with the same bbprof options"
    )]
    Storage { array: Digest, first: String, first_storage: Storage, second: String, second_storage: Storage },
}

/// What is known of an array that has a place.
struct Placed {
    module: usize,
    storage: Storage,
    len: u32,
}

/// Places the counter arrays of all modules. An array that several modules name is shared: they hold copies of one COMDAT
/// function, or are the same module twice.
///
/// # Errors
/// When two modules disagree about an array, or one cannot be part of such an image.
pub(crate) fn plan_link<'m>(modules: &[FoundModule<'m>], product: Product, output: &str) -> Result<LinkPlan<'m>, PlanError> {
    let mut arrays = Vec::new();
    let mut placed: HashMap<Digest, Placed> = HashMap::new();
    let (mut tls_counters, mut global_counters) = (0_u64, 0_u64);
    for (position, module) in modules.iter().enumerate() {
        let storage = module.manifest.header.storage;
        if storage == Storage::Tls && product == Product::SharedLibrary {
            return Err(PlanError::TlsInLibrary { origin: module.origin.clone(), output: output.to_owned() });
        }
        for array in &module.manifest.header.arrays {
            if let Some(first) = placed.get(&array.name) {
                agree(array, storage, &module.origin, first, &modules[first.module].origin)?;
                continue;
            }
            placed.insert(array.name, Placed { module: position, storage, len: array.len });
            let (bank, next) = match storage {
                Storage::Tls => (Bank::Tls, &mut tls_counters),
                Storage::Delta | Storage::Shared | Storage::Atomic => (Bank::Global, &mut global_counters),
            };
            arrays.push(ArrayPlacement::new(*array, bank, *next));
            *next += u64::from(array.len);
        }
    }
    let (modules_of_map, optional_modules) = distinct_modules(modules);
    let layout = layout_digest(&arrays);
    let uses = |storage| modules.iter().any(|module| module.manifest.header.storage == storage);
    let (uses_delta, uses_shared) = (uses(Storage::Delta), uses(Storage::Shared));
    let hashes_paths = modules.iter().any(|module| module.manifest.header.hashes_paths);
    let build_id = build_id(modules, layout, output);
    let body = Body { output: output.to_owned(), layout, tls_counters, global_counters, arrays, modules: modules_of_map };
    Ok(LinkPlan { map: BuildMap { build_id, body }, uses_delta, uses_shared, hashes_paths, optional_modules })
}

fn agree(array: &ArrayHeader, storage: Storage, origin: &str, first: &Placed, first_origin: &str) -> Result<(), PlanError> {
    let (first_name, second) = (first_origin.to_owned(), origin.to_owned());
    if array.len != first.len {
        let (first_len, second_len) = (first.len, array.len);
        return Err(PlanError::Length { array: array.name, first: first_name, first_len, second, second_len });
    }
    if storage != first.storage {
        let (first_storage, second_storage) = (first.storage, storage);
        return Err(PlanError::Storage { array: array.name, first: first_name, first_storage, second, second_storage });
    }
    Ok(())
}

/// Every module once, in link order; it is optional when each of its occurrences is.
fn distinct_modules<'m>(modules: &[FoundModule<'m>]) -> (Vec<LinkedModule<'m>>, Vec<Digest>) {
    let mut always: HashMap<Digest, bool> = HashMap::new();
    for module in modules {
        *always.entry(module.manifest.header.module_id).or_default() |= !module.optional;
    }
    let mut linked = Vec::new();
    let mut optional_modules = Vec::new();
    for module in modules {
        let id = module.manifest.header.module_id;
        let Some(always) = always.remove(&id) else { continue };
        let optional = (!always).then(|| {
            optional_modules.push(id);
            optional_modules.len() as u32 - 1
        });
        linked.push(LinkedModule { origin: module.origin.clone(), optional, manifest: Cow::Borrowed(module.manifest.bytes) });
    }
    (linked, optional_modules)
}

/// Tells links apart by what they count, which of it may be left out, and what they are
/// called; the same link twice has the same id.
fn build_id(modules: &[FoundModule<'_>], layout: Digest, output: &str) -> Digest {
    let of_module = |module: &'_ FoundModule<'_>| [module.manifest.header.module_id.0.to_vec(), vec![u8::from(module.optional)]];
    let ids: Vec<Vec<u8>> = modules.iter().flat_map(of_module).collect();
    Digest::of_parts(ids.iter().map(Vec::as_slice).chain([&layout.0[..], output.as_bytes()]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bbprof_format::manifest::{Header, Manifest};

    fn array(name: u8, len: u32) -> ArrayHeader {
        ArrayHeader { name: Digest([name; 16]), len }
    }

    fn plan_of(modules: &[(&str, bool, Storage, &[ArrayHeader])], product: Product) -> Result<LinkPlan<'static>, PlanError> {
        let found: Vec<FoundModule<'_>> = modules
            .iter()
            .map(|(origin, optional, storage, arrays)| {
                let module = crate::test_modules::empty(origin);
                let bytes = Manifest::encode(&module, *storage, arrays[0].len, &arrays[1..]).leak();
                let mut manifest = Manifest::read(bytes).unwrap();
                manifest.header = Header { arrays: arrays.to_vec(), ..manifest.header };
                FoundModule { origin: (*origin).to_owned(), optional: *optional, object: &[], manifest }
            })
            .collect();
        plan_link(&found, product, "app")
    }

    #[test]
    fn banks_by_storage_and_shared_arrays_once() {
        let plan = plan_of(
            &[
                ("a.o", false, Storage::Tls, &[array(1, 3), array(9, 2)]),
                ("b.o", false, Storage::Delta, &[array(2, 5)]),
                ("c.o", false, Storage::Tls, &[array(3, 0), array(9, 2)]),
                ("d.o", false, Storage::Atomic, &[array(4, 7)]),
            ],
            Product::Executable,
        )
        .unwrap();
        let body = &plan.map.body;
        let places: Vec<_> = body.arrays.iter().map(|a| (a.name.0[0], a.bank, a.first, a.len)).collect();
        assert_eq!(
            places,
            [(1, Bank::Tls, 0, 3), (9, Bank::Tls, 3, 2), (2, Bank::Global, 0, 5), (3, Bank::Tls, 5, 0), (4, Bank::Global, 5, 7)]
        );
        assert_eq!((body.tls_counters, body.global_counters), (5, 12));
        assert!(plan.uses_delta);
        assert!(!plan.uses_shared);
        assert!(plan.optional_modules.is_empty());
    }

    #[test]
    fn a_module_is_optional_when_all_its_occurrences_are() {
        let plan = plan_of(
            &[
                ("x", true, Storage::Tls, &[array(1, 1)]),
                ("y", true, Storage::Tls, &[array(2, 1)]),
                ("x", false, Storage::Tls, &[array(1, 1)]),
                ("y", true, Storage::Tls, &[array(2, 1)]),
                ("z", true, Storage::Tls, &[array(3, 1)]),
            ],
            Product::Executable,
        )
        .unwrap();
        let modules: Vec<_> = plan.map.body.modules.iter().map(|m| (m.origin.as_str(), m.optional)).collect();
        assert_eq!(modules, [("x", None), ("y", Some(0)), ("z", Some(1))]);
        assert_eq!(plan.optional_modules.len(), 2);
    }

    #[test]
    fn disagreements_and_thread_local_counters_in_libraries_are_refused() {
        let error = |modules: &[(&str, bool, Storage, &[ArrayHeader])], product| plan_of(modules, product).unwrap_err().to_string();
        let length = error(
            &[("a.o", false, Storage::Tls, &[array(1, 3)]), ("b.o", false, Storage::Tls, &[array(1, 4)])],
            Product::Executable,
        );
        assert!(length.contains("has 3 counters in a.o, but 4 in b.o"), "{length}");
        let storage = error(
            &[("a.o", false, Storage::Tls, &[array(1, 3)]), ("b.o", false, Storage::Shared, &[array(1, 3)])],
            Product::Executable,
        );
        assert!(storage.contains("Tls in a.o") && storage.contains("Shared in b.o"), "{storage}");
        let library = error(&[("a.o", false, Storage::Tls, &[array(1, 3)])], Product::SharedLibrary);
        assert!(library.contains("a.o") && library.contains("-fPIC"), "{library}");
    }

    #[test]
    fn the_build_id_tells_outputs_and_modules_apart() {
        let id_of = |origin: &str, output: &str, optional: bool| {
            let bytes = Manifest::encode(&crate::test_modules::empty(origin), Storage::Tls, 1, &[]);
            let manifest = Manifest::read(&bytes).unwrap();
            let found = [FoundModule { origin: origin.to_owned(), optional, object: &[], manifest }];
            plan_link(&found, Product::Executable, output).unwrap().map.build_id
        };
        let id = |origin: &str, output: &str| id_of(origin, output, false);
        assert_eq!(id("a", "x"), id("a", "x"));
        assert_ne!(id("a", "x"), id("b", "x"));
        assert_ne!(id("a", "x"), id("a", "y"));
        assert_ne!(id("a", "x"), id_of("a", "x", true));
    }
}
