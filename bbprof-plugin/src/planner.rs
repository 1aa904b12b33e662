//! Plans a module: which counter goes where, and the manifest that tells so.

use crate::graph::{self, Graph, NodeSpan};
use crate::options::{Options, PATH_LIMIT, StorageChoice, TlsChoice};
use crate::paths::{self, Hashed, PathLimits};
use crate::select::{Candidate, reason_to_skip};
use crate::view::{self, IrPathStep, IrSite};
use bbprof_flow::{Costs, CounterSite, Placement, check_sites, plan_counters};
use bbprof_format::frequencies::Known;
use bbprof_format::manifest::{
    ArrayHeader, CallSite, Callee, Checksum, CounterMode, EdgeKind, Function, Linkage, Location, LocationId, Manifest, Module,
    Node, Paths, Site, Skipped, Storage, StringId, WeightSource,
};
use bbprof_format::sources::is_of_toolchain;
use bbprof_format::{Digest, names};
use std::collections::{BTreeSet, HashMap};

/// What the glue applies to the IR.
#[derive(Debug)]
pub(crate) struct ModulePlan {
    pub storage: Storage,
    pub marker_symbol: String,
    pub manifest: Vec<u8>,
    /// Symbol and number of counters of each array; the first is the module's own.
    pub arrays: Vec<(String, u32)>,
    /// By function of the view.
    pub functions: Vec<FunctionPlan>,
}

/// The increments of one function.
#[derive(Debug, Default)]
pub(crate) struct FunctionPlan {
    pub array: u32,
    pub first_counter: u32,
    /// Its paths are counted in hash tables.
    pub hashes_paths: bool,
    /// What is known of where its branches go, by slot of the view's terminators; empty: nothing.
    pub branch_weights: Vec<u32>,
    pub sites: Vec<IrSite>,
    /// In the order in which they stand where several share a place.
    pub path_steps: Vec<IrPathStep>,
}

/// Plans all functions of a module.
pub(crate) fn plan_module(view: &view::Module<'_>, options: &Options) -> Result<ModulePlan, String> {
    let storage = choose_storage(view, options);
    let path_limits = path_limits(storage, options);
    let comes_back = graph::comes_back(view, options.mode);
    let mut strings = Strings::new(view.strings.clone());
    let mut functions = Vec::new();
    let mut skipped = Vec::new();
    let mut plans = Vec::with_capacity(view.functions.len());
    let mut module_counters = 0_u32;
    let mut comdat_arrays: Vec<ArrayHeader> = Vec::new();

    for function in &view.functions {
        let symbol = StringId(function.symbol);
        if let Some(reason) = skip_reason(view, function, options, &mut strings) {
            skipped.push(Skipped { symbol, reason });
            plans.push(FunctionPlan::default());
            continue;
        }
        let mut graph = graph::build(function, &comes_back);
        if let Some(seed) = options.permuted_weights {
            graph.permute_weights(seed);
        }
        let mut manifest = describe(view, function, &graph, &mut strings);
        let mut branch_weights = Vec::new();
        if let Some(frequencies) = &options.frequencies {
            let symbol = &view.strings[function.symbol as usize];
            match frequencies.of(symbol, manifest.shape, graph.nodes.len(), graph.edges.len()) {
                Known::Nothing => {}
                Known::Stale => manifest.weights = WeightSource::Stale,
                Known::Measured(measured) => {
                    manifest.weights = WeightSource::Measured;
                    graph.measure_weights(&measured.nodes, &measured.edges);
                    if options.with.branches {
                        branch_weights = graph::branch_weights::of(function, &graph, &measured.edges);
                    }
                    manifest.edges.clone_from(&graph.edges);
                }
            }
        }
        let in_words = |e: String| format!("{}: {e}", view.strings[function.symbol as usize]);
        let Placed { sites, check, path_steps, paths } =
            place(&manifest, &graph, function, options, path_limits).map_err(in_words)?;
        manifest.paths = paths;
        let registers =
            if options.with.registers { graph::register_loops::choose(function, &graph, &sites) } else { vec![0; sites.len()] };
        manifest.register_blocks = blocks_of(function, &registers);
        manifest.sites = sites.iter().map(|site| Site::from(*site)).collect();
        manifest.check_sites = check.iter().map(|site| Site::from(*site)).collect();
        let num_counters = manifest.num_counters() as u32;
        if manifest.linkage == Linkage::Comdat {
            manifest.array = comdat_arrays.len() as u32 + 1;
            let name = comdat_array_name(&view.strings[function.symbol as usize], &manifest, &path_steps, storage);
            comdat_arrays.push(ArrayHeader { name, len: num_counters });
        } else {
            manifest.first_counter = module_counters;
            module_counters = module_counters.checked_add(num_counters).ok_or("more than 2^32 counters in one module")?;
        }
        let first = manifest.first_counter;
        let first_of_sites = first + manifest.num_path_counters() as u32;
        let in_ir = |((site, register_loop), counter): ((&CounterSite, u32), u32)| IrSite {
            register_loop,
            ..ir_site(*site, counter, &manifest, &graph)
        };
        let planned = sites.iter().zip(registers).zip(first_of_sites..);
        // Check mode's own counters stay in memory: they owe nothing to the planned ones.
        let checking = check.iter().zip(std::iter::repeat(0)).zip(first + manifest.num_planned() as u32..);
        let sites = planned.chain(checking).map(in_ir).collect();
        plans.push(FunctionPlan {
            array: manifest.array,
            first_counter: first,
            hashes_paths: manifest.is_hashed(),
            branch_weights,
            sites,
            path_steps,
        });
        functions.push(manifest);
    }

    let mut module = Module {
        producer: format!("bbprof {} LLVM {}", env!("CARGO_PKG_VERSION"), view.llvm_version),
        source: source_name(view.source).to_owned(),
        directory: view.directory.to_owned(),
        mode: options.mode,
        strings: strings.list,
        locations: view.locations.iter().map(location).collect(),
        checksums: checksums(view),
        functions,
        skipped,
    };
    if let Some(doctest) = &options.doctest {
        doctest.put_back(&mut module);
    }
    let manifest = Manifest::encode(&module, storage, module_counters, &comdat_arrays);
    let header = Manifest::read(&manifest).map_err(|e| format!("the manifest just written cannot be read: {e}"))?.header;
    let arrays = header.arrays.iter().map(|array| (names::counter_array_symbol(array.name), array.len)).collect();
    Ok(ModulePlan { storage, marker_symbol: names::marker_symbol(header.module_id), manifest, arrays, functions: plans })
}

/// Each once: the modules that are put together by link-time optimisation name files in common.
fn checksums(view: &view::Module<'_>) -> Vec<Checksum> {
    let is_somewhere = |checksum: &&view::Checksum| !is_of_toolchain(&view.strings[checksum.file as usize]);
    let each: BTreeSet<_> = view.checksums.iter().filter(is_somewhere).map(|checksum| (checksum.file, checksum.md5)).collect();
    each.into_iter().map(|(file, md5)| Checksum { file: StringId(file), md5: StringId(md5) }).collect()
}

fn choose_storage(view: &view::Module<'_>, options: &Options) -> Storage {
    match (options.storage, options.tls) {
        (StorageChoice::Shared, _) => Storage::Shared,
        (StorageChoice::Atomic, _) => Storage::Atomic,
        (StorageChoice::Thread, TlsChoice::Library) => Storage::Delta,
        (StorageChoice::Thread, TlsChoice::Auto) if view.pic_without_pie => Storage::Delta,
        (StorageChoice::Thread, _) => Storage::Tls,
    }
}

/// Hash tables belong to threads; where counters do not, there may be no thread-local storage at all.
fn path_limits(storage: Storage, options: &Options) -> PathLimits {
    let hashed = match (storage, options.path_limit, options.path_array) {
        (Storage::Shared | Storage::Atomic, ..) => Hashed::Never,
        (_, None, None) => Hashed::WhereCheap,
        _ => Hashed::Always,
    };
    PathLimits { array: options.path_array, all: options.path_limit.unwrap_or(PATH_LIMIT), hashed }
}

fn skip_reason(
    view: &view::Module<'_>,
    function: &view::Function<'_>,
    options: &Options,
    strings: &mut Strings,
) -> Option<StringId> {
    if let Some(reason) = function.skip_reason.checked_sub(1) {
        return Some(StringId(reason));
    }
    let text = |id: u32| view.strings[id as usize].as_str();
    let candidate = Candidate { symbol: text(function.symbol), file: function.file.checked_sub(1).map(text) };
    reason_to_skip(options, &candidate).map(|reason| strings.intern(&reason))
}

/// Where the counters of a function are.
struct Placed {
    sites: Vec<CounterSite>,
    /// Check mode's, behind the planned ones.
    check: Vec<CounterSite>,
    /// Those of paths, in front of the others.
    path_steps: Vec<IrPathStep>,
    paths: Option<Paths>,
}

fn place(
    function: &Function,
    graph: &Graph,
    view: &view::Function<'_>,
    options: &Options,
    path_limits: PathLimits,
) -> Result<Placed, String> {
    let cfg = function.cfg().map_err(|e| e.to_string())?;
    let mut weights = graph.frequencies();
    if options.without.loops {
        weights.counted_loops.clear();
    }
    let costs = if options.without.costs { Costs::INCREMENTS_ALONE } else { Costs::default() };
    let check = if options.check { check_sites(&cfg) } else { Vec::new() };
    let placement = match options.mode {
        CounterMode::Edges | CounterMode::Check => Placement::Tree,
        CounterMode::Blocks => Placement::Blocks,
        CounterMode::Patterns => Placement::Patterns,
        CounterMode::Paths => {
            let planned = paths::plan(function, graph, view, path_limits, &costs, &weights)?;
            return Ok(Placed { sites: planned.sites, check, path_steps: planned.steps, paths: Some(planned.paths) });
        }
    };
    let sites = plan_counters(&cfg, &weights, placement, &costs).sites;
    Ok(Placed { sites, check, path_steps: Vec::new(), paths: None })
}

/// The blocks of these loops, each its position + 1 among those of the view.
fn blocks_of(function: &view::Function<'_>, loops: &[u32]) -> Vec<u32> {
    let loops = loops.iter().filter_map(|number| number.checked_sub(1)).collect::<BTreeSet<u32>>();
    let blocks = loops.iter().flat_map(|position| function.blocks_of_loop(&function.quiet_loops[*position as usize]));
    blocks.copied().collect::<BTreeSet<u32>>().into_iter().collect()
}

/// Copies of a COMDAT function share counters exactly when graph, content and counter sites are the same.
fn comdat_array_name(symbol: &str, function: &Function, path_steps: &[IrPathStep], storage: Storage) -> Digest {
    let mut sites = vec![storage as u8];
    for site in function.sites.iter().chain(&function.check_sites) {
        let (tag, position) = match site {
            Site::Node(node) => (0, node),
            Site::Edge(edge) => (1, edge),
            Site::PhiEdge(edge) => (2, edge),
            Site::BeforeLoop(edge) => (3, edge),
        };
        sites.push(tag);
        sites.extend_from_slice(&position.to_le_bytes());
    }
    // What an interrupted activation leaves behind depends on these.
    for block in &function.register_blocks {
        sites.extend_from_slice(&block.to_le_bytes());
    }
    if let Some(paths) = &function.paths {
        sites.push(u8::from(paths.hashed));
        sites.extend_from_slice(&paths.num_paths.to_le_bytes());
        sites.extend_from_slice(&paths.num_counted.to_le_bytes());
    }
    for step in path_steps {
        for field in [step.kind, step.block, step.position, step.what] {
            sites.extend_from_slice(&field.to_le_bytes());
        }
        sites.extend_from_slice(&step.value.to_le_bytes());
    }
    Digest::of_parts([symbol.as_bytes(), &function.shape.0, &function.content.0, &sites])
}

/// Where in the IR a counter site is.
pub(crate) fn ir_site(site: CounterSite, counter: u32, function: &Function, graph: &Graph) -> IrSite {
    let at_start =
        |node: &NodeSpan| IrSite { kind: view::SITE_BEFORE, block: node.block, position: node.begin, counter, register_loop: 0 };
    let node_of = |index: u32| &graph.nodes[index as usize];
    match site {
        CounterSite::Node(node) => at_start(&graph.nodes[node.index()]),
        CounterSite::PhiEdge(edge) => {
            let edge = &function.edges[edge.index()];
            let from = edge.from.expect("X -> entry is never counted by a phi");
            IrSite { kind: view::SITE_LANDING, block: node_of(from).block, position: edge.successor, counter, register_loop: 0 }
        }
        CounterSite::BeforeLoop(edge) => {
            let counted = graph.counted_loops.iter().find(|counted| counted.back_edge as usize == edge.index());
            let counted = counted.expect("placement counts in front of the loops that it was given");
            IrSite { kind: view::SITE_LOOP, block: counted.latch, position: counted.position, counter, register_loop: 0 }
        }
        CounterSite::Edge(id) => {
            let edge = &function.edges[id.index()];
            match (edge.from, edge.to) {
                (None, Some(to)) => at_start(node_of(to)),
                (Some(from), None) if node_of(from).ends_in_call => at_start(node_of(from)),
                (Some(from), None) => {
                    IrSite { kind: view::SITE_END, block: node_of(from).block, position: 0, counter, register_loop: 0 }
                }
                (Some(_), Some(to)) if edge.kind == EdgeKind::Return => at_start(node_of(to)),
                (Some(from), Some(to)) => {
                    let leaves = function.edges.iter().filter(|other| other.from == Some(from)).count();
                    let enters = function.edges.iter().filter(|other| other.to == Some(to)).count();
                    if leaves == 1 {
                        IrSite { kind: view::SITE_END, block: node_of(from).block, position: 0, counter, register_loop: 0 }
                    } else if enters == 1 {
                        at_start(node_of(to))
                    } else {
                        IrSite {
                            kind: if edge.kind == EdgeKind::Indirect { view::SITE_LANDING } else { view::SITE_SPLIT },
                            block: node_of(from).block,
                            position: edge.successor,
                            counter,
                            register_loop: 0,
                        }
                    }
                }
                (None, None) => unreachable!("no edge runs from X to X"),
            }
        }
    }
}

/// Everything of a function's manifest but its counters.
fn describe(view: &view::Module<'_>, function: &view::Function<'_>, graph: &Graph, strings: &mut Strings) -> Function {
    let mut shape = Vec::new();
    let mut content = Vec::new();
    shape.extend_from_slice(&(graph.nodes.len() as u32).to_le_bytes());
    for edge in &graph.edges {
        for field in [edge.from.map_or(0, |n| n + 1), edge.to.map_or(0, |n| n + 1), edge.kind as u32, edge.multiplicity] {
            shape.extend_from_slice(&field.to_le_bytes());
        }
    }
    let nodes = graph
        .nodes
        .iter()
        .map(|span| {
            let node = describe_node(view, function, *span, strings);
            shape.extend_from_slice(&(node.calls.len() as u32).to_le_bytes());
            let block = &function.blocks[span.block as usize];
            let at = |position: u32| (block.instructions_begin + position) as usize;
            content.extend_from_slice(&(span.end - span.begin).to_le_bytes());
            content.extend_from_slice(&function.opcodes[at(span.begin)..at(span.end)]);
            node
        })
        .collect();
    Function {
        symbol: StringId(function.symbol),
        linkage: match function.linkage {
            view::LINKAGE_INTERNAL => Linkage::Internal,
            view::LINKAGE_COMDAT => Linkage::Comdat,
            _ => Linkage::External,
        },
        unit: function.unit.checked_sub(1).map(|unit| strings.unit(unit)),
        file: function.file.checked_sub(1).map(StringId),
        line: function.line,
        shape: Digest::of(&shape),
        content: Digest::of(&content),
        weights: WeightSource::Estimated,
        num_blocks: function.blocks.len() as u32,
        nodes,
        edges: graph.edges.clone(),
        array: 0,
        first_counter: 0,
        sites: Vec::new(),
        check_sites: Vec::new(),
        register_blocks: Vec::new(),
        paths: None,
    }
}

fn describe_node(view: &view::Module<'_>, function: &view::Function<'_>, span: NodeSpan, strings: &mut Strings) -> Node {
    let block = &function.blocks[span.block as usize];
    let instructions = (block.instructions_begin + span.begin) as usize..(block.instructions_begin + span.end) as usize;
    // A phi makes no code in its block: it has the line of an assignment in one of the blocks before, or of several.
    let is_phi = |opcode: u8| view.strings[view.opcode_names[opcode as usize] as usize] == "phi";
    let opcodes = &function.opcodes[instructions.clone()];
    let located = function.instruction_locations[instructions.clone()].iter().zip(opcodes).filter(|(_, opcode)| !is_phi(**opcode));
    let location_of = |position: u32| {
        function.instruction_locations[(block.instructions_begin + position) as usize].checked_sub(1).map(LocationId)
    };
    let calls = function
        .block_calls(block)
        .iter()
        .filter(|call| (span.begin..span.end).contains(&call.position) && call.flags & view::CALL_INTRINSIC == 0)
        .map(|call| CallSite {
            callee: match call.callee_kind {
                view::CALLEE_SYMBOL => Callee::Symbol(StringId(call.callee)),
                view::CALLEE_INDIRECT => Callee::Indirect,
                _ => Callee::Asm,
            },
            location: location_of(call.position),
        })
        .collect();
    let ir = (!function.ir.is_empty()).then(|| {
        let lines: Vec<&str> = function.ir[instructions.clone()].iter().map(|line| view.strings[*line as usize].as_str()).collect();
        strings.intern(&lines.join("\n"))
    });
    Node {
        block: span.block,
        opcodes: tally(opcodes.iter().map(|opcode| StringId(view.opcode_names[*opcode as usize]))),
        locations: tally(located.filter_map(|(location, _)| location.checked_sub(1).map(LocationId))),
        last_location: span.end.checked_sub(1).and_then(location_of),
        decided_before: block.decided_before != 0 && block.instructions_begin + span.end == block.instructions_end,
        calls,
        ir,
    }
}

/// How many of each, in the order of first appearance.
fn tally<T: Copy + Eq + std::hash::Hash>(items: impl Iterator<Item = T>) -> Vec<(T, u32)> {
    let mut counts: Vec<(T, u32)> = Vec::new();
    let mut positions = HashMap::new();
    for item in items {
        let position = *positions.entry(item).or_insert_with(|| {
            counts.push((item, 0));
            counts.len() - 1
        });
        counts[position].1 += 1;
    }
    counts
}

fn location(raw: &view::Location) -> Location {
    Location {
        file: StringId(raw.file),
        line: raw.line,
        column: raw.column,
        discriminator: raw.discriminator,
        function: StringId(raw.function),
        function_line: raw.function_line,
        inlined_at: raw.inlined_at.checked_sub(1).map(LocationId),
    }
}

/// rustc names a codegen unit `src/main.rs/@/name.hash-cgu.0`.
fn source_name(source: &str) -> &str {
    source.split_once("/@/").map_or(source, |(file, _)| file)
}

/// The string table of the manifest: the view's, and what the plan adds.
struct Strings {
    list: Vec<String>,
    positions: HashMap<String, StringId>,
}

impl Strings {
    fn new(list: Vec<String>) -> Self {
        Self { list, positions: HashMap::new() }
    }

    fn intern(&mut self, text: &str) -> StringId {
        if let Some(id) = self.positions.get(text) {
            return *id;
        }
        let id = StringId(self.list.len() as u32);
        self.list.push(text.to_owned());
        self.positions.insert(text.to_owned(), id);
        id
    }

    fn unit(&mut self, unit: u32) -> StringId {
        let name = self.list[unit as usize].clone();
        let file = source_name(&name);
        if file.len() == name.len() { StringId(unit) } else { self.intern(file) }
    }
}
