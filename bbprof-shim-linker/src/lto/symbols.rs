//! What a native object does not say of its symbols, and the link that it is of knew.
//!
//! - A shared library does not export all that has default visibility in it: a reference in another file, an archive's name in
//!   `--exclude-libs` or a version script decide otherwise.
//! - Counter arrays that the object names, but does not use: link-time optimisation has left out its copies of functions that
//!   others have, too. Their names are undefined symbols (of `.hidden`, LLVM's AsmPrinter.cpp) without a type, which linkers take
//!   for another thing than thread-local storage.

use bbprof_format::manifest::{Storage, split};
use bbprof_format::names::{MANIFEST_SECTION, counter_array_symbol};
use object::LittleEndian;
use object::elf::{
    FileHeader64, SHN_UNDEF, SHT_SYMTAB, STB_LOCAL, STT_NOTYPE, STT_TLS, STV_DEFAULT, STV_HIDDEN, Sym64, SymbolInfo,
};
use object::read::elf::{FileHeader, SectionHeader, SectionTable, Sym};
use object::{Object, ObjectSymbol};
use std::collections::HashSet;
use std::mem::{offset_of, size_of};

type Symbol = Sym64<LittleEndian>;
type Names = HashSet<Vec<u8>>;

/// The symbols that a shared library exports.
pub(super) fn exported(library: &[u8]) -> object::read::Result<Names> {
    let library = object::File::parse(library)?;
    let defined = library.dynamic_symbols().filter(ObjectSymbol::is_definition);
    defined.map(|symbol| Ok(symbol.name_bytes()?.to_vec())).collect()
}

/// The object with what is known of its symbols; of a shared library, what that exports. What cannot be read stays as it is, for
/// the linker to refuse.
pub(super) fn completed(mut object: Vec<u8>, exported: Option<&Names>) -> Vec<u8> {
    for (place, byte) in corrections(&object, exported).unwrap_or_default() {
        object[place] = byte;
    }
    object
}

/// Bytes of the symbol table that are to be others.
fn corrections(object: &[u8], exported: Option<&Names>) -> object::read::Result<Vec<(usize, u8)>> {
    let header = FileHeader64::<LittleEndian>::parse(object)?;
    let sections = header.sections(LittleEndian, object)?;
    let thread_local = thread_local_arrays(object, &sections)?;
    let symbols = sections.symbols(LittleEndian, object, SHT_SYMTAB)?;
    let table = sections.section(symbols.section())?.sh_offset(LittleEndian) as usize;
    let mut corrections = Vec::new();
    for (index, symbol) in symbols.enumerate().filter(|(_, symbol)| symbol.st_bind() != STB_LOCAL) {
        let place = table + index.0 * size_of::<Symbol>();
        let name = symbol.name(LittleEndian, symbols.strings())?;
        if symbol.st_shndx(LittleEndian) == SHN_UNDEF {
            if symbol.st_type() == STT_NOTYPE && thread_local.contains(name) {
                corrections.push((place + offset_of!(Symbol, st_info), SymbolInfo::new(symbol.st_bind(), STT_TLS).0));
            }
        } else if symbol.st_visibility() == STV_DEFAULT
            && exported.is_some_and(|exported| !exported.contains(without_version(name)))
        {
            corrections.push((place + offset_of!(Symbol, st_other), STV_HIDDEN.0));
        }
    }
    Ok(corrections)
}

fn thread_local_arrays(object: &[u8], sections: &SectionTable<'_, FileHeader64<LittleEndian>>) -> object::read::Result<Names> {
    let mut arrays = HashSet::new();
    for section in sections.iter().filter(|section| sections.section_name(LittleEndian, section) == Ok(MANIFEST_SECTION.as_bytes()))
    {
        let manifests = split(section.data(LittleEndian, object)?).unwrap_or_default();
        let headers = manifests.into_iter().map(|manifest| manifest.header).filter(|header| header.storage == Storage::Tls);
        arrays.extend(headers.flat_map(|header| header.arrays).map(|array| counter_array_symbol(array.name).into_bytes()));
    }
    Ok(arrays)
}

/// `foo` of `foo@VERSION` and `foo@@VERSION`, as `.symver` names symbols.
fn without_version(name: &[u8]) -> &[u8] {
    name.split(|byte| *byte == b'@').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::without_version;

    #[test]
    fn versions() {
        assert_eq!(["foo", "foo@V1", "foo@@V2"].map(|name| without_version(name.as_bytes())), [b"foo"; 3]);
    }
}
