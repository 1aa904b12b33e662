//! The flattened module as the glue hands it over. Mirrors `glue/plan_abi.h`; sizes are asserted on both sides.
//!
//! These are plain data: positions refer to the arrays of the same view, `+ 1` fields use 0 for "none". [`crate::ffi`]
//! turns the raw structures into the slices of [`Module`] and [`Function`].

use std::borrow::Cow;

/// `BbprofLocation`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Location {
    pub file: u32,
    pub line: u32,
    pub column: u32,
    pub discriminator: u32,
    pub function: u32,
    pub function_file: u32,
    pub function_line: u32,
    pub inlined_at: u32,
}

/// `BbprofChecksum`: both are strings.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checksum {
    pub file: u32,
    pub md5: u32,
}

/// `BbprofAlias`: symbol and function are strings.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alias {
    pub symbol: u32,
    pub function: u32,
    pub linkage: u32,
}

pub(crate) const CALL_MAY_VANISH: u32 = 1;
pub(crate) const CALL_ENDS_FUNCTION: u32 = 2;
pub(crate) const CALL_INTRINSIC: u32 = 4;
pub(crate) const CALL_RETURNS_TWICE: u32 = 8;
pub(crate) const CALL_RETURNS_BY_OTHER: u32 = 16;

pub(crate) const CALLEE_SYMBOL: u32 = 0;
pub(crate) const CALLEE_INDIRECT: u32 = 1;

/// `BbprofCall`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub position: u32,
    pub flags: u32,
    pub callee_kind: u32,
    pub callee: u32,
    pub callee_function: u32,
}

// 0: ret, unreachable.
pub(crate) const TERMINATOR_JUMP: u32 = 1;
pub(crate) const TERMINATOR_BRANCH: u32 = 2;
pub(crate) const TERMINATOR_SWITCH: u32 = 3;
pub(crate) const TERMINATOR_INVOKE: u32 = 4;
// 5: indirectbr.
pub(crate) const TERMINATOR_CALLBR: u32 = 6;
pub(crate) const TERMINATOR_RESUME: u32 = 7;

/// `BbprofSuccessor`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Successor {
    pub block: u32,
    pub reserved: u32,
    pub weight: u64,
}

/// `BbprofBlock`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub instructions_begin: u32,
    pub instructions_end: u32,
    pub calls_begin: u32,
    pub calls_end: u32,
    pub successors_begin: u32,
    pub successors_end: u32,
    pub terminator: u32,
    pub phis: u32,
    pub weight: u64,
    pub decided_before: u32,
    pub reserved: u32,
}

/// `BbprofLoop`: a loop whose turns are known in front of it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop {
    pub latch: u32,
    pub slot: u32,
    pub before: u32,
    pub before_slot: u32,
    pub instructions: u32,
    pub reserved: u32,
}

/// `BbprofTightLoop`: a loop that may turn without a call, and the blocks through which it does; or all blocks of one without any.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct TightLoop {
    pub header: u32,
    pub instructions: u32,
    pub shortest: u32,
    pub blocks_begin: u32,
    pub blocks_end: u32,
    pub takes_chunks: u32,
    pub is_quiet: u32,
    pub can_unroll: u32,
}

pub(crate) const LINKAGE_INTERNAL: u32 = 1;
pub(crate) const LINKAGE_COMDAT: u32 = 2;
pub(crate) const LINKAGE_HIDDEN: u32 = 3;
pub(crate) const LINKAGE_ELSEWHERE: u32 = 4;

/// `BbprofFunction`, its arrays as slices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function<'a> {
    pub symbol: u32,
    pub linkage: u32,
    pub unit: u32,
    pub file: u32,
    pub line: u32,
    pub skip_reason: u32,
    pub exact: bool,
    pub blocks: &'a [Block],
    pub opcodes: &'a [u8],
    pub instruction_locations: &'a [u32],
    /// Empty unless the IR text is kept.
    pub ir: &'a [u32],
    pub calls: &'a [Call],
    pub successors: &'a [Successor],
    pub loops: &'a [Loop],
    pub tight_loops: &'a [TightLoop],
    /// Of all tight loops.
    pub loop_blocks: &'a [u32],
}

/// `BbprofModuleView`, its arrays as slices.
#[derive(Clone, Debug)]
pub(crate) struct Module<'a> {
    pub source: Cow<'a, str>,
    pub directory: Cow<'a, str>,
    pub llvm_version: Cow<'a, str>,
    pub pic_without_pie: bool,
    pub strings: Vec<String>,
    pub locations: &'a [Location],
    pub checksums: &'a [Checksum],
    pub opcode_names: &'a [u32],
    pub functions: Vec<Function<'a>>,
    pub aliases: &'a [Alias],
}

impl Function<'_> {
    pub(crate) fn block_calls(&self, block: &Block) -> &[Call] {
        &self.calls[block.calls_begin as usize..block.calls_end as usize]
    }

    pub(crate) fn blocks_of_loop(&self, tight: &TightLoop) -> &[u32] {
        &self.loop_blocks[tight.blocks_begin as usize..tight.blocks_end as usize]
    }

    pub(crate) fn block_successors(&self, block: &Block) -> &[Successor] {
        &self.successors[block.successors_begin as usize..block.successors_end as usize]
    }
}

/// `BbprofPlaceKind`.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlaceKind {
    /// Before an instruction of the block; 0 = its first insertion point.
    Before = 0,
    /// Before the block's terminator.
    End = 1,
    /// In a new block on a successor slot, and all slots with the same target.
    Split = 2,
    /// In the target of a slot, for control that comes by it.
    Landing = 3,
    /// In front of a loop of the view; the block is its latch.
    Loop = 4,
}

/// `BbprofPlace`: where in the IR code is to stand.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IrPlace {
    pub kind: PlaceKind,
    pub block: u32,
    /// Of the instruction, slot or loop.
    pub position: u32,
}

/// `BbprofSite`: where in the IR a counter is incremented.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IrSite {
    pub place: IrPlace,
    pub counter: u32,
    /// Tight loop, position + 1, that has a register for it; 0: none has.
    pub register_loop: u32,
    /// How many of that loop's turns are added at once, by the last of them; 0: it is not unrolled.
    pub turns: u32,
}

/// `BbprofPathStepKind`.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathStepKind {
    Set = 0,
    Add = 1,
    CountAt = 2,
    CountBehind = 3,
}

/// `BbprofPathStep`: what code does with the path register, and where.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IrPathStep {
    pub place: IrPlace,
    pub what: PathStepKind,
    pub value: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use bbprof_format::manifest::Storage;

    /// Sizes do not tell when two values are mixed up.
    #[test]
    fn values_are_those_of_the_header() {
        let header = include_str!("../glue/plan_abi.h");
        for (name, value) in [
            ("CALL_MAY_VANISH", CALL_MAY_VANISH),
            ("CALL_ENDS_FUNCTION", CALL_ENDS_FUNCTION),
            ("CALL_INTRINSIC", CALL_INTRINSIC),
            ("CALL_RETURNS_TWICE", CALL_RETURNS_TWICE),
            ("CALL_RETURNS_BY_OTHER", CALL_RETURNS_BY_OTHER),
            ("CALLEE_SYMBOL", CALLEE_SYMBOL),
            ("CALLEE_INDIRECT", CALLEE_INDIRECT),
            ("TERMINATOR_JUMP", TERMINATOR_JUMP),
            ("TERMINATOR_BRANCH", TERMINATOR_BRANCH),
            ("TERMINATOR_SWITCH", TERMINATOR_SWITCH),
            ("TERMINATOR_INVOKE", TERMINATOR_INVOKE),
            ("TERMINATOR_CALLBR", TERMINATOR_CALLBR),
            ("TERMINATOR_RESUME", TERMINATOR_RESUME),
            ("LINKAGE_INTERNAL", LINKAGE_INTERNAL),
            ("LINKAGE_COMDAT", LINKAGE_COMDAT),
            ("LINKAGE_HIDDEN", LINKAGE_HIDDEN),
            ("LINKAGE_ELSEWHERE", LINKAGE_ELSEWHERE),
            ("PLACE_BEFORE", PlaceKind::Before as u32),
            ("PLACE_END", PlaceKind::End as u32),
            ("PLACE_SPLIT", PlaceKind::Split as u32),
            ("PLACE_LANDING", PlaceKind::Landing as u32),
            ("PLACE_LOOP", PlaceKind::Loop as u32),
            ("PATH_SET", PathStepKind::Set as u32),
            ("PATH_ADD", PathStepKind::Add as u32),
            ("PATH_COUNT_AT", PathStepKind::CountAt as u32),
            ("PATH_COUNT_BEHIND", PathStepKind::CountBehind as u32),
            ("STORAGE_TLS", Storage::Tls as u32),
            ("STORAGE_DELTA", Storage::Delta as u32),
            ("STORAGE_SHARED", Storage::Shared as u32),
            ("STORAGE_ATOMIC", Storage::Atomic as u32),
        ] {
            let begin = format!("BBPROF_{name} = ");
            let (_, rest) = header.split_once(&begin).unwrap_or_else(|| panic!("{begin}"));
            let digits = rest.split(|c: char| !c.is_ascii_digit()).next();
            assert_eq!(digits.and_then(|digits| digits.parse().ok()), Some(value), "{name}");
        }
    }
}
