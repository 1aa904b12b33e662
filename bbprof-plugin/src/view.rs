//! The flattened module as the glue hands it over. Mirrors `glue/plan_abi.h`; sizes are asserted on both sides.
//!
//! These are plain data: positions refer to the arrays of the same view, `+ 1` fields use 0 for "none". [`crate::ffi`]
//! turns the raw structures into the slices of [`Module`] and [`Function`].

/// `BbprofLocation`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Location {
    pub file: u32,
    pub line: u32,
    pub column: u32,
    pub discriminator: u32,
    pub function: u32,
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

/// `BbprofQuietLoop`: an innermost loop in which nobody can look at counters.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuietLoop {
    pub header: u32,
    pub instructions: u32,
    pub blocks_begin: u32,
    pub blocks_end: u32,
}

pub(crate) const LINKAGE_INTERNAL: u32 = 1;
pub(crate) const LINKAGE_COMDAT: u32 = 2;

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
    pub quiet_loops: &'a [QuietLoop],
    /// Of all quiet loops.
    pub loop_blocks: &'a [u32],
}

/// `BbprofModuleView`, its arrays as slices.
#[derive(Clone, Debug)]
pub(crate) struct Module<'a> {
    pub source: &'a str,
    pub directory: &'a str,
    pub llvm_version: &'a str,
    pub pic_without_pie: bool,
    pub strings: Vec<String>,
    pub locations: &'a [Location],
    pub checksums: &'a [Checksum],
    pub opcode_names: &'a [u32],
    pub functions: Vec<Function<'a>>,
}

impl Function<'_> {
    pub(crate) fn block_calls(&self, block: &Block) -> &[Call] {
        &self.calls[block.calls_begin as usize..block.calls_end as usize]
    }

    pub(crate) fn blocks_of_loop(&self, quiet: &QuietLoop) -> &[u32] {
        &self.loop_blocks[quiet.blocks_begin as usize..quiet.blocks_end as usize]
    }

    pub(crate) fn block_successors(&self, block: &Block) -> &[Successor] {
        &self.successors[block.successors_begin as usize..block.successors_end as usize]
    }
}

pub(crate) const SITE_BEFORE: u32 = 0;
pub(crate) const SITE_END: u32 = 1;
pub(crate) const SITE_SPLIT: u32 = 2;
pub(crate) const SITE_LANDING: u32 = 3;
pub(crate) const SITE_LOOP: u32 = 4;

/// `BbprofSite`: where in the IR a counter is incremented.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IrSite {
    pub kind: u32,
    pub block: u32,
    pub position: u32,
    pub counter: u32,
    /// Quiet loop, position + 1, in a register of which it stands; 0: in memory.
    pub register_loop: u32,
}

pub(crate) const PATH_SET: u32 = 0;
pub(crate) const PATH_ADD: u32 = 1;
pub(crate) const PATH_COUNT_AT: u32 = 2;
pub(crate) const PATH_COUNT_BEHIND: u32 = 3;

/// `BbprofPathStep`: what code does with the path register, and where.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IrPathStep {
    pub kind: u32,
    pub block: u32,
    pub position: u32,
    pub what: u32,
    pub value: u64,
}
