//! Proves that the indices of a decoded module point at something, so that no reader has to doubt them.
//!
//! A checksum guards against damage on the way; this guards against a writer that was wrong, and against files made by
//! hand. After it, indexing strings, locations, nodes, edges and counters of a module cannot fail, and every chain of
//! inlined-at locations ends. Nor has a node more instructions with a location than it has, or
//! other opcodes at one.

use super::body::{Callee, Function, LocationId, Module, Node, Site, StringId};
use super::header::ArrayHeader;

/// What is wrong, in words.
type Fault = String;

impl Module {
    /// Checks every index of the module against what it points at.
    ///
    /// # Errors
    /// The first index that points nowhere, as field, expected and found.
    pub(super) fn validate(&self, arrays: &[ArrayHeader]) -> Result<(), Fault> {
        self.validate_locations()?;
        for (position, function) in self.functions.iter().enumerate() {
            self.validate_string(function.symbol, "symbol of a function")?;
            let name = || format!("function {position} ({})", self.string(function.symbol));
            self.validate_texts(function).map_err(|fault| format!("{}: {fault}", name()))?;
            validate_graph(function).map_err(|fault| format!("{}: {fault}", name()))?;
            validate_counters(function, arrays).map_err(|fault| format!("{}: {fault}", name()))?;
        }
        for checksum in &self.checksums {
            self.validate_string(checksum.file, "file of a checksum")?;
            self.validate_string(checksum.md5, "text of a checksum")?;
        }
        for skipped in &self.skipped {
            self.validate_string(skipped.symbol, "symbol of a skipped function")?;
            self.validate_string(skipped.reason, "reason of a skipped function")?;
        }
        for alias in &self.aliases {
            self.validate_string(alias.symbol, "name of an alias")?;
            self.validate_string(alias.function, "function of an alias")?;
        }
        Ok(())
    }

    fn validate_string(&self, id: StringId, what: &str) -> Result<(), Fault> {
        in_range(id.0, self.strings.len(), what, "strings")
    }

    fn validate_location(&self, id: LocationId, what: &str) -> Result<(), Fault> {
        in_range(id.0, self.locations.len(), what, "locations")
    }

    fn validate_locations(&self) -> Result<(), Fault> {
        for location in &self.locations {
            self.validate_string(location.file, "file of a location")?;
            self.validate_string(location.function, "function of a location")?;
            self.validate_string(location.function_file, "file of a location's function")?;
            if let Some(outer) = location.inlined_at {
                self.validate_location(outer, "inlined-at location")?;
            }
        }
        self.validate_chains()
    }

    /// Follows every inlined-at chain once: a location is proven when its chain ends, or reaches a proven one.
    fn validate_chains(&self) -> Result<(), Fault> {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            OnChain(u32),
            Proven,
        }
        let mut marks = vec![Mark::New; self.locations.len()];
        for start in 0..self.locations.len() as u32 {
            let chain = |mut at: Option<LocationId>, marks: &mut Vec<Mark>, proven: bool| {
                while let Some(id) = at {
                    match marks[id.0 as usize] {
                        Mark::Proven => break,
                        Mark::OnChain(seen) if seen == start && !proven => return Err(id),
                        _ => marks[id.0 as usize] = if proven { Mark::Proven } else { Mark::OnChain(start) },
                    }
                    at = self.locations[id.0 as usize].inlined_at;
                }
                Ok(())
            };
            let first = Some(LocationId(start));
            chain(first, &mut marks, false)
                .and_then(|()| chain(first, &mut marks, true))
                .map_err(|id| format!("location {} is inlined into itself", id.0))?;
        }
        Ok(())
    }

    fn validate_texts(&self, function: &Function) -> Result<(), Fault> {
        for id in [function.unit, function.file].into_iter().flatten() {
            self.validate_string(id, "source file")?;
        }
        for node in &function.nodes {
            for (opcode, _) in &node.opcodes {
                self.validate_string(*opcode, "opcode")?;
            }
            for (location, _) in &node.locations {
                self.validate_location(*location, "location of a node")?;
            }
            let (located, all) = (node.num_located(), node.num_instructions());
            if located > all {
                return Err(format!("{located} instructions of a node have locations, but it has {all}"));
            }
            validate_opcodes_at(node)?;
            if let Some(location) = node.last_location {
                self.validate_location(location, "location of a last instruction")?;
            }
            for call in &node.calls {
                if let Callee::Symbol(symbol) = call.callee {
                    self.validate_string(symbol, "callee")?;
                }
                if let Some(location) = call.location {
                    self.validate_location(location, "location of a call")?;
                }
            }
            if let Some(ir) = node.ir {
                self.validate_string(ir, "IR text")?;
            }
        }
        Ok(())
    }
}

fn in_range(index: u32, len: usize, what: &str, of: &str) -> Result<(), Fault> {
    if (index as usize) < len { Ok(()) } else { Err(format!("{what} is number {index}, but there are {len} {of}")) }
}

/// Nodes stand in block order and every block has at least one; edges join nodes that are there.
fn validate_graph(function: &Function) -> Result<(), Fault> {
    let mut next_block = 0;
    for (position, node) in function.nodes.iter().enumerate() {
        if node.block == next_block {
            next_block += 1;
        } else if next_block == 0 || node.block != next_block - 1 {
            return Err(format!("node {position} is part of block {}, expected block {next_block} or the one before", node.block));
        }
    }
    if next_block != function.num_blocks || next_block == 0 {
        return Err(format!("its nodes make {next_block} blocks, expected {} and at least one", function.num_blocks));
    }
    for edge in &function.edges {
        for end in [edge.from, edge.to].into_iter().flatten() {
            in_range(end, function.nodes.len(), "end of an edge", "nodes")?;
        }
    }
    Ok(())
}

/// Counters lie inside their array, and sit on nodes and edges that are there.
fn validate_counters(function: &Function, arrays: &[ArrayHeader]) -> Result<(), Fault> {
    let array = arrays
        .get(function.array as usize)
        .ok_or_else(|| format!("its counters are in array {}, but there are {} arrays", function.array, arrays.len()))?;
    if let Some(paths) = function.paths.as_ref().filter(|paths| !paths.hashed && paths.num_counted > u64::from(array.len)) {
        return Err(format!("it counts {} paths, but array {} has {} counters", paths.num_counted, function.array, array.len));
    }
    let end = function.first_counter as usize + function.num_counters();
    if end > array.len as usize {
        return Err(format!("its counters end at {end}, but array {} has {} counters", function.array, array.len));
    }
    if let Some(paths) =
        function.paths.as_ref().filter(|paths| paths.num_counted > paths.num_paths || paths.hashed && paths.num_counted == 0)
    {
        return Err(format!(
            "it counts {} of {} paths{}",
            paths.num_counted,
            paths.num_paths,
            if paths.hashed { " in hash tables" } else { "" }
        ));
    }
    for cut in function.paths.iter().flat_map(|paths| &paths.cuts) {
        in_range(*cut, function.edges.len(), "cut edge", "edges")?;
    }
    for block in &function.register_blocks {
        in_range(*block, function.num_blocks as usize, "block with counters in registers", "blocks")?;
    }
    for block in &function.unrolled_blocks {
        in_range(*block, function.num_blocks as usize, "block of an unrolled loop", "blocks")?;
    }
    for site in function.sites.iter().chain(&function.check_sites) {
        match *site {
            Site::Node(node) => in_range(node, function.nodes.len(), "node of a counter", "nodes")?,
            Site::Edge(edge) | Site::PhiEdge(edge) | Site::BeforeLoop(edge) => {
                in_range(edge, function.edges.len(), "edge of a counter", "edges")?
            }
        }
    }
    Ok(())
}

/// Checks that what a node has at its locations is of the node.
fn validate_opcodes_at(node: &Node) -> Result<(), Fault> {
    let (opcodes, at, locations) = (node.opcodes.len(), node.opcodes_at.len(), node.locations.len());
    if at != locations {
        return Err(format!("opcodes at {at} locations of a node, which has {locations}"));
    }
    let known = u32::try_from(opcodes).ok().filter(|opcodes| *opcodes <= u64::BITS);
    let Some(known) = known else { return Err(format!("{opcodes} opcodes in a node: expected no more than {}", u64::BITS)) };
    match node.opcodes_at.iter().find(|at| **at == 0 || at.checked_shr(known).is_some_and(|unknown| unknown != 0)) {
        Some(at) => Err(format!("opcodes {at:#b} at a location of a node, which has {opcodes}")),
        None => Ok(()),
    }
}
