//! Instruction mixes: how often each LLVM IR opcode stands in the code, and how often it was executed.
//!
//! A node knows its opcodes and its count, so the product is exact, also in a block that a call left in its middle: what stands
//! behind that call is another node. Beside the opcodes, which way conditional branches went.
//!
//! The manifest keeps opcodes without their operands' types. So [`OpcodeGroup::Vector`] holds the instructions that only vectors
//! have; an addition of vectors is an `add`, as in the IR.

use crate::profile::ProfiledImage;
use crate::{FileId, FunctionView, Profile};
use bbprof_format::manifest::{EdgeKind, Function, Module};
use std::collections::BTreeMap;

/// One opcode, or a group of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OpcodeCount {
    /// Instructions in the code.
    pub in_code: u64,
    /// Executions, in the functions whose counts are known.
    pub executed: u128,
}

/// What an opcode is for. Each opcode is in one group.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum OpcodeGroup {
    /// Loads, stores, atomics, `alloca`, and `getelementptr`, which computes addresses.
    Memory,
    /// Integer, floating-point and bitwise.
    Arithmetic,
    /// `icmp`, `fcmp`.
    Comparison,
    /// From one type to another.
    Conversion,
    /// `br`, conditional or not, `switch`, `indirectbr`.
    Branch,
    /// `call` (of intrinsics, too), `invoke`, `callbr`.
    Call,
    /// What ends the function, or the handling of an exception.
    Return,
    /// `extractelement`, `insertelement`, `shufflevector`.
    Vector,
    /// `phi`, `select`, aggregates, the rest.
    Other,
}

/// Which way conditional branches went.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BranchWays {
    /// Executions with a true condition.
    pub if_true: u128,
    /// Executions with a false condition.
    pub if_false: u128,
    /// Branches of the code of which the counters do not tell the way: both lead to one block, or the placement leaves it open.
    pub unknown: u64,
}

/// The mix of one function, or of many together.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Mix<'p> {
    /// By name.
    pub opcodes: BTreeMap<&'p str, OpcodeCount>,
    /// Which way conditional branches went.
    pub branches: BranchWays,
    /// How many functions of the program.
    pub functions: u64,
    /// Those of them without counts: their executions are in none.
    pub unsolved: u64,
}

/// One function and its mix.
#[derive(Clone, Debug)]
pub struct FunctionMix<'p> {
    /// Linker symbol.
    pub symbol: &'p str,
    /// Demangled name.
    pub name: &'p str,
    /// The source file of its compilation unit; with its folder where the profile has a file of this name in several.
    pub module: &'p str,
    /// Path of its image.
    pub image: &'p str,
    /// Where it is defined.
    pub file: Option<FileId>,
    /// The line of its definition; 0 = unknown.
    pub line: u32,
    /// Its mix.
    pub mix: Mix<'p>,
}

/// Counts of one function, when it was solved: by node and by edge.
type Counts<'p> = Option<(&'p [u64], &'p [Option<i128>])>;

impl Profile {
    /// The mix of each function, also of those without counts: by image, solved ones first, in the order of the map.
    pub fn mixes(&self) -> impl Iterator<Item = FunctionMix<'_>> {
        self.images.iter().flat_map(|image| {
            let solved = image.solved.functions.iter().map(|counts| {
                let known = Some((&counts.nodes[..], &counts.edges[..]));
                function_mix(image, counts.module, counts.function, &counts.name, known)
            });
            let unsolved = image.solved.inexact.iter();
            solved.chain(unsolved.map(|inexact| function_mix(image, inexact.module, inexact.function, &inexact.name, None)))
        })
    }
}

impl<'p> FunctionView<'p> {
    /// Its mix.
    #[must_use]
    pub fn mix(self) -> Mix<'p> {
        mix_of(self.module, self.manifest, Some((&self.counts.nodes, &self.counts.edges)))
    }
}

fn function_mix<'p>(image: &'p ProfiledImage, module_at: u32, at: u32, name: &'p str, counts: Counts<'p>) -> FunctionMix<'p> {
    let module = &image.image.modules[module_at as usize].module;
    let function = &module.functions[at as usize];
    FunctionMix {
        symbol: module.string(function.symbol),
        name,
        module: image.module_name(module_at, function.unit),
        image: &image.path,
        file: function.file.and_then(|file| image.files[module_at as usize][file.0 as usize]),
        line: function.line,
        mix: mix_of(module, function, counts),
    }
}

fn mix_of<'p>(module: &'p Module, function: &'p Function, counts: Counts<'p>) -> Mix<'p> {
    let mut mix = Mix { functions: 1, unsolved: u64::from(counts.is_none()), ..Mix::default() };
    for (position, node) in function.nodes.iter().enumerate() {
        let executions = counts.map_or(0, |(nodes, _)| u128::from(nodes[position]));
        for (id, number) in &node.opcodes {
            let count = mix.opcodes.entry(module.string(*id)).or_default();
            count.in_code += u64::from(*number);
            count.executed += u128::from(*number) * executions;
        }
    }
    mix.branches = branch_ways(function, counts);
    mix
}

/// The edges of one branch stand side by side; both must be known.
fn branch_ways(function: &Function, counts: Counts<'_>) -> BranchWays {
    let mut ways = BranchWays::default();
    let branches: Vec<usize> = (0..function.edges.len()).filter(|at| function.edges[*at].kind == EdgeKind::Branch).collect();
    for branch in branches.chunk_by(|a, b| function.edges[*a].from == function.edges[*b].from) {
        let count = |at: usize| counts.and_then(|(_, edges)| edges[at]).and_then(|count| u128::try_from(count).ok());
        match branch {
            [first, second] if function.edges[*first].successor == 0 => match (count(*first), count(*second)) {
                (Some(if_true), Some(if_false)) => {
                    ways.if_true += if_true;
                    ways.if_false += if_false;
                }
                _ => ways.unknown += 1,
            },
            _ => ways.unknown += 1,
        }
    }
    ways
}

impl<'p> Mix<'p> {
    /// Adds another mix.
    pub fn add(&mut self, other: &Self) {
        for (opcode, added) in &other.opcodes {
            let count = self.opcodes.entry(opcode).or_default();
            count.in_code += added.in_code;
            count.executed += added.executed;
        }
        self.branches.if_true += other.branches.if_true;
        self.branches.if_false += other.branches.if_false;
        self.branches.unknown += other.branches.unknown;
        self.functions += other.functions;
        self.unsolved += other.unsolved;
    }

    /// All instructions.
    #[must_use]
    pub fn total(&self) -> OpcodeCount {
        self.opcodes.values().fold(OpcodeCount::default(), |sum, count| sum.plus(*count))
    }

    /// The groups that occur, each with its sum.
    #[must_use]
    pub fn groups(&self) -> BTreeMap<OpcodeGroup, OpcodeCount> {
        let mut groups: BTreeMap<OpcodeGroup, OpcodeCount> = BTreeMap::new();
        for (opcode, count) in &self.opcodes {
            let sum = groups.entry(OpcodeGroup::of(opcode)).or_default();
            *sum = sum.plus(*count);
        }
        groups
    }
}

impl OpcodeCount {
    fn plus(self, other: Self) -> Self {
        Self { in_code: self.in_code + other.in_code, executed: self.executed + other.executed }
    }
}

impl OpcodeGroup {
    /// The group of an opcode, by LLVM's name of it.
    #[must_use]
    pub fn of(opcode: &str) -> Self {
        match opcode {
            "alloca" | "load" | "store" | "fence" | "cmpxchg" | "atomicrmw" | "getelementptr" => Self::Memory,
            "add" | "sub" | "mul" | "udiv" | "sdiv" | "urem" | "srem" | "shl" | "lshr" | "ashr" | "and" | "or" | "xor" | "fneg"
            | "fadd" | "fsub" | "fmul" | "fdiv" | "frem" => Self::Arithmetic,
            "icmp" | "fcmp" => Self::Comparison,
            "trunc" | "zext" | "sext" | "fptrunc" | "fpext" | "fptoui" | "fptosi" | "uitofp" | "sitofp" | "ptrtoint"
            | "ptrtoaddr" | "inttoptr" | "bitcast" | "addrspacecast" => Self::Conversion,
            "br" | "switch" | "indirectbr" => Self::Branch,
            "call" | "invoke" | "callbr" => Self::Call,
            "ret" | "resume" | "unreachable" | "cleanupret" | "catchret" | "catchswitch" => Self::Return,
            "extractelement" | "insertelement" | "shufflevector" => Self::Vector,
            _ => Self::Other,
        }
    }

    /// Its name in every output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Arithmetic => "arithmetic",
            Self::Comparison => "comparison",
            Self::Conversion => "conversion",
            Self::Branch => "branch",
            Self::Call => "call",
            Self::Return => "return",
            Self::Vector => "vector",
            Self::Other => "other",
        }
    }
}
