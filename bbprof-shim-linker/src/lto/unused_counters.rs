//! Counter arrays that a native object names, but does not use: link-time optimisation has left out its copies of functions that
//! others have, too. Their names are undefined symbols then (of `.hidden`, LLVM's AsmPrinter.cpp), without a type, which linkers
//! take for another thing than thread-local storage.

use bbprof_format::manifest::{Storage, split};
use bbprof_format::names::{MANIFEST_SECTION, counter_array_symbol};
use object::LittleEndian;
use object::elf::{FileHeader64, SHN_UNDEF, SHT_SYMTAB, STT_NOTYPE, STT_TLS, Sym64, SymbolInfo};
use object::read::elf::{FileHeader, SectionHeader, Sym};
use std::collections::HashSet;
use std::mem::{offset_of, size_of};

type Symbol = Sym64<LittleEndian>;

/// Says of such symbols that they are thread-local. What cannot be read stays as it is, for the linker to refuse.
pub(super) fn typed(mut object: Vec<u8>) -> Vec<u8> {
    for (place, info) in untyped(&object).unwrap_or_default() {
        object[place] = info.0;
    }
    object
}

/// Where their `st_info` is, and what it should be.
fn untyped(object: &[u8]) -> object::read::Result<Vec<(usize, SymbolInfo)>> {
    let header = FileHeader64::<LittleEndian>::parse(object)?;
    let sections = header.sections(LittleEndian, object)?;
    let mut thread_local = HashSet::new();
    for section in sections.iter().filter(|section| sections.section_name(LittleEndian, section) == Ok(MANIFEST_SECTION.as_bytes()))
    {
        let manifests = split(section.data(LittleEndian, object)?).unwrap_or_default();
        let headers = manifests.into_iter().map(|manifest| manifest.header).filter(|header| header.storage == Storage::Tls);
        thread_local.extend(headers.flat_map(|header| header.arrays).map(|array| counter_array_symbol(array.name).into_bytes()));
    }
    let symbols = sections.symbols(LittleEndian, object, SHT_SYMTAB)?;
    let table = sections.section(symbols.section())?.sh_offset(LittleEndian) as usize;
    let is_untyped = |symbol: &Symbol| {
        let is_array = symbol.name(LittleEndian, symbols.strings()).is_ok_and(|name| thread_local.contains(name));
        symbol.st_shndx(LittleEndian) == SHN_UNDEF && symbol.st_type() == STT_NOTYPE && is_array
    };
    let found = symbols.enumerate().filter(|(_, symbol)| is_untyped(symbol)).map(|(index, symbol)| {
        let place = table + index.0 * size_of::<Symbol>() + offset_of!(Symbol, st_info);
        (place, SymbolInfo::new(symbol.st_bind(), STT_TLS))
    });
    Ok(found.collect())
}
