//! What the manifest tells of a module besides its counters: its functions' nodes and
//! edges, digests, and where it all is in the source.

use crate::graph::{Graph, NodeSpan};
use crate::strings::Strings;
use crate::view;
use bbprof_format::Digest;
use bbprof_format::manifest::{
    Alias, CallSite, Callee, Checksum, Function, Linkage, Location, LocationId, Node, StringId, WeightSource,
};
use bbprof_format::sources::is_made_up;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Who else may hold a copy; `None` = another module holds the code that runs.
pub(crate) fn linkage_of(raw: u32) -> Option<Linkage> {
    match raw {
        view::LINKAGE_INTERNAL => Some(Linkage::Internal),
        view::LINKAGE_COMDAT => Some(Linkage::Comdat),
        view::LINKAGE_HIDDEN => Some(Linkage::Hidden),
        view::LINKAGE_ELSEWHERE => None,
        _ => Some(Linkage::External),
    }
}

/// Everything of a function's manifest but its counters.
pub(crate) fn describe(view: &view::Module<'_>, function: &view::Function<'_>, graph: &Graph, strings: &mut Strings) -> Function {
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
        linkage: linkage_of(function.linkage).expect("functions whose code is elsewhere are skipped"),
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
        unrolled_blocks: Vec::new(),
        paths: None,
    }
}

fn describe_node(view: &view::Module<'_>, function: &view::Function<'_>, span: NodeSpan, strings: &mut Strings) -> Node {
    let block = &function.blocks[span.block as usize];
    let instructions = (block.instructions_begin + span.begin) as usize..(block.instructions_begin + span.end) as usize;
    // A phi makes no code in its block: it has the line of an assignment in one of the blocks before, or of several.
    let is_phi = |opcode: u8| view.strings[view.opcode_names[opcode as usize] as usize] == "phi";
    let name = |opcode: u8| StringId(view.opcode_names[opcode as usize]);
    let ids = function.opcodes[instructions.clone()].iter().copied();
    let located = function.instruction_locations[instructions.clone()].iter().zip(ids.clone());
    let located = located.filter(|(_, opcode)| !is_phi(*opcode));
    let located = located.filter_map(|(location, opcode)| Some((LocationId(location.checked_sub(1)?), name(opcode))));
    let (opcodes, locations) = (tally(ids.map(name)), tally(located.clone().map(|(location, _)| location)));
    let opcodes_at = opcodes_at(&opcodes, &locations, located);
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
            is_last: call.flags & (view::CALL_ENDS_FUNCTION | view::CALL_RETURNS_BY_OTHER) != 0,
        })
        .collect();
    let ir = (!function.ir.is_empty()).then(|| {
        let lines: Vec<&str> = function.ir[instructions.clone()].iter().map(|line| view.strings[*line as usize].as_str()).collect();
        strings.intern(&lines.join("\n"))
    });
    Node {
        block: span.block,
        opcodes,
        locations,
        opcodes_at,
        last_location: span.end.checked_sub(1).and_then(location_of),
        decided_before: block.decided_before != 0 && block.instructions_begin + span.end == block.instructions_end,
        calls,
        ir,
    }
}

/// For each of these locations, which of these opcodes are there: bit 0 is the first.
fn opcodes_at(
    opcodes: &[(StringId, u32)],
    locations: &[(LocationId, u32)],
    located: impl Iterator<Item = (LocationId, StringId)>,
) -> Vec<u64> {
    let positions: FxHashMap<LocationId, usize> = locations.iter().enumerate().map(|(position, (id, _))| (*id, position)).collect();
    let mut opcodes_at = vec![0; locations.len()];
    for (location, name) in located {
        let opcode = opcodes.iter().position(|(opcode, _)| *opcode == name).expect("it is of the node");
        opcodes_at[positions[&location]] |= 1_u64 << opcode;
    }
    opcodes_at
}

/// How many of each, in the order of first appearance.
fn tally<T: Copy + Eq + std::hash::Hash>(items: impl Iterator<Item = T>) -> Vec<(T, u32)> {
    let mut counts: Vec<(T, u32)> = Vec::new();
    let mut positions = FxHashMap::default();
    for item in items {
        let position = *positions.entry(item).or_insert_with(|| {
            counts.push((item, 0));
            counts.len() - 1
        });
        counts[position].1 += 1;
    }
    counts
}

pub(crate) fn location(raw: &view::Location) -> Location {
    Location {
        file: StringId(raw.file),
        line: raw.line,
        column: raw.column,
        discriminator: raw.discriminator,
        function: StringId(raw.function),
        function_file: StringId(raw.function_file),
        function_line: raw.function_line,
        inlined_at: raw.inlined_at.checked_sub(1).map(LocationId),
    }
}

/// The other names of the module's functions that are names of code in this module.
pub(crate) fn aliases(view: &view::Module<'_>) -> Vec<Alias> {
    let named = |alias: &view::Alias| {
        let linkage = linkage_of(alias.linkage)?;
        Some(Alias { symbol: StringId(alias.symbol), function: StringId(alias.function), linkage })
    };
    view.aliases.iter().filter_map(named).collect()
}

/// What is known of the sources' texts, each once: the modules that are put together by
/// link-time optimisation name files in common.
pub(crate) fn checksums(view: &view::Module<'_>) -> Vec<Checksum> {
    let is_somewhere = |checksum: &&view::Checksum| !is_made_up(&view.strings[checksum.file as usize]);
    let each: BTreeSet<_> = view.checksums.iter().filter(is_somewhere).map(|checksum| (checksum.file, checksum.md5)).collect();
    each.into_iter().map(|(file, md5)| Checksum { file: StringId(file), md5: StringId(md5) }).collect()
}
