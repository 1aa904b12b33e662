//! Copies of one object in which functions were given other names (`objcopy --redefine-sym`): they have one manifest, and would
//! count in the same counters, under the names of one of them.

use crate::scan::{FoundModule, ScanError};
use bbprof_format::Digest;
use object::Endianness;
use object::elf::{FileHeader64, SHN_UNDEF, SHT_SYMTAB, STT_FUNC};
use object::read::elf::{FileHeader, SectionHeader, Sym};
use std::collections::{BTreeSet, HashMap};

/// Takes modules of all inputs.
///
/// # Errors
/// The first, in link order, that an earlier object has under other names. The same
/// object twice has the same names, wherever it is found.
pub(crate) fn refuse(modules: &[FoundModule<'_>]) -> Result<(), ScanError> {
    let mut first_of: HashMap<Digest, &FoundModule<'_>> = HashMap::new();
    for copy in modules {
        let first = *first_of.entry(copy.manifest.header.module_id).or_insert(copy);
        if symbol_table(first.object) == symbol_table(copy.object) {
            continue;
        }
        let names = [first, copy].map(|module| functions(module.object).unwrap_or_default());
        let damaged = |fault| ScanError::Manifest { origin: copy.origin.clone(), fault };
        let module = copy.manifest.module().map_err(damaged)?;
        for function in &module.functions {
            let name = module.string(function.symbol);
            let has_it = [&names[0], &names[1]].map(|names| names.contains(name.as_bytes()));
            // Where both have it, nothing was renamed; where neither, both were, or `ld -r` has dropped it.
            let (here, there) = match has_it {
                [true, false] => (0, 1),
                [false, true] => (1, 0),
                _ => continue,
            };
            if let Some(other) = names[there].difference(&names[here]).next() {
                return Err(ScanError::RenamedCopy {
                    origin: copy.origin.clone(),
                    first: first.origin.clone(),
                    name: name.to_owned(),
                    other: String::from_utf8_lossy(other).into_owned(),
                });
            }
        }
    }
    Ok(())
}

/// An object's symbols, and their names, as they lie there: much less than all that it has, which in a large archive of copies is
/// read for nothing else.
fn symbol_table(object: &[u8]) -> Option<[&[u8]; 2]> {
    let header = FileHeader64::<Endianness>::parse(object).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, object).ok()?;
    let symbols = sections.iter().find(|section| section.sh_type(endian) == SHT_SYMTAB)?;
    let names = sections.section(symbols.link(endian)).ok()?;
    Some([symbols.data(endian, object).ok()?, names.data(endian, object).ok()?])
}

/// The names of the functions that an object defines.
fn functions(object: &[u8]) -> Option<BTreeSet<&[u8]>> {
    let header = FileHeader64::<Endianness>::parse(object).ok()?;
    let endian = header.endian().ok()?;
    let symbols = header.sections(endian, object).ok()?.symbols(endian, object, SHT_SYMTAB).ok()?;
    let defined = symbols.iter().filter(|symbol| symbol.st_type() == STT_FUNC && symbol.st_shndx(endian) != SHN_UNDEF);
    Some(defined.filter_map(|symbol| symbol.name(endian, symbols.strings()).ok()).collect())
}
