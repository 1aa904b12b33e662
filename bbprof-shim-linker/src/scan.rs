//! Finds the manifests in the inputs of a link, in parallel where they are large: only section tables and manifests are touched.

use crate::inputs::{FileKind, InputFile};
use crate::thin_archive;
use bbprof_format::manifest::{Manifest, split};
use bbprof_format::names::{MANIFEST_SECTION, MARKER_SECTION, NOTE_SECTION, PREFIX, counter_array_symbol, marker_symbol};
use bbprof_format::{Digest, FormatError};
use object::Endianness;
use object::elf::{EM_X86_64, FileHeader32, FileHeader64, SHT_SYMTAB, STB_LOCAL};
use object::read::archive::ArchiveFile;
use object::read::elf::{FileHeader, SectionHeader, Sym};
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};

/// Inputs of fewer bytes are scanned by one thread: to start others, and to have them around when mappings are removed, takes 0.6
/// ms. With 10 MB of SQLite's objects, one thread has done as early as two.
const PARALLEL_BYTES: usize = 16 << 20;

/// What names of variables begin with that LLVM emulates as thread-local.
const EMULATED_TLS: &[u8] = b"__emutls_";

/// A manifest and where it was found.
#[derive(Debug)]
pub(crate) struct FoundModule<'a> {
    /// `a.o` or `liba.a(a.o)`.
    pub origin: String,
    /// The linker may leave the module out.
    pub optional: bool,
    /// The object that it was found in.
    pub object: &'a [u8],
    /// What it says.
    pub manifest: Manifest<'a>,
}

/// What the inputs hold.
#[derive(Debug, Default)]
pub(crate) struct Scan<'a> {
    /// Modules in link order.
    pub modules: Vec<FoundModule<'a>>,
    /// The shim's own object is among the inputs: somebody upstream did the work.
    pub has_generated_object: bool,
}

impl Scan<'_> {
    /// Which modules there are, wherever they were found.
    pub(crate) fn module_ids(&self) -> HashSet<Digest> {
        self.modules.iter().map(|module| module.manifest.header.module_id).collect()
    }
}

/// An object that cannot be profiled as it is, or an archive that cannot be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum ScanError {
    #[error("{origin}: the archive is damaged: {place}: {fault}; make it again")]
    Archive { origin: String, place: String, fault: object::read::Error },
    #[error("{origin}: {fault}; recompile it")]
    Manifest { origin: String, fault: FormatError },
    #[error(
        "{origin}: instrumented, but its manifest is gone (section {MANIFEST_SECTION}, while {section} is there), and all that it counts would be lost; \
         leave the names of its sections as they are and none of them out, or compile it without bbprof"
    )]
    NoManifest { origin: String, section: String },
    #[error("{origin}: instrumented for {found}, but only 64-bit x86-64 code can be profiled; compile it without bbprof")]
    Architecture { origin: String, found: String },
    #[error(
        "{origin}: its counters are local symbols now ({symbol}), and all that it counts would be lost; \
         keep them global where symbols are made local (objcopy --wildcard --keep-global-symbol='{PREFIX}*', \
         or --wildcard --globalize-symbol='{PREFIX}*' in a run behind that with --localize-hidden), or compile it without bbprof"
    )]
    Local { origin: String, symbol: String },
    #[error(
        "{origin}: its counters were renamed ({symbol}), and all that it counts would be lost; \
         leave names that begin with {PREFIX} as they are, or compile it without bbprof"
    )]
    Renamed { origin: String, symbol: String },
    #[error(
        "{origin}: its counters are in thread-local storage that is emulated (rustc's -Ztls-model=emulated, clang's -femulated-tls), where they cannot be; \
         compile it without that, or with --storage=atomic (--bbprof-storage=atomic of bbprof-cc)"
    )]
    EmulatedTls { origin: String },
    #[error(
        "{origin}: is a copy of {first} in which functions have other names ({other}, but no {name}), and both would count in the same counters; \
         compile it for each of the names (with -D{name}={other}, say), or one of the two without bbprof"
    )]
    RenamedCopy { origin: String, first: String, name: String, other: String },
}

/// Looks through all inputs.
///
/// # Errors
/// The first object, in link order, whose manifest cannot be used, or archive whose members cannot all be read.
pub(crate) fn scan(files: &[InputFile]) -> Result<Scan<'_>, ScanError> {
    let size_bytes = files.iter().filter(|file| file.kind != FileKind::SharedLibrary).map(|file| file.bytes.len()).sum();
    scan_each(files.iter().collect(), size_bytes, scan_file)
}

/// Scans all of these, which have so many bytes together.
fn scan_each<'a, T: Send>(
    all: Vec<T>,
    size_bytes: usize,
    scan: impl Fn(T) -> Result<Scan<'a>, ScanError> + Sync + Send,
) -> Result<Scan<'a>, ScanError> {
    if size_bytes < PARALLEL_BYTES {
        return in_order(all.into_iter().map(scan));
    }
    in_order(all.into_par_iter().map(scan).collect::<Vec<_>>())
}

/// All together, or the first that is wrong.
fn in_order<'a>(scans: impl IntoIterator<Item = Result<Scan<'a>, ScanError>>) -> Result<Scan<'a>, ScanError> {
    let mut all = Scan::default();
    for scan in scans {
        let scan = scan?;
        all.modules.extend(scan.modules);
        all.has_generated_object |= scan.has_generated_object;
    }
    Ok(all)
}

fn scan_file(file: &InputFile) -> Result<Scan<'_>, ScanError> {
    match file.kind {
        FileKind::Object => scan_object(&file.bytes, file.optional, || file.origin.clone()),
        FileKind::Archive => scan_archive(file),
        _ => Ok(Scan::default()),
    }
}

fn scan_archive(file: &InputFile) -> Result<Scan<'_>, ScanError> {
    let bytes: &[u8] = &file.bytes;
    if thin_archive::is_thin(bytes) {
        // Its members are inputs of their own.
        return Ok(Scan::default());
    }
    let damaged = |place, fault| ScanError::Archive { origin: file.origin.clone(), place, fault };
    let archive = ArchiveFile::parse(bytes).map_err(|fault| damaged("its beginning".to_owned(), fault))?;
    let mut members: Vec<(&[u8], &[u8])> = Vec::new();
    let mut end = 0;
    for member in archive.members() {
        match member.and_then(|member| Ok((member.name(), member.data(bytes)?, member.file_range()))) {
            Ok((name, data, (offset, size))) => {
                members.push((name, data));
                end = offset + size;
            }
            // Linkers pass by what is wrong between members that they want, and by what follows the last.
            Err(fault) if index_names_any_from(&archive, end) => {
                return Err(damaged(format!("member {}", members.len() + 1), fault));
            }
            Err(_) => break,
        }
    }
    scan_each(members, bytes.len(), |(name, data)| {
        if !data.starts_with(b"\x7fELF") {
            return Ok(Scan::default());
        }
        scan_object(data, file.optional, || format!("{}({})", file.origin, String::from_utf8_lossy(name)))
    })
}

/// Whether the index has a symbol of a member that begins here or later.
fn index_names_any_from(archive: &ArchiveFile<'_>, offset: u64) -> bool {
    let mut symbols = archive.symbols().ok().flatten().into_iter().flatten();
    symbols.any(|symbol| symbol.is_ok_and(|symbol| symbol.offset().0 >= offset))
}

fn scan_object<'a>(bytes: &'a [u8], optional: bool, origin: impl Fn() -> String) -> Result<Scan<'a>, ScanError> {
    if let Ok(header) = FileHeader64::<Endianness>::parse(bytes) {
        let sections = sections(header, bytes);
        let machine = header.endian().map(|endian| (header.e_machine(endian), endian));
        if let Ok((machine, endian)) = machine
            && (machine != EM_X86_64 || endian != Endianness::Little)
            && !sections.manifests.is_empty()
        {
            return Err(ScanError::Architecture { origin: origin(), found: format!("ELF machine {machine:?}") });
        }
        if let (Some(marker), true, false) = (sections.marker, sections.manifests.is_empty(), sections.has_note) {
            return Err(ScanError::NoManifest { origin: origin(), section: String::from_utf8_lossy(marker).into_owned() });
        }
        let scan = read_manifests(sections, bytes, optional, &origin)?;
        if !scan.modules.is_empty() {
            expect_symbols(&symbols(header, bytes), &scan.modules, origin)?;
        }
        return Ok(scan);
    }
    if let Ok(header) = FileHeader32::<Endianness>::parse(bytes)
        && !sections(header, bytes).manifests.is_empty()
    {
        return Err(ScanError::Architecture { origin: origin(), found: "32-bit code".to_owned() });
    }
    Ok(Scan::default())
}

struct Sections<'a> {
    manifests: Vec<&'a [u8]>,
    /// The name of a section of markers, which stand in each object that counts; objcopy may have put something in front of it.
    marker: Option<&'a [u8]>,
    has_note: bool,
}

/// The sections that matter; none in a file too damaged to have a section table, which is the linker's to reject.
fn sections<'a, H: FileHeader<Endian = Endianness>>(header: &H, bytes: &'a [u8]) -> Sections<'a> {
    let mut found = Sections { manifests: Vec::new(), marker: None, has_note: false };
    let Ok(endian) = header.endian() else { return found };
    let Ok(table) = header.sections(endian, bytes) else { return found };
    for section in table.iter() {
        let Ok(name) = table.section_name(endian, section) else { continue };
        if name == MANIFEST_SECTION.as_bytes() {
            // Data beyond the end of the file reads as an empty, that is a truncated, manifest.
            found.manifests.push(section.data(endian, bytes).unwrap_or_default());
        } else if name == NOTE_SECTION.as_bytes() {
            found.has_note = true;
        } else if name.ends_with(MARKER_SECTION.as_bytes()) {
            found.marker = Some(name);
        }
    }
    found
}

/// The names of symbols, and whether they are local.
fn symbols<'a, H: FileHeader<Endian = Endianness>>(header: &H, bytes: &'a [u8]) -> Vec<(&'a [u8], bool)> {
    let Ok(endian) = header.endian() else { return Vec::new() };
    let Ok(table) = header.sections(endian, bytes) else { return Vec::new() };
    let Ok(symbols) = table.symbols(endian, bytes, SHT_SYMTAB) else { return Vec::new() };
    let name = |symbol: &H::Sym| Some((symbol.name(endian, symbols.strings()).ok()?, symbol.st_bind() == STB_LOCAL));
    symbols.iter().filter_map(name).collect()
}

/// What the generated object defines is reached by name alone. `ld -r` keeps names; objcopy may change them.
fn expect_symbols(symbols: &[(&[u8], bool)], modules: &[FoundModule<'_>], origin: impl Fn() -> String) -> Result<(), ScanError> {
    let ours: HashMap<&[u8], bool> = symbols.iter().copied().filter(|(name, _)| name.starts_with(PREFIX.as_bytes())).collect();
    for module in modules {
        let header = &module.manifest.header;
        let arrays = header.arrays.iter().filter(|array| array.len > 0).map(|array| counter_array_symbol(array.name));
        for symbol in arrays.chain([marker_symbol(header.module_id)]) {
            match ours.get(symbol.as_bytes()) {
                Some(false) => {}
                Some(true) => return Err(ScanError::Local { origin: origin(), symbol }),
                None => {
                    // Without a trace, when code was dropped from what `ld -r` put together.
                    let has_it = |name: &&[u8]| name.windows(symbol.len()).any(|part| part == symbol.as_bytes());
                    if let Some(name) = symbols.iter().map(|(name, _)| *name).find(has_it) {
                        if name.starts_with(EMULATED_TLS) {
                            return Err(ScanError::EmulatedTls { origin: origin() });
                        }
                        return Err(ScanError::Renamed { origin: origin(), symbol: String::from_utf8_lossy(name).into_owned() });
                    }
                }
            }
        }
    }
    Ok(())
}

fn read_manifests<'a>(
    sections: Sections<'a>,
    object: &'a [u8],
    optional: bool,
    origin: impl Fn() -> String,
) -> Result<Scan<'a>, ScanError> {
    let mut scan = Scan { modules: Vec::new(), has_generated_object: sections.has_note };
    for section in sections.manifests {
        let damaged = |fault| ScanError::Manifest { origin: origin(), fault };
        if section.is_empty() {
            return Err(damaged(FormatError::Truncated { kind: "manifest", expected_bytes: 64, found_bytes: 0 }));
        }
        let manifests = split(section).map_err(damaged)?;
        let module = |manifest| FoundModule { origin: origin(), optional, object, manifest };
        scan.modules.extend(manifests.into_iter().map(module));
    }
    Ok(scan)
}
