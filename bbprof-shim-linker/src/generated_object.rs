//! The object the shim adds to a link: it defines all counters as two contiguous, page-aligned banks, and tells the runtime
//! of the image.
//!
//! ```text
//! .tbss.bbprof         thread-local bank, whole pages: a hidden symbol for every array in it
//! .bss.bbprof          global bank, likewise
//! .bss.bbprof_group    empty; one for every array, in a COMDAT group of the array's name
//! .tdata.bbprof        __bbprof_delta.tls = 1 << 63, no block yet
//! .data.bbprof         __bbprof_image: the image record
//! .data.rel.ro.bbprof  addresses of what is needed of the runtime, then the presence table
//! .note.bbprof         build id and the distance to the record
//! ```
//! Being first on the link line, its (empty) groups are kept and those of the modules, each with one array, are dropped; the
//! modules' references then find the symbols of the banks.

use crate::link_plan::LinkPlan;
use bbprof_format::image::{self, PAGE_BYTES};
use bbprof_format::map::Bank;
use bbprof_format::names::{
    COUNT_PATHS_SYMBOL, DELTA_NONE, DELTA_SYMBOL, GLOBAL_BANK_SYMBOL, GLOBAL_SECTION, IMAGE_SYMBOL, NOTE_SECTION, RUNTIME_SYMBOL,
    THREAD_BLOCK_SYMBOL, TLS_BANK_SYMBOL, TLS_SECTION, counter_array_symbol, marker_symbol,
};
use object::elf::{
    R_X86_64_64, R_X86_64_PC64, SHF_ALLOC, SHF_GROUP, SHF_TLS, SHF_WRITE, SHT_NOBITS, SHT_NOTE, SHT_PROGBITS,
    SectionFlags as ElfFlags, SectionType,
};
use object::write::{Comdat, Object, Relocation, SectionId, Symbol, SymbolId, SymbolSection};
use object::{
    Architecture, BinaryFormat, ComdatKind, Endianness, RelocationFlags, SectionFlags, SectionKind, SymbolFlags, SymbolKind,
    SymbolScope,
};

/// A function of `bbprof.h`; its archive member has the others, too.
const API_SYMBOL: &str = "bbprof_dump";

/// What kind of image the object becomes part of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ImageKind {
    /// Executable that is loaded with a dynamic linker.
    Dynamic,
    /// Executable without one.
    Static,
    /// Shared library.
    Library,
}

/// The bytes of the object, the same for the same plan.
///
/// # Errors
/// When the ELF writer refuses, as it would an object of more than 4 GiB.
pub(crate) fn generate(plan: &LinkPlan<'_>, kind: ImageKind) -> Result<Vec<u8>, object::write::Error> {
    let mut generator = Generator::new();
    let record = generator.record(plan, kind);
    generator.delta();
    generator.banks(plan, kind, record)?;
    generator.presence(plan, record)?;
    generator.note(plan)?;
    // An executable stack would be asked for by its absence.
    generator.section(".note.GNU-stack", SHT_PROGBITS, ElfFlags(0));
    generator.object.write()
}

struct Generator {
    object: Object<'static>,
    image: Option<SymbolId>,
}

impl Generator {
    fn new() -> Self {
        Self { object: Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little), image: None }
    }

    fn section(&mut self, name: &str, sh_type: SectionType, sh_flags: ElfFlags) -> SectionId {
        let section = self.object.add_section(Vec::new(), name.as_bytes().to_vec(), section_kind(sh_type, sh_flags));
        self.object.section_mut(section).flags = SectionFlags::Elf { sh_type, sh_flags };
        section
    }

    fn hidden(&mut self, name: &str, section: SymbolSection, kind: SymbolKind, value: u64, size: u64) -> SymbolId {
        self.object.add_symbol(Symbol {
            name: name.as_bytes().to_vec(),
            value,
            size,
            kind,
            scope: SymbolScope::Linkage,
            weak: false,
            section,
            flags: SymbolFlags::None,
        })
    }

    fn relocate(
        &mut self,
        section: SectionId,
        offset: u64,
        symbol: SymbolId,
        r_type: object::elf::RelocationType,
    ) -> Result<(), object::write::Error> {
        let flags = RelocationFlags::Elf { r_type };
        self.object.add_relocation(section, Relocation { offset, symbol, addend: 0, flags })
    }

    /// A group that makes the linker drop the modules' groups of this name.
    fn group(&mut self, signature: SymbolId) {
        let member = self.section(".bss.bbprof_group", SHT_NOBITS, SHF_ALLOC | SHF_WRITE | SHF_GROUP);
        self.object.add_comdat(Comdat { kind: ComdatKind::Any, symbol: signature, sections: vec![member] });
    }

    fn record(&mut self, plan: &LinkPlan<'_>, kind: ImageKind) -> SectionId {
        let body = &plan.map.body;
        let flags = match kind {
            ImageKind::Dynamic => 0,
            ImageKind::Static => image::FLAG_STATIC,
            ImageKind::Library => image::FLAG_LIBRARY,
        } | if plan.uses_delta { image::FLAG_DELTA } else { 0 }
            | if plan.uses_shared { image::FLAG_SHARED } else { 0 };
        let mut record = [0_u8; image::SIZE_BYTES];
        let mut put = |at: usize, bytes: &[u8]| record[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, image::MAGIC);
        put(8, &image::VERSION.to_le_bytes());
        put(12, &(image::SIZE_BYTES as u32).to_le_bytes());
        put(image::BUILD_ID_AT, &plan.map.build_id.0);
        put(image::LAYOUT_AT, &body.layout.0);
        put(image::TLS_COUNTERS_AT, &body.tls_counters.to_le_bytes());
        put(image::GLOBAL_COUNTERS_AT, &body.global_counters.to_le_bytes());
        put(image::OPTIONAL_MODULES_AT, &(plan.optional_modules.len() as u64).to_le_bytes());
        put(image::FLAGS_AT, &flags.to_le_bytes());
        let section = self.section(".data.bbprof", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE);
        self.object.append_section_data(section, &record, 16);
        let symbol = self.hidden(IMAGE_SYMBOL, SymbolSection::Section(section), SymbolKind::Data, 0, image::SIZE_BYTES as u64);
        self.image = Some(symbol);
        section
    }

    fn delta(&mut self) {
        let section = self.section(".tdata.bbprof", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE | SHF_TLS);
        self.object.append_section_data(section, &DELTA_NONE.to_le_bytes(), 8);
        let delta = self.hidden(DELTA_SYMBOL, SymbolSection::Section(section), SymbolKind::Tls, 0, 8);
        self.group(delta);
    }

    fn banks(&mut self, plan: &LinkPlan<'_>, kind: ImageKind, record: SectionId) -> Result<(), object::write::Error> {
        let body = &plan.map.body;
        let tls = (body.tls_counters > 0).then(|| self.bank(TLS_SECTION, SHF_TLS, body.tls_counters));
        let global = (body.global_counters > 0).then(|| self.bank(GLOBAL_SECTION, ElfFlags(0), body.global_counters));
        for array in &body.arrays {
            let (section, symbol_kind) = match array.bank {
                Bank::Tls => (tls, SymbolKind::Tls),
                Bank::Global => (global, SymbolKind::Data),
            };
            if let Some(section) = section.filter(|_| array.len > 0) {
                let (at, size) = (array.first * 8, u64::from(array.len) * 8);
                let symbol = self.hidden(&counter_array_symbol(array.name), SymbolSection::Section(section), symbol_kind, at, size);
                self.group(symbol);
            }
        }
        if let Some(section) = global {
            let bytes = body.global_counters * 8;
            let bank = self.hidden(GLOBAL_BANK_SYMBOL, SymbolSection::Section(section), SymbolKind::Data, 0, bytes);
            self.relocate(record, image::GLOBAL_BANK_AT as u64, bank, R_X86_64_64)?;
        }
        if kind != ImageKind::Library {
            // The runtime of executables names the bank even when it is empty.
            let delta = self.object.symbol_id(DELTA_SYMBOL.as_bytes()).map(|delta| self.object.symbol(delta).section);
            let section = tls.map(SymbolSection::Section).or(delta).unwrap_or(SymbolSection::Undefined);
            self.hidden(TLS_BANK_SYMBOL, section, SymbolKind::Tls, 0, body.tls_counters * 8);
        }
        Ok(())
    }

    fn bank(&mut self, name: &str, extra: ElfFlags, counters: u64) -> SectionId {
        let section = self.section(name, SHT_NOBITS, SHF_ALLOC | SHF_WRITE | extra);
        self.object.append_section_bss(section, (counters * 8).next_multiple_of(PAGE_BYTES), PAGE_BYTES);
        section
    }

    /// The presence table, behind references to what the runtime must bring. Modules refer to it weakly at most, and its
    /// archive stands before them: it is this object that pulls members out of it.
    fn presence(&mut self, plan: &LinkPlan<'_>, record: SectionId) -> Result<(), object::write::Error> {
        let section = self.section(".data.rel.ro.bbprof", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE);
        let mut needed = vec![self.undefined(RUNTIME_SYMBOL, false)];
        if plan.uses_delta {
            needed.push(self.undefined(THREAD_BLOCK_SYMBOL, false));
        }
        if plan.hashes_paths {
            needed.push(self.undefined(COUNT_PATHS_SYMBOL, false));
        }
        let table_at = 8 * needed.len() as u64;
        for module in &plan.optional_modules {
            needed.push(self.undefined(&marker_symbol(*module), true));
        }
        self.object.append_section_data(section, &vec![0; needed.len() * 8], 8);
        for (position, symbol) in needed.iter().enumerate() {
            self.relocate(section, 8 * position as u64, *symbol, R_X86_64_64)?;
        }
        // Also with no optional modules: the reference keeps the section, and thereby the runtime, from garbage collection.
        let table_bytes = 8 * plan.optional_modules.len() as u64;
        let table = self.hidden("__bbprof_presence", SymbolSection::Section(section), SymbolKind::Data, table_at, table_bytes);
        self.relocate(record, image::PRESENCE_AT as u64, table, R_X86_64_64)?;
        // The API is for the program to call, which may do so weakly: kept where it does, or where the image exports it.
        let api = self.undefined(API_SYMBOL, false);
        self.object.symbol_mut(api).scope = SymbolScope::Dynamic;
        Ok(())
    }

    fn undefined(&mut self, name: &str, weak: bool) -> SymbolId {
        let symbol = self.hidden(name, SymbolSection::Undefined, SymbolKind::Unknown, 0, 0);
        self.object.symbol_mut(symbol).weak = weak;
        symbol
    }

    fn note(&mut self, plan: &LinkPlan<'_>) -> Result<(), object::write::Error> {
        const DESCRIPTION_BYTES: u32 = 24;
        let mut note = Vec::new();
        note.extend_from_slice(&(image::NOTE_NAME.len() as u32 + 1).to_le_bytes());
        note.extend_from_slice(&DESCRIPTION_BYTES.to_le_bytes());
        note.extend_from_slice(&image::NOTE_TYPE.to_le_bytes());
        note.extend_from_slice(image::NOTE_NAME.as_bytes());
        note.push(0);
        note.resize(note.len().next_multiple_of(4), 0);
        note.extend_from_slice(&plan.map.build_id.0);
        let distance_at = note.len() as u64;
        note.extend_from_slice(&[0; 8]);
        let section = self.section(NOTE_SECTION, SHT_NOTE, SHF_ALLOC);
        self.object.append_section_data(section, &note, 4);
        match self.image {
            Some(image) => self.relocate(section, distance_at, image, R_X86_64_PC64),
            None => Ok(()),
        }
    }
}

fn section_kind(sh_type: SectionType, sh_flags: ElfFlags) -> SectionKind {
    let (tls, nobits) = (sh_flags.contains(SHF_TLS), sh_type == SHT_NOBITS);
    match (tls, nobits) {
        (true, true) => SectionKind::UninitializedTls,
        (true, false) => SectionKind::Tls,
        (false, true) => SectionKind::UninitializedData,
        (false, false) if sh_type == SHT_NOTE => SectionKind::Note,
        (false, false) if sh_flags.contains(SHF_WRITE) => SectionKind::Data,
        (false, false) => SectionKind::Other,
    }
}
