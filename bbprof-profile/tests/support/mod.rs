//! Modules made by hand, and executions of them: what the plugin, the linker shim and a run would have made.
//!
//! A function is described by its blocks and edges; counters are placed by the real planner. Running it is walking its edges:
//! every step adds to the truth and to the counters that sit on it. The truth is what a profile must show.

#![allow(dead_code, reason = "not every test uses every part")]

use bbprof_flow::{Costs, CounterSite, PathNumbering, Placement, Weights, check_sites, plan_counters, plan_counters_beside};
use bbprof_format::HashedPath;
use bbprof_format::manifest::{
    ArrayHeader, CallSite, Callee, CounterMode, Edge, EdgeKind, Function, Linkage, Location, LocationId, Manifest, Module, Node,
    Paths, Site, Storage, StringId, WeightSource,
};
use bbprof_format::map::{ArrayPlacement, Bank, Body, BuildMap, LinkedModule, layout_digest};
use bbprof_format::merged::{ImageCounters, Process};
use bbprof_format::{BuildId, Digest};
use bbprof_profile::{Profile, ProfileError};

/// A module that grows.
pub(crate) struct ModuleMaker {
    pub(crate) module: Module,
    comdat_arrays: Vec<ArrayHeader>,
    module_counters: u32,
    /// Whether functions to come count their paths in hash tables.
    pub(crate) hashes_paths: bool,
}

/// One node to be: its block, how many instructions at each location, its calls.
pub(crate) struct NodeMaker {
    pub(crate) block: u32,
    pub(crate) places: Vec<(u32, u32)>,
    pub(crate) calls: Vec<&'static str>,
}

/// A node of block `block` with `places`: line and number of instructions.
pub(crate) fn node(block: u32, places: &[(u32, u32)]) -> NodeMaker {
    NodeMaker { block, places: places.to_vec(), calls: Vec::new() }
}

impl NodeMaker {
    pub(crate) fn calling(mut self, callee: &'static str) -> Self {
        self.calls.push(callee);
        self
    }
}

impl ModuleMaker {
    pub(crate) fn new(source: &str, mode: CounterMode) -> Self {
        let module = Module {
            producer: "test".into(),
            source: source.into(),
            directory: "/src".into(),
            mode,
            strings: vec![source.to_owned()],
            locations: vec![],
            checksums: vec![],
            functions: vec![],
            skipped: vec![],
            aliases: vec![],
        };
        Self { module, comdat_arrays: vec![], module_counters: 0, hashes_paths: false }
    }

    pub(crate) fn string(&mut self, text: &str) -> StringId {
        let known = self.module.strings.iter().position(|known| known == text);
        StringId(known.unwrap_or_else(|| {
            self.module.strings.push(text.to_owned());
            self.module.strings.len() - 1
        }) as u32)
    }

    pub(crate) fn location(&mut self, function: &str, line: u32, inlined_at: Option<LocationId>) -> LocationId {
        let function = self.string(function);
        let file = StringId(0);
        let new = Location { file, line, column: 1, discriminator: 0, function, function_file: file, function_line: 1, inlined_at };
        let known = self.module.locations.iter().position(|known| *known == new);
        LocationId(known.unwrap_or_else(|| {
            self.module.locations.push(new);
            self.module.locations.len() - 1
        }) as u32)
    }

    /// Adds a function; edges are `(from, to, kind)`, `None` = outside. Returns its position.
    pub(crate) fn function(
        &mut self,
        symbol: &str,
        linkage: Linkage,
        nodes: Vec<NodeMaker>,
        edges: &[(Option<u32>, Option<u32>, EdgeKind)],
    ) -> usize {
        let name = self.string(symbol);
        let made: Vec<Node> = nodes.iter().map(|node| self.make_node(symbol, node)).collect();
        let edges: Vec<Edge> =
            edges.iter().map(|&(from, to, kind)| Edge { from, to, kind, successor: 0, multiplicity: 1, weight: 1 }).collect();
        let mut function = Function {
            symbol: name,
            linkage,
            unit: None,
            file: Some(StringId(0)),
            line: 1,
            shape: Digest::of(format!("{edges:?}").as_bytes()),
            content: Digest::of(format!("{made:?}").as_bytes()),
            weights: WeightSource::Estimated,
            num_blocks: made.last().map_or(0, |node| node.block + 1),
            nodes: made,
            edges,
            array: 0,
            first_counter: self.module_counters,
            sites: vec![],
            check_sites: vec![],
            register_blocks: vec![],
            unrolled_blocks: vec![],
            paths: None,
        };
        let cfg = function.cfg().expect("a sound graph");
        let placement = match self.module.mode {
            CounterMode::Blocks => Placement::Blocks,
            CounterMode::Patterns => Placement::Patterns,
            CounterMode::Edges | CounterMode::Check | CounterMode::Paths => Placement::Tree,
        };
        let plan = plan_counters(&cfg, &Weights::uniform(&cfg), placement, &Costs::default());
        function.sites = plan.sites.into_iter().map(Site::from).collect();
        if self.module.mode == CounterMode::Paths {
            let numbering = PathNumbering::new(&cfg, &Weights::uniform(&cfg), &[], 1_000);
            let cuts = numbering.cuts().iter().map(|cut| cut.index() as u32).collect();
            let beside = plan_counters_beside(&cfg, &Weights::uniform(&cfg), &Costs::default(), &numbering);
            function.sites = beside.sites.into_iter().map(Site::from).collect();
            let (num_paths, num_counted) = (numbering.num_paths(), numbering.num_counted());
            let hashed = self.hashes_paths && num_counted > 0;
            function.paths = Some(Paths { num_paths, num_counted, hashed, cuts });
        }
        if self.module.mode == CounterMode::Check {
            function.check_sites = check_sites(&cfg).into_iter().map(Site::from).collect();
        }
        let counters = function.num_counters() as u32;
        if linkage == Linkage::Comdat {
            let array = Digest::of_parts([symbol.as_bytes(), &function.shape.0]);
            self.comdat_arrays.push(ArrayHeader { name: array, len: counters });
            function.array = self.comdat_arrays.len() as u32;
            function.first_counter = 0;
        } else {
            self.module_counters += counters;
        }
        self.module.functions.push(function);
        self.module.functions.len() - 1
    }

    fn make_node(&mut self, symbol: &str, node: &NodeMaker) -> Node {
        let add = self.string("add");
        let call = self.string("call");
        let instructions: u32 = node.places.iter().map(|(_, count)| count).sum();
        let mut opcodes = vec![(add, instructions)];
        if !node.calls.is_empty() {
            opcodes = vec![(add, instructions - node.calls.len() as u32), (call, node.calls.len() as u32)];
        }
        Node {
            block: node.block,
            opcodes,
            locations: node.places.iter().map(|(line, count)| (self.location(symbol, *line, None), *count)).collect(),
            opcodes_at: vec![1; node.places.len()],
            last_location: node.places.last().map(|(line, _)| self.location(symbol, *line, None)),
            decided_before: true,
            calls: node
                .calls
                .iter()
                .map(|callee| CallSite { callee: Callee::Symbol(self.string(callee)), location: None, is_last: false })
                .collect(),
            ir: None,
        }
    }

    pub(crate) fn manifest(&self) -> Vec<u8> {
        Manifest::encode(&self.module, Storage::Tls, self.module_counters, &self.comdat_arrays)
    }
}

/// A linked image and one process of it.
pub(crate) struct Run {
    pub(crate) map: BuildMap<'static>,
    pub(crate) counters: ImageCounters,
    pub(crate) processes: Vec<Process>,
}

impl Run {
    /// Links the modules; nothing has run yet.
    pub(crate) fn new(modules: &[(&ModuleMaker, Option<u32>)]) -> Self {
        let mut arrays: Vec<ArrayPlacement> = Vec::new();
        let mut linked = Vec::new();
        let mut first = 0;
        for (position, (maker, optional)) in modules.iter().enumerate() {
            let manifest = maker.manifest();
            for array in &Manifest::read(&manifest).expect("just written").header.arrays {
                if arrays.iter().all(|known| known.name != array.name) {
                    arrays.push(ArrayPlacement::new(*array, Bank::Tls, first));
                    first += u64::from(array.len);
                }
            }
            linked.push(LinkedModule { origin: format!("{position}.o"), optional: *optional, manifest: manifest.into() });
        }
        let layout = layout_digest(&arrays);
        let build_id: BuildId = Digest::of_parts(linked.iter().map(|module| &module.manifest[..]));
        let presence = vec![true; modules.iter().filter(|(_, optional)| optional.is_some()).count()];
        let counters = ImageCounters {
            build_id,
            layout,
            path: "/bin/app".into(),
            presence,
            tls: vec![0; first as usize],
            global: vec![],
            hashed_paths: vec![],
            map: None,
        };
        let body = Body { output: "app".into(), layout, tls_counters: first, global_counters: 0, arrays, modules: linked };
        let process = Process {
            executable: "/bin/app".into(),
            pid: 7,
            begun_ns: 5,
            resets: 0,
            number: 1,
            fate: "exit 0".into(),
            caveat: None,
            images: vec![build_id],
            threads: 0,
        };
        Self { map: BuildMap { build_id, body }, counters, processes: vec![process] }
    }

    /// Walks these edges `times` times, as the instrumented function would: counters on them and on the nodes they enter count.
    pub(crate) fn walk(&mut self, maker: &ModuleMaker, function: usize, edges: &[usize], times: u64) {
        let function = &maker.module.functions[function];
        let manifest = maker.manifest();
        let array = Manifest::read(&manifest).expect("just written").header.arrays[function.array as usize].name;
        let placement = self.map.body.arrays.iter().find(|placement| placement.name == array).expect("linked");
        let first = placement.first as usize + function.first_counter as usize + function.num_path_counters();
        let sites: Vec<CounterSite> = function.sites.iter().chain(&function.check_sites).map(|site| (*site).into()).collect();
        for edge in edges {
            let entered = function.edges[*edge].to;
            for (position, site) in sites.iter().enumerate() {
                let hit = match site {
                    CounterSite::Node(node) => entered == Some(node.index() as u32),
                    CounterSite::Edge(counted) | CounterSite::PhiEdge(counted) | CounterSite::BeforeLoop(counted) => {
                        counted.index() == *edge
                    }
                };
                if hit {
                    self.counters.tls[first + position] += times;
                }
            }
        }
    }

    /// Counts a path by its edges, `times` times, as code that counts paths would: a path
    /// that ends in a call, for all who reach the call.
    pub(crate) fn count_path(&mut self, maker: &ModuleMaker, function: usize, edges: &[usize], times: u64) {
        // Where its edges tell of it.
        self.walk(maker, function, edges, times);
        let function = &maker.module.functions[function];
        let numbering = function.path_numbering().expect("counts paths").expect("its own cuts");
        let wanted = |number: &u64| {
            let path = numbering.path(*number).expect("a number of a path");
            path.edges.iter().map(|edge| edge.index()).eq(edges.iter().copied())
        };
        let number = (0..numbering.num_paths()).find(wanted).expect("a path of the function");
        if number >= numbering.num_counted() {
            return;
        }
        if function.is_hashed() {
            self.count_hashed_path(u64::from(function.first_counter), number, times);
        } else {
            self.counters.tls[function.first_counter as usize + number as usize] += times;
        }
    }

    /// Counts a path of the function that this counter stands for.
    pub(crate) fn count_hashed_path(&mut self, counter: u64, number: u64, times: u64) {
        let paths = &mut self.counters.hashed_paths;
        match paths.binary_search_by_key(&(counter, number), |path| (path.counter, path.number)) {
            Ok(position) => paths[position].count += times,
            Err(position) => paths.insert(position, HashedPath { counter, number, count: times }),
        }
    }

    pub(crate) fn profile(&self) -> Result<Profile, ProfileError> {
        Profile::new(self.processes.clone(), vec![(self.map.clone(), self.counters.clone())])
    }
}

/// `for (i = 0; i < n; i++) if (g(i)) a; else b;` on lines 2 to 5, entered at line 1. Blocks: 0 entry, 1 header, 2 body
/// (nodes 2 and 3: the call of `g` may not return), 3 then, 4 else, 5 latch, 6 exit.
pub(crate) fn loop_with_branch(maker: &mut ModuleMaker, symbol: &str, linkage: Linkage) -> usize {
    let nodes = vec![
        node(0, &[(2, 2)]),
        node(1, &[(2, 3)]),
        node(2, &[(3, 2)]).calling("g"),
        node(2, &[(3, 2)]),
        node(3, &[(4, 2)]),
        node(4, &[(5, 3)]),
        node(5, &[(2, 3)]),
        node(6, &[(6, 1)]),
    ];
    use EdgeKind::{Branch, Entry, Exit, Fallthrough, Return, Vanish};
    let edges = [
        (None, Some(0), Entry),
        (Some(0), Some(1), Fallthrough),
        (Some(1), Some(2), Branch),
        (Some(1), Some(7), Branch),
        (Some(2), Some(3), Return),
        (Some(2), None, Vanish),
        (Some(3), Some(4), Branch),
        (Some(3), Some(5), Branch),
        (Some(4), Some(6), Fallthrough),
        (Some(5), Some(6), Fallthrough),
        (Some(6), Some(1), Fallthrough),
        (Some(7), None, Exit),
    ];
    maker.function(symbol, linkage, nodes, &edges)
}

/// `int g(int)`: one block on line 8.
pub(crate) fn leaf(maker: &mut ModuleMaker, symbol: &str, linkage: Linkage) -> usize {
    use EdgeKind::{Entry, Exit};
    maker.function(symbol, linkage, vec![node(0, &[(8, 4)])], &[(None, Some(0), Entry), (Some(0), None, Exit)])
}

/// Edges of [`loop_with_branch`]: into the loop, once through each way of the `if`, out of it; and into a call that stays away.
pub(crate) const ENTER: [usize; 2] = [0, 1];
pub(crate) const THEN: [usize; 5] = [2, 4, 6, 8, 10];
pub(crate) const ELSE: [usize; 5] = [2, 4, 7, 9, 10];
pub(crate) const LEAVE: [usize; 2] = [3, 11];
pub(crate) const GONE: [usize; 2] = [2, 5];
