//! A manifest in words.

use bbprof_format::manifest::{Callee, Edge, Function, Header, Module, Node, Site, WeightSource};
use bbprof_profile::demangle;
use std::io::{self, Write};

/// A manifest's header and body.
pub(super) type Decoded = (Header, Module);

pub(super) fn write((header, module): &Decoded, full: bool, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "manifest {} of {}", header.module_id, module.source)?;
    writeln!(out, "  producer   {}", module.producer)?;
    writeln!(out, "  directory  {}", module.directory)?;
    writeln!(out, "  counters   {:?} in storage {:?}", module.mode, header.storage)?;
    for array in &header.arrays {
        writeln!(out, "  array      {}: {} counters", array.name, array.len)?;
    }
    for checksum in &module.checksums {
        writeln!(out, "  source     {}, MD5 {}", module.string(checksum.file), module.string(checksum.md5))?;
    }
    for function in &module.functions {
        write_function(module, function, full, out)?;
    }
    for skipped in &module.skipped {
        let symbol = demangle(module.string(skipped.symbol));
        writeln!(out, "  not instrumented: {symbol}: {}", module.string(skipped.reason))?;
    }
    for alias in &module.aliases {
        let [name, function] = [alias.symbol, alias.function].map(|symbol| module.string(symbol));
        writeln!(out, "  alias      {name} of {function}, {:?}", alias.linkage)?;
    }
    Ok(())
}

fn write_function(module: &Module, function: &Function, full: bool, out: &mut dyn Write) -> io::Result<()> {
    let symbol = module.string(function.symbol);
    writeln!(out, "  function {} ({symbol})", demangle(symbol))?;
    let file = function.file.map_or("unknown source", |file| module.string(file));
    writeln!(out, "    {:?}, {file}:{}", function.linkage, function.line)?;
    writeln!(out, "    shape {} content {}", function.shape, function.content)?;
    match function.weights {
        WeightSource::Estimated => {}
        WeightSource::Measured => writeln!(out, "    counters placed by an earlier profile")?,
        WeightSource::Stale => writeln!(out, "    changed since the profile that was to place its counters: placed by estimates")?,
    }
    let end = function.first_counter as usize + function.num_planned();
    writeln!(
        out,
        "    {} blocks, {} nodes, {} edges, counters {}..{end} of array {}, {} check counters",
        function.num_blocks,
        function.nodes.len(),
        function.edges.len(),
        function.first_counter,
        function.array,
        function.check_sites.len()
    )?;
    if !function.register_blocks.is_empty() {
        let blocks: Vec<String> = function.register_blocks.iter().map(u32::to_string).collect();
        writeln!(out, "    counters in registers in loops of block {}", blocks.join(", "))?;
    }
    if !function.unrolled_blocks.is_empty() {
        let blocks: Vec<String> = function.unrolled_blocks.iter().map(u32::to_string).collect();
        writeln!(out, "    several turns counted at once in loops of block {}", blocks.join(", "))?;
    }
    if let Some(paths) = &function.paths {
        let cuts: Vec<String> = paths.cuts.iter().map(u32::to_string).collect();
        writeln!(
            out,
            "    {} paths, {} counted{}, cut edges: {}",
            paths.num_paths,
            paths.num_counted,
            if paths.hashed { " in hash tables" } else { "" },
            if cuts.is_empty() { "none".to_owned() } else { cuts.join(" ") }
        )?;
    }
    if full {
        for (position, node) in function.nodes.iter().enumerate() {
            write_node(module, position, node, out)?;
        }
        for (position, edge) in function.edges.iter().enumerate() {
            writeln!(out, "    edge {position}: {}", edge_words(edge))?;
        }
        for (counter, site) in function.sites.iter().enumerate() {
            writeln!(out, "    counter {}: {}", counter + function.num_path_counters(), site_words(*site))?;
        }
        for (counter, site) in function.check_sites.iter().enumerate() {
            writeln!(out, "    check counter {}: {}", counter + function.num_planned(), site_words(*site))?;
        }
    }
    Ok(())
}

fn write_node(module: &Module, position: usize, node: &Node, out: &mut dyn Write) -> io::Result<()> {
    let opcodes: Vec<String> = node.opcodes.iter().map(|(opcode, count)| format!("{count} {}", module.string(*opcode))).collect();
    writeln!(out, "    node {position} (block {}): {}", node.block, opcodes.join(", "))?;
    for (id, count) in &node.locations {
        let location = &module.locations[id.0 as usize];
        let place = format!("{}:{}:{}", module.string(location.file), location.line, location.column);
        let mut inlined = String::new();
        let mut outer = location.inlined_at;
        while let Some(id) = outer {
            let at = &module.locations[id.0 as usize];
            inlined.push_str(&format!(" inlined at {}:{}", module.string(at.file), at.line));
            outer = at.inlined_at;
        }
        let here = node.located_opcodes().filter(|(at, _)| at == id);
        let opcodes: Vec<&str> = here.map(|(_, opcode)| module.string(opcode)).collect();
        let function = demangle(module.string(location.function));
        writeln!(out, "      {count} at {place} in {function}{inlined}: {}", opcodes.join(", "))?;
    }
    for call in &node.calls {
        let callee = match call.callee {
            Callee::Symbol(symbol) => demangle(module.string(symbol)),
            Callee::Indirect => "through a pointer".to_owned(),
            Callee::Asm => "inline assembly".to_owned(),
        };
        writeln!(out, "      calls {callee}")?;
    }
    if let Some(ir) = node.ir {
        module.string(ir).lines().try_for_each(|line| writeln!(out, "      | {line}"))?;
    }
    Ok(())
}

fn edge_words(edge: &Edge) -> String {
    let end = |node: Option<u32>| node.map_or_else(|| "outside".to_owned(), |node| format!("node {node}"));
    let merged = if edge.multiplicity > 1 { format!(", {} successors", edge.multiplicity) } else { String::new() };
    format!("{} -> {} {:?} (successor {}{merged}), weight {}", end(edge.from), end(edge.to), edge.kind, edge.successor, edge.weight)
}

fn site_words(site: Site) -> String {
    match site {
        Site::Node(node) => format!("at the start of node {node}"),
        Site::Edge(edge) => format!("on edge {edge}"),
        Site::PhiEdge(edge) => format!("on edge {edge}, by a phi in its target"),
        Site::BeforeLoop(edge) => format!("on edge {edge}, all its turns at once in front of the loop"),
    }
}
