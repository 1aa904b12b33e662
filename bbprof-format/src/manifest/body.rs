//! What a manifest tells of a module: its functions, their graphs, what stands in each node, and where each counter sits.

use crate::Digest;
use bbprof_flow::{
    Cfg, CfgError, CounterPlan, CounterSite, EdgeId, EdgeRole, Endpoint, FlowEdge, NodeId, PathNumbering, Splitting, Weights,
};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Index into [`Module::strings`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct StringId(pub u32);

/// Index into [`Module::locations`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct LocationId(pub u32);

/// How counters were placed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum CounterMode {
    /// The complement of a maximum spanning tree: exact nodes and edges.
    Edges,
    /// [`CounterMode::Edges`], and one more counter on every edge, for `verify`.
    Check,
    /// One in every node; edges stay unknown where they do not follow.
    Blocks,
    /// [`CounterMode::Blocks`] less what Hucovic's four patterns save.
    Patterns,
    /// One for each acyclic path: exact paths, and from them nodes and edges.
    Paths,
}

/// One compiled module.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Module {
    /// Who wrote it: bbprof's version and LLVM's.
    pub producer: String,
    /// The source file of the translation unit, as the compiler names it.
    pub source: String,
    /// The directory that relative file names start from; empty where it is not known, or differs by unit.
    pub directory: String,
    /// How counters were placed.
    pub mode: CounterMode,
    /// Every name and path once.
    pub strings: Vec<String>,
    /// Every debug location once.
    pub locations: Vec<Location>,
    /// What is known of the sources' texts.
    pub checksums: Vec<Checksum>,
    /// The instrumented functions, in module order.
    pub functions: Vec<Function>,
    /// The functions with a body that were not instrumented.
    pub skipped: Vec<Skipped>,
    /// Other names of functions of the module.
    pub aliases: Vec<Alias>,
}

/// Another name of a function, as `__attribute__((alias))` gives one, and clang does to constructors that are equal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Alias {
    /// The name, a linker symbol.
    pub symbol: StringId,
    /// The linker symbol of the function in this module.
    pub function: StringId,
    /// Who else may have a function of the name.
    pub linkage: Linkage,
}

/// What tells whether a source file is still the one that was compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Checksum {
    /// The source file.
    pub file: StringId,
    /// The MD5 of its bytes, in hex digits.
    pub md5: StringId,
}

/// A function that was left out, never in silence.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Skipped {
    /// Its linker symbol.
    pub symbol: StringId,
    /// Why, in words.
    pub reason: StringId,
    /// Who else may hold a copy; `None`: this is one, and the code that runs is another module's.
    pub linkage: Option<Linkage>,
}

/// Who else may hold a copy of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Linkage {
    /// One definition in the program.
    External,
    /// Local to the module; other modules may have a function of the same name.
    Internal,
    /// Copies in many modules, of which the linker keeps one (C++ inline functions and templates).
    Comdat,
    /// One definition in the image, which other images do not see
    /// (`-fvisibility=hidden`); they may have a function of the same name.
    Hidden,
}

/// Where the weights come from that decided the places of a function's counters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum WeightSource {
    /// The compiler's estimates.
    Estimated,
    /// An earlier profile.
    Measured,
    /// The compiler's estimates, because the function's graph is not the one of the earlier profile any more.
    Stale,
}

/// One function.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Function {
    /// Linker symbol, mangled.
    pub symbol: StringId,
    /// Who else may hold a copy.
    pub linkage: Linkage,
    /// Source file of its compilation unit; under link-time optimisation one module holds functions of many.
    pub unit: Option<StringId>,
    /// Where it is defined: file (absolute) and line.
    pub file: Option<StringId>,
    /// Line of its definition; 0 = unknown.
    pub line: u32,
    /// Digest of adjacency, edge kinds and call sites: equal shapes have the same counters.
    pub shape: Digest,
    /// Digest of the opcode sequences, taken before anything was inserted.
    pub content: Digest,
    /// Where the weights of its edges come from.
    pub weights: WeightSource,
    /// Number of basic blocks, as generated; block 0 is the entry.
    pub num_blocks: u32,
    /// Nodes in block order; node 0 is the start of the entry.
    pub nodes: Vec<Node>,
    /// Edges of the balanced graph: X -> entry first, then by source node and successor.
    pub edges: Vec<Edge>,
    /// Which of the manifest's counter arrays holds its counters.
    pub array: u32,
    /// Position of its first counter in that array.
    pub first_counter: u32,
    /// Where each planned counter is incremented, by counter; those of paths stand in front of them.
    pub sites: Vec<Site>,
    /// Check mode: where each of the counters behind the planned ones is incremented, one for every edge that code can count.
    pub check_sites: Vec<Site>,
    /// Blocks, rising, of loops whose planned counters stand in registers while they run, and reach memory where they are left.
    pub register_blocks: Vec<u32>,
    /// Blocks, rising, of loops whose planned counter is added to once in several turns, at most [`MOST_TURNS_AT_ONCE`].
    pub unrolled_blocks: Vec<u32>,
    /// Its paths, in mode [`CounterMode::Paths`]; their counters, by path number, are in
    /// the place of the planned ones unless they are hashed.
    pub paths: Option<Paths>,
}

/// The most turns of a loop that are counted by one addition.
pub const MOST_TURNS_AT_ONCE: u32 = 4;

/// The limits of a function's paths that can be asked for.
pub const PATH_LIMITS: RangeInclusive<u64> = 1..=PathNumbering::MOST_PATHS;
/// The lengths of arrays of path counters that can be asked for: up to 8 MiB of counters for one
/// function in each thread. A guess at what nobody wants more of.
pub const PATH_ARRAYS: RangeInclusive<u64> = 0..=1 << 20;

/// What tells the paths of a function, and their numbers, from its graph and the weights of its edges.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Paths {
    /// How many there are.
    pub num_paths: u64,
    /// How many of them are counted: the first ones. The others are obvious: counters at sites tell how often these were taken.
    pub num_counted: u64,
    /// Whether they are counted in hash tables, being more than an array holds. The function's one path counter then counts
    /// executions of paths that were not recorded, and its place stands for the function in the tables.
    pub hashed: bool,
    /// The cut edges, rising: those that close a cycle, those around loops whose paths are obvious then,
    /// and those without which there would be too many paths.
    pub cuts: Vec<u32>,
}

/// A basic block, or a part of one that ends at a call which may not return.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Node {
    /// The basic block it is part of; the first node of a block is its start.
    pub block: u32,
    /// Opcode (name, index into the strings) and how many of it, in the order of first appearance; debug intrinsics left out.
    pub opcodes: Vec<(StringId, u32)>,
    /// Source locations and how many instructions have each. Instructions without any (or with line 0) and phis, which make no
    /// code where they stand, are not in here.
    pub locations: Vec<(LocationId, u32)>,
    /// For each of them, which of the node's opcodes stand there: bit 0 is the first. LLVM has fewer than 64 that a node can have.
    pub opcodes_at: Vec<u64>,
    /// Source location of its last instruction: the terminator of the block, or the call that ends the node.
    pub last_location: Option<LocationId>,
    /// Whether it ends in a branch on what the instruction right before that computes. Otherwise the source computed it earlier.
    pub decided_before: bool,
    /// Calls in the order they are made; intrinsics left out.
    pub calls: Vec<CallSite>,
    /// The IR text, one instruction a line, when kept.
    pub ir: Option<StringId>,
}

/// One call.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CallSite {
    /// Who is called.
    pub callee: Callee,
    /// Where it is called from.
    pub location: Option<LocationId>,
    /// Whether nothing is counted behind it: a tail call, or one that never comes back.
    pub is_last: bool,
}

/// Who is called.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Callee {
    /// A function, by linker symbol.
    Symbol(StringId),
    /// Through a pointer.
    Indirect,
    /// Inline assembly.
    Asm,
}

/// A source location.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Location {
    /// The source file.
    pub file: StringId,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 = unknown.
    pub column: u32,
    /// DWARF discriminator.
    pub discriminator: u32,
    /// Linker symbol of the function whose source this is (linkage name, or the plain name in C).
    pub function: StringId,
    /// The file in which that function begins: another one than the line's where a macro or an included file brought the line in.
    pub function_file: StringId,
    /// Line where that function begins.
    pub function_line: u32,
    /// Where that function was inlined, when it was.
    pub inlined_at: Option<LocationId>,
}

/// A source function, and where it is inlined.
pub type Scope = (StringId, Option<LocationId>);

impl Location {
    /// The function that it is in, and where that is inlined.
    #[must_use]
    pub fn scope(&self) -> Scope {
        (self.function, self.inlined_at)
    }
}

/// What kind of transfer an edge is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum EdgeKind {
    /// X -> entry.
    Entry,
    /// Node -> X: return, resume, or a call that never returns.
    Exit,
    /// Node -> X: activations that vanish in the call ending the node.
    Vanish,
    /// Node -> the rest of its block: the call returned.
    Return,
    /// Unconditional branch.
    Fallthrough,
    /// Conditional branch.
    Branch,
    /// Switch.
    Switch,
    /// Normal return of an `invoke` or `callbr`.
    Invoke,
    /// To a landing pad.
    Unwind,
    /// `indirectbr`, or an indirect target of `callbr`.
    Indirect,
}

/// An edge of the balanced graph.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Edge {
    /// Source node, `None` = X.
    pub from: Option<u32>,
    /// Target node, `None` = X.
    pub to: Option<u32>,
    /// Kind of transfer.
    pub kind: EdgeKind,
    /// Position of the (first) successor in the terminator.
    pub successor: u32,
    /// How many successors of the terminator are merged in it (cases of a switch with one target): at least 1.
    pub multiplicity: u32,
    /// Estimated frequency that the placement used, relative to the other edges of the function.
    pub weight: u64,
}

/// Where a counter sits; the indices are those of nodes and edges of the function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Site {
    /// See [`CounterSite::Node`].
    Node(u32),
    /// See [`CounterSite::Edge`].
    Edge(u32),
    /// See [`CounterSite::PhiEdge`].
    PhiEdge(u32),
    /// See [`CounterSite::BeforeLoop`].
    BeforeLoop(u32),
}

impl From<CounterSite> for Site {
    fn from(site: CounterSite) -> Self {
        match site {
            CounterSite::Node(node) => Self::Node(node.index() as u32),
            CounterSite::Edge(edge) => Self::Edge(edge.index() as u32),
            CounterSite::PhiEdge(edge) => Self::PhiEdge(edge.index() as u32),
            CounterSite::BeforeLoop(edge) => Self::BeforeLoop(edge.index() as u32),
        }
    }
}

impl From<Site> for CounterSite {
    fn from(site: Site) -> Self {
        match site {
            Site::Node(node) => Self::Node(NodeId::new(node)),
            Site::Edge(edge) => Self::Edge(EdgeId::new(edge)),
            Site::PhiEdge(edge) => Self::PhiEdge(EdgeId::new(edge)),
            Site::BeforeLoop(edge) => Self::BeforeLoop(EdgeId::new(edge)),
        }
    }
}

impl EdgeKind {
    /// How a counter could sit on an edge of this kind.
    #[must_use]
    pub fn splitting(self) -> Splitting {
        match self {
            Self::Vanish => Splitting::Impossible,
            Self::Indirect => Splitting::Landing,
            _ => Splitting::Possible,
        }
    }

    /// Its part in the flow equations.
    #[must_use]
    pub fn role(self) -> EdgeRole {
        if self == Self::Vanish { EdgeRole::Vanish } else { EdgeRole::Flow }
    }
}

impl Function {
    /// The balanced graph that placement and solving work on.
    ///
    /// # Errors
    /// When the manifest names nodes that are not there.
    pub fn cfg(&self) -> Result<Cfg, CfgError> {
        let end = |node: Option<u32>| node.map_or(Endpoint::X, |n| Endpoint::Node(NodeId::new(n)));
        let edges = self.edges.iter().map(|edge| FlowEdge {
            from: end(edge.from),
            to: end(edge.to),
            role: edge.kind.role(),
            splitting: edge.kind.splitting(),
        });
        Cfg::new(self.nodes.len() as u32, edges.collect())
    }

    /// The plan of its counters, without those of check mode.
    #[must_use]
    pub fn plan(&self) -> CounterPlan {
        CounterPlan { sites: self.sites.iter().map(|site| (*site).into()).collect() }
    }

    /// Whether its paths are counted in hash tables.
    #[must_use]
    pub fn is_hashed(&self) -> bool {
        self.paths.as_ref().is_some_and(|paths| paths.hashed)
    }

    /// Whether some of its paths have counters of their own.
    #[must_use]
    pub fn counts_paths(&self) -> bool {
        self.paths.as_ref().is_some_and(|paths| paths.num_counted > 0)
    }

    /// How many counters of paths it has, in front of all others: one for each path that is counted; one if paths are hashed.
    #[must_use]
    pub fn num_path_counters(&self) -> usize {
        self.paths.as_ref().map_or(0, |paths| if paths.hashed { 1 } else { paths.num_counted as usize })
    }

    /// How many planned counters it has: those of paths, and one for each site.
    #[must_use]
    pub fn num_planned(&self) -> usize {
        self.num_path_counters() + self.sites.len()
    }

    /// How many counters it has, with those of check mode.
    #[must_use]
    pub fn num_counters(&self) -> usize {
        self.num_planned() + self.check_sites.len()
    }

    /// The numbered paths of its graph, if these are what was asked for.
    ///
    /// # Errors
    /// When the cuts are none of this graph, or leave another number of paths than was counted.
    pub fn path_numbering(&self) -> Option<Result<PathNumbering, String>> {
        let paths = self.paths.as_ref()?;
        let number = || {
            let cfg = self.cfg().map_err(|e| e.to_string())?;
            let edges = self.edges.iter().map(|edge| edge.weight).collect();
            let weights = Weights { nodes: vec![1; self.nodes.len()], edges, counted_loops: Vec::new(), splits: Vec::new() };
            let cuts: Vec<EdgeId> = paths.cuts.iter().map(|cut| EdgeId::new(*cut)).collect();
            let numbering = PathNumbering::with_cuts(&cfg, &weights, &cuts).map_err(|e| e.to_string())?;
            let expected = (paths.num_paths, paths.num_counted);
            let found = (numbering.num_paths(), numbering.num_counted());
            let of = |(all, counted)| format!("{all} paths and {counted} to count");
            if expected == found {
                Ok(numbering)
            } else {
                Err(format!("it has {}, says its graph, but had {}", of(found), of(expected)))
            }
        };
        Some(number())
    }
}

impl Node {
    /// Number of LLVM IR instructions, debug intrinsics left out.
    #[must_use]
    pub fn num_instructions(&self) -> u64 {
        self.opcodes.iter().map(|(_, count)| u64::from(*count)).sum()
    }

    /// Number of those that have a location: each has at most one.
    #[must_use]
    pub fn num_located(&self) -> u64 {
        self.locations.iter().map(|(_, count)| u64::from(*count)).sum()
    }

    /// Which opcodes stand at which locations.
    pub fn located_opcodes(&self) -> impl Iterator<Item = (LocationId, StringId)> {
        self.locations.iter().zip(&self.opcodes_at).flat_map(|((location, _), opcodes)| {
            let stands = move |(position, _): &(usize, &(StringId, u32))| opcodes >> position & 1 == 1;
            self.opcodes.iter().enumerate().filter(stands).map(|(_, (opcode, _))| (*location, *opcode))
        })
    }
}

impl Module {
    /// The text of a string.
    #[must_use]
    pub fn string(&self, id: StringId) -> &str {
        &self.strings[id.0 as usize]
    }

    /// A location.
    #[must_use]
    pub fn location(&self, id: LocationId) -> &Location {
        &self.locations[id.0 as usize]
    }

    /// A location, where its function was inlined, where that function was, and so on outwards.
    pub fn inline_chain(&self, id: LocationId) -> impl Iterator<Item = &Location> {
        std::iter::successors(Some(self.location(id)), |location| location.inlined_at.map(|call| self.location(call)))
    }
}
