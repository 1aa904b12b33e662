//! Plans a module: which counter goes where, and the manifest that tells so.

use crate::describe::{aliases, checksums, describe, linkage_of, location};
use crate::graph::register_loops::{self, Tight};
use crate::graph::unrolled_loops;
use crate::graph::{self, Graph};
use crate::options::{Options, PATH_LIMIT};
use crate::paths::{self, Hashed, PathLimits};
use crate::place::place_of;
use crate::select::{Candidate, reason_to_skip};
use crate::strings::{Strings, source_name};
use crate::view::{self, IrPathStep, IrPlace, IrSite};
use bbprof_flow::{Costs, CounterSite, Placement, check_sites, plan_counters};
use bbprof_format::frequencies::Known;
use bbprof_format::manifest::{
    ArrayHeader, CounterMode, Function, Linkage, Manifest, Module, Paths, Site, Skipped, Storage, StringId, WeightSource,
};
use bbprof_format::{Digest, names};
use std::collections::BTreeSet;

/// What the glue applies to the IR.
#[derive(Debug)]
pub(crate) struct ModulePlan {
    pub storage: Storage,
    /// Values that leave loops get phis there.
    pub closes_loops: bool,
    /// The jump of computed `goto`s is repeated where control comes from.
    pub repeats_dispatches: bool,
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
    /// Registers of loops stand in the addresses of counters, not for the counters themselves.
    pub holds_addresses: bool,
    /// What is known of where its branches go, by slot of the view's terminators; empty: nothing.
    pub branch_weights: Vec<u32>,
    pub sites: Vec<IrSite>,
    /// In the order in which they stand where several share a place.
    pub path_steps: Vec<IrPathStep>,
}

/// Plans all functions of a module.
pub(crate) fn plan_module(view: &view::Module<'_>, options: &Options) -> Result<ModulePlan, String> {
    let storage = options.storage_of(view.pic_without_pie);
    let mut planner = ModulePlanner {
        view,
        options,
        storage,
        path_limits: path_limits(storage, options),
        comes_back: graph::comes_back(view, options.mode),
        strings: Strings::new(view.strings.clone()),
        functions: Vec::new(),
        skipped: Vec::new(),
        module_counters: 0,
        comdat_arrays: Vec::new(),
    };
    let plans = view.functions.iter().map(|function| planner.function(function)).collect::<Result<_, _>>()?;
    planner.finish(plans)
}

/// A module while its functions are planned.
struct ModulePlanner<'m> {
    view: &'m view::Module<'m>,
    options: &'m Options,
    storage: Storage,
    path_limits: PathLimits,
    /// By function of the view.
    comes_back: Vec<bool>,
    strings: Strings,
    functions: Vec<Function>,
    skipped: Vec<Skipped>,
    /// How many counters the module's own array has so far.
    module_counters: u32,
    comdat_arrays: Vec<ArrayHeader>,
}

impl ModulePlanner<'_> {
    fn symbol_of(&self, function: &view::Function<'_>) -> &str {
        &self.view.strings[function.symbol as usize]
    }

    fn function(&mut self, function: &view::Function<'_>) -> Result<FunctionPlan, String> {
        if let Some(reason) = self.skip_reason(function) {
            self.skipped.push(Skipped { symbol: StringId(function.symbol), reason, linkage: linkage_of(function.linkage) });
            return Ok(FunctionPlan::default());
        }
        let mut graph = graph::build(function, &self.comes_back);
        if let Some(seed) = self.options.permuted_weights {
            graph.permute_weights(seed);
        }
        let mut manifest = describe(self.view, function, &graph, &mut self.strings);
        let branch_weights = self.weigh(function, &mut graph, &mut manifest);
        let placed = place(&manifest, &graph, function, self.options, self.path_limits);
        let Placed { sites, check, path_steps, paths } = placed.map_err(|e| format!("{}: {e}", self.symbol_of(function)))?;
        let (holds_addresses, tight) = self.registers(&manifest);
        let unrolled = if self.unrolls() { unrolled_loops::choose(function, &graph, &sites) } else { Vec::new() };
        let registers = match tight {
            Some(tight) => register_loops::choose(function, &graph, &sites, &unrolled, tight),
            None => vec![0; sites.len()],
        };
        manifest.paths = paths;
        if !holds_addresses {
            manifest.register_blocks = blocks_of(function, registers.iter().filter_map(|number| number.checked_sub(1)));
        }
        manifest.unrolled_blocks = blocks_of(function, unrolled.iter().map(|unrolled| unrolled.tight_loop as u32));
        manifest.sites = sites.iter().map(|site| Site::from(*site)).collect();
        manifest.check_sites = check.iter().map(|site| Site::from(*site)).collect();
        self.take_counters(function, &mut manifest, &path_steps)?;

        let first = manifest.first_counter;
        let mut loops: Vec<(u32, u32)> = registers.into_iter().map(|number| (number, 0)).collect();
        for unrolled in unrolled {
            loops[unrolled.counter] = (unrolled.tight_loop as u32 + 1, unrolled.turns);
        }
        let planned = sites.iter().zip(loops).zip(first + manifest.num_path_counters() as u32..);
        // Check mode's own counters stay in memory: they owe nothing to the planned ones.
        let checking = check.iter().zip(std::iter::repeat((0, 0))).zip(first + manifest.num_planned() as u32..);
        let in_ir = |((site, (register_loop, turns)), counter): ((&CounterSite, (u32, u32)), u32)| IrSite {
            place: place_of(*site, &manifest, &graph),
            counter,
            register_loop,
            turns,
        };
        let plan = FunctionPlan {
            array: manifest.array,
            first_counter: first,
            hashes_paths: manifest.is_hashed(),
            holds_addresses,
            branch_weights,
            sites: planned.chain(checking).map(in_ir).collect(),
            path_steps,
        };
        self.functions.push(manifest);
        Ok(plan)
    }

    fn skip_reason(&mut self, function: &view::Function<'_>) -> Option<StringId> {
        if let Some(reason) = function.skip_reason.checked_sub(1) {
            return Some(StringId(reason));
        }
        let file = function.file.checked_sub(1).map(|file| self.view.strings[file as usize].as_str());
        let candidate = Candidate { symbol: self.symbol_of(function), file };
        reason_to_skip(self.options, &candidate).map(|reason| self.strings.intern(&reason))
    }

    /// Which loops have registers for counters, and whether for their addresses alone.
    fn registers(&self, manifest: &Function) -> (bool, Option<Tight>) {
        let Options { with, without, mode, .. } = self.options;
        // Elsewhere the thread's counters are found by a register anyway, or their address is a number with the instruction's own.
        let are_bare = self.storage == Storage::Tls && matches!(mode, CounterMode::Edges | CounterMode::Check | CounterMode::Paths);
        match (with.registers, manifest.weights) {
            (true, _) => (false, Some(register_loops::COUNTERS)),
            _ if without.bases || !are_bare => (false, None),
            (_, WeightSource::Measured) => (true, Some(register_loops::ADDRESSES)),
            _ => (true, Some(register_loops::ADDRESSES_BY_ESTIMATE)),
        }
    }

    /// Whether loops count several turns at once.
    fn unrolls(&self) -> bool {
        let Options { with, without, mode, .. } = self.options;
        let is_planned = matches!(mode, CounterMode::Edges | CounterMode::Check | CounterMode::Paths);
        is_planned && !with.registers && !without.unrolling
    }

    /// Takes the frequencies of an earlier run for weights, if there are any; gives what code generation is to be told of them.
    fn weigh(&self, function: &view::Function<'_>, graph: &mut Graph, manifest: &mut Function) -> Vec<u32> {
        let Some(frequencies) = &self.options.frequencies else { return Vec::new() };
        match frequencies.of(self.symbol_of(function), manifest.shape, graph.nodes.len(), graph.edges.len()) {
            Known::Nothing => {}
            Known::Stale => manifest.weights = WeightSource::Stale,
            Known::Measured(measured) => {
                manifest.weights = WeightSource::Measured;
                graph.measure_weights(&measured.nodes, &measured.edges);
                manifest.edges.clone_from(&graph.edges);
                if self.options.with.branches {
                    return graph::branch_weights::of(function, graph, &measured.edges);
                }
            }
        }
        Vec::new()
    }

    /// Gives the function its counters: those of a COMDAT function in an array of their own, others in the module's.
    fn take_counters(
        &mut self,
        function: &view::Function<'_>,
        manifest: &mut Function,
        path_steps: &[IrPathStep],
    ) -> Result<(), String> {
        let len = manifest.num_counters() as u32;
        if manifest.linkage == Linkage::Comdat {
            let name = comdat_array_name(self.symbol_of(function), manifest, path_steps, self.storage);
            self.comdat_arrays.push(ArrayHeader { name, len });
            manifest.array = self.comdat_arrays.len() as u32;
        } else {
            manifest.first_counter = self.module_counters;
            self.module_counters = self.module_counters.checked_add(len).ok_or("more than 2^32 counters in one module")?;
        }
        Ok(())
    }

    fn finish(self, functions: Vec<FunctionPlan>) -> Result<ModulePlan, String> {
        let Self { view, options, storage, .. } = self;
        let mut module = Module {
            producer: format!("bbprof {} LLVM {}", env!("CARGO_PKG_VERSION"), view.llvm_version),
            source: source_name(&view.source).to_owned(),
            directory: view.directory.clone().into_owned(),
            mode: options.mode,
            strings: self.strings.into_list(),
            locations: view.locations.iter().map(location).collect(),
            // A later text would be taken for one that was not compiled.
            checksums: if options.is_incremental { Vec::new() } else { checksums(view) },
            functions: self.functions,
            skipped: self.skipped,
            aliases: aliases(view),
        };
        if let Some(doctest) = &options.doctest {
            doctest.put_back(&mut module);
        }
        let manifest = Manifest::encode(&module, storage, self.module_counters, &self.comdat_arrays);
        let header = Manifest::read(&manifest).map_err(|e| format!("the manifest just written cannot be read: {e}"))?.header;
        let arrays = header.arrays.iter().map(|array| (names::counter_array_symbol(array.name), array.len)).collect();
        let marker_symbol = names::marker_symbol(header.module_id);
        let (closes_loops, repeats_dispatches) = (!options.without.closing, !options.without.dispatches);
        Ok(ModulePlan { storage, closes_loops, repeats_dispatches, marker_symbol, manifest, arrays, functions })
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
    let costs = if options.without.costs { Costs::INCREMENTS_ALONE } else { Costs::of_function(cfg.num_nodes()) };
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

/// The blocks of these tight loops of the view.
fn blocks_of(function: &view::Function<'_>, loops: impl Iterator<Item = u32>) -> Vec<u32> {
    let blocks = loops.flat_map(|position| function.blocks_of_loop(&function.tight_loops[position as usize]));
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
    for blocks in [&function.register_blocks, &function.unrolled_blocks] {
        sites.push(u8::MAX);
        sites.extend(blocks.iter().flat_map(|block| block.to_le_bytes()));
    }
    if let Some(paths) = &function.paths {
        sites.push(u8::from(paths.hashed));
        sites.extend_from_slice(&paths.num_paths.to_le_bytes());
        sites.extend_from_slice(&paths.num_counted.to_le_bytes());
    }
    for step in path_steps {
        let IrPlace { kind, block, position } = step.place;
        for field in [kind as u32, block, position, step.what as u32] {
            sites.extend_from_slice(&field.to_le_bytes());
        }
        sites.extend_from_slice(&step.value.to_le_bytes());
    }
    Digest::of_parts([symbol.as_bytes(), &function.shape.0, &function.content.0, &sites])
}
