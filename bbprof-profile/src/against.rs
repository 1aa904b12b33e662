//! Two profiles of one program and input, counted in different ways, must have the same counts: where they have not.

use crate::{BlockEdge, FunctionView, Profile};
use bbprof_format::manifest::Function;
use bbprof_format::without_llvm_suffix;
use std::collections::BTreeMap;

/// Where two profiles differ.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Disagreement {
    /// Linker symbol of the function.
    pub symbol: String,
    /// What was found here, and what there.
    pub what: String,
}

/// What was compared, and where it differs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Comparison {
    /// Functions that both profiles have.
    pub functions: u64,
    /// Edges whose counts both profiles know.
    pub edges: u64,
    /// The differences, by symbol.
    pub disagreements: Vec<Disagreement>,
}

/// By the symbol that a function has in its module, and the module; functions that have both in common stand in
/// the order of the link.
type Functions<'p> = BTreeMap<(&'p str, &'p str), Vec<FunctionView<'p>>>;

impl Profile {
    /// Compares the counts of every node and edge with those of another profile of the same code and input,
    /// function by function; where the two end nodes at different calls, those of blocks and edges between them.
    /// Edges that one of the two does not know are not compared.
    #[must_use]
    pub fn compare_with(&self, other: &Self) -> Comparison {
        let (here, mut there) = (by_name(self), by_name(other));
        let mut comparison = Comparison::default();
        for ((symbol, module), functions) in here {
            let others = there.remove(&(symbol, module)).unwrap_or_default();
            let mut differ = |what: String| comparison.disagreements.push(Disagreement { symbol: symbol.to_owned(), what });
            if functions.len() != others.len() {
                differ(format!("{module}: {} functions of this name have counts here, {} there", functions.len(), others.len()));
                continue;
            }
            for (a, b) in functions.into_iter().zip(others) {
                if a.manifest.shape != b.manifest.shape && !has_blocks_of(a, b) {
                    differ(
                        "its control-flow graphs differ; both profiles must be of the same source, compiler and options".to_owned(),
                    );
                    continue;
                }
                comparison.functions += 1;
                if a.manifest.shape != b.manifest.shape {
                    comparison.edges += compare_blocks(a, b, &mut differ);
                    continue;
                }
                for (node, (a_count, b_count)) in a.counts.nodes.iter().zip(&b.counts.nodes).enumerate() {
                    if a_count != b_count {
                        differ(format!("{}: {a_count} executions here, {b_count} there", node_in_words(a.manifest, node)));
                    }
                }
                for (edge, counts) in a.counts.edges.iter().zip(&b.counts.edges).enumerate() {
                    if let (Some(a_count), Some(b_count)) = counts {
                        comparison.edges += 1;
                        if a_count != b_count {
                            differ(format!("{}: {a_count} executions here, {b_count} there", edge_in_words(a.manifest, edge)));
                        }
                    }
                }
            }
        }
        let only_there = there.into_iter().map(|((symbol, module), functions)| Disagreement {
            symbol: symbol.to_owned(),
            what: format!("{module}: no function of this name has counts here, {} there", functions.len()),
        });
        comparison.disagreements.extend(only_there);
        comparison.disagreements.sort();
        comparison
    }
}

/// Whether both have the same blocks with the same edges, though one counts on calls to come back,
/// recursive ones for example, at which nodes end in the other.
fn has_blocks_of(a: FunctionView<'_>, b: FunctionView<'_>) -> bool {
    let way = |edge: BlockEdge| (edge.from, edge.to, edge.kind, edge.successor);
    a.num_blocks() == b.num_blocks()
        && a.blocks().zip(b.blocks()).all(|(a, b)| a.opcodes() == b.opcodes())
        && a.edges().map(way).eq(b.edges().map(way))
}

/// Compares entries of blocks and the edges between them; gives the number of edges that both know.
fn compare_blocks(a: FunctionView<'_>, b: FunctionView<'_>, mut differ: impl FnMut(String)) -> u64 {
    for (a_block, b_block) in a.blocks().zip(b.blocks()) {
        if a_block.count() != b_block.count() {
            differ(format!("block {}: {} executions here, {} there", a_block.id(), a_block.count(), b_block.count()));
        }
    }
    let mut compared = 0;
    for (a_edge, b_edge) in a.edges().zip(b.edges()) {
        if let (Some(a_count), Some(b_count)) = (a_edge.count, b_edge.count) {
            compared += 1;
            if a_count != b_count {
                let BlockEdge { from, to, kind, .. } = a_edge;
                differ(format!("edge from block {from} to block {to} ({kind:?}): {a_count} executions here, {b_count} there"));
            }
        }
    }
    compared
}

fn by_name(profile: &Profile) -> Functions<'_> {
    let mut functions: Functions<'_> = BTreeMap::new();
    for function in profile.functions() {
        functions.entry((without_llvm_suffix(function.symbol()), function.module_source())).or_default().push(function);
    }
    functions
}

fn node_in_words(function: &Function, node: usize) -> String {
    format!("node {node} (block {})", function.nodes[node].block)
}

fn edge_in_words(function: &Function, edge: usize) -> String {
    let end = |node: Option<u32>| {
        node.map_or_else(|| "outside".to_owned(), |node| format!("block {}", function.nodes[node as usize].block))
    };
    let kind = function.edges[edge].kind;
    format!("edge {edge} ({} -> {}, {kind:?})", end(function.edges[edge].from), end(function.edges[edge].to))
}
