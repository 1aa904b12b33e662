//! Where in the IR code stands: at a counter's site, or on an edge that paths take.

use crate::graph::{Graph, NodeSpan, is_last_of_block};
use crate::view::{IrPlace, PlaceKind};
use bbprof_flow::{CounterSite, EdgeId};
use bbprof_format::manifest::{Edge, EdgeKind, Function};

/// The place of a counter site.
pub(crate) fn place_of(site: CounterSite, function: &Function, graph: &Graph) -> IrPlace {
    match site {
        CounterSite::Node(node) => at_start(&graph.nodes[node.index()]),
        CounterSite::Edge(edge) => on_edge(&function.edges[edge.index()], graph),
        CounterSite::PhiEdge(edge) => {
            let edge = &function.edges[edge.index()];
            let from = edge.from.expect("X -> entry is never counted by a phi");
            on_slot(PlaceKind::Landing, edge, &graph.nodes[from as usize])
        }
        CounterSite::BeforeLoop(edge) => before_loop(edge, graph),
    }
}

fn before_loop(edge: EdgeId, graph: &Graph) -> IrPlace {
    let counted = graph.counted_loops.iter().find(|counted| counted.back_edge as usize == edge.index());
    let counted = counted.expect("placement counts in front of the loops that it was given");
    IrPlace { kind: PlaceKind::Loop, block: counted.latch, position: counted.position }
}

/// The place on an edge, or at that end of it which no other edge shares. What is on a vanishing edge stands before the call.
pub(crate) fn on_edge(edge: &Edge, graph: &Graph) -> IrPlace {
    let node_of = |index: u32| &graph.nodes[index as usize];
    match (edge.from.map(|from| (from, node_of(from))), edge.to) {
        (None, None) => unreachable!("no edge runs from X to X"),
        (None, Some(to)) => at_start(node_of(to)),
        (Some((position, from)), _) if edge.kind == EdgeKind::Vanish => before_call(position, from, graph),
        (Some((_, from)), None) => {
            if from.ends_in_call {
                at_start(from)
            } else {
                at_end(from)
            }
        }
        (Some(_), Some(to)) if edge.kind == EdgeKind::Return => at_start(node_of(to)),
        (Some((position, from)), Some(to)) => {
            if graph.num_outgoing[position as usize] == 1 {
                at_end(from)
            } else if graph.num_incoming[to as usize] == 1 {
                at_start(node_of(to))
            } else {
                on_slot(if edge.kind == EdgeKind::Indirect { PlaceKind::Landing } else { PlaceKind::Split }, edge, from)
            }
        }
    }
}

fn at_start(node: &NodeSpan) -> IrPlace {
    IrPlace { kind: PlaceKind::Before, block: node.block, position: node.begin }
}

fn at_end(node: &NodeSpan) -> IrPlace {
    IrPlace { kind: PlaceKind::End, block: node.block, position: 0 }
}

fn on_slot(kind: PlaceKind, edge: &Edge, from: &NodeSpan) -> IrPlace {
    IrPlace { kind, block: from.block, position: edge.successor }
}

/// In front of the call that ends a node, which may be the terminator.
fn before_call(position: u32, node: &NodeSpan, graph: &Graph) -> IrPlace {
    if is_last_of_block(&graph.nodes, position as usize) {
        at_end(node)
    } else {
        IrPlace { kind: PlaceKind::Before, block: node.block, position: node.end - 1 }
    }
}
