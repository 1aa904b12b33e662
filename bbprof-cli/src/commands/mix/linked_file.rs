//! What a linked program or library says of itself without being run: its build id, and which optional modules it has.
//!
//! The note `.note.bbprof` leads to the image record (see `bbprof_format::image`), the record to the presence table. A slot of
//! it is taken when it holds an address, or a dynamic relocation puts one there.

use anyhow::{Context, Result, bail};
use bbprof_format::names::NOTE_SECTION;
use bbprof_format::{BuildId, Digest, image};
use object::{File, Object, ObjectSection, RelocationTarget};
use std::collections::HashMap;

/// Bytes of the note before its description: three words, and the name, padded to words.
const NOTE_HEAD_BYTES: usize = 12 + (image::NOTE_NAME.len() + 1).next_multiple_of(4);
/// The description: build id, distance to the record.
const DESCRIPTION_BYTES: usize = 24;

/// A program or library that bbprof linked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct LinkedFile {
    pub(super) build_id: BuildId,
    /// By position in the presence table.
    pub(super) presence: Vec<bool>,
}

impl LinkedFile {
    /// Reads an ELF file; `None` when it is none, or has no note of bbprof.
    ///
    /// # Errors
    /// When it has the note, but not what the note leads to.
    pub(super) fn read(bytes: &[u8]) -> Result<Option<Self>> {
        let Ok(file) = File::parse(bytes) else { return Ok(None) };
        let Some(note) = file.section_by_name(NOTE_SECTION) else { return Ok(None) };
        let data = note.data().context("the note cannot be read")?;
        if data.len() < NOTE_HEAD_BYTES + DESCRIPTION_BYTES || &data[12..12 + image::NOTE_NAME.len()] != image::NOTE_NAME.as_bytes()
        {
            bail!("section {NOTE_SECTION} is no note of bbprof");
        }
        let (id, distance) = data[NOTE_HEAD_BYTES..NOTE_HEAD_BYTES + DESCRIPTION_BYTES].split_at(16);
        let build_id: BuildId = Digest(id.try_into().expect("16 bytes"));
        let distance = u64::from_le_bytes(distance.try_into().expect("8 bytes"));
        let record = (note.address() + NOTE_HEAD_BYTES as u64 + 16).wrapping_add(distance);
        let memory = Memory::of(&file);
        if memory.bytes(record, image::MAGIC.len())? != image::MAGIC {
            bail!("its note does not lead to an image record at address {record:#x}");
        }
        let len = memory.word(record + image::OPTIONAL_MODULES_AT as u64)?;
        let table = memory.word(record + image::PRESENCE_AT as u64)?;
        let presence = (0..len).map(|position| Ok(memory.word(table + 8 * position)? != 0)).collect::<Result<_>>()?;
        Ok(Some(Self { build_id, presence }))
    }
}

/// The file as the dynamic linker lays it out, loaded at its own addresses.
struct Memory<'f> {
    file: &'f File<'f>,
    /// Relocated words: what is added to the base, or to the address of a symbol that is defined.
    relocated: HashMap<u64, u64>,
}

impl<'f> Memory<'f> {
    fn of(file: &'f File<'f>) -> Self {
        let relocations = file.dynamic_relocations().into_iter().flatten();
        // A symbol of a later image may still be missing, but the markers of modules are hidden: they have none.
        let absolute = relocations.filter(|(_, relocation)| relocation.target() == RelocationTarget::Absolute);
        Self { file, relocated: absolute.map(|(at, relocation)| (at, relocation.addend() as u64)).collect() }
    }

    fn bytes(&self, address: u64, len: usize) -> Result<&'f [u8]> {
        let found = self.file.sections().find_map(|section| section.data_range(address, len as u64).ok().flatten());
        found.with_context(|| format!("address {address:#x} of the image record is in no section"))
    }

    fn word(&self, address: u64) -> Result<u64> {
        if let Some(value) = self.relocated.get(&address) {
            return Ok(*value);
        }
        Ok(u64::from_le_bytes(self.bytes(address, 8)?.try_into().expect("8 bytes")))
    }
}
