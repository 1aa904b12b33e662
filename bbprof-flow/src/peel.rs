//! Leaf peeling: the values of unknown arcs that form a forest, from conservation at each
//! vertex (Ball and Larus 1994, section 3.1).
//!
//! A vertex with one unknown arc gives that arc's value; its other end then has one unknown arc less. A vertex keeps, instead of
//! a list of its unknown arcs, their number and the exclusive-or of their ids: when one is left, that is its id. So time and
//! memory are linear, with a worklist and without recursion.

use crate::doubled::{Arc, Doubled, Vertex};

/// The value of an arc, found where the vertex `below` had no other unknown arc left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peeled {
    /// The vertex whose equation gave the value. Each vertex gives at most one.
    pub(crate) below: Vertex,
    /// The other end. It comes later as `below`, or never.
    pub(crate) above: Vertex,
    /// The arc between them.
    pub(crate) arc: Arc,
    /// Its flow.
    pub(crate) value: i128,
}

/// The equation of a vertex that does not hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Imbalance {
    pub(crate) vertex: Vertex,
    /// Inflow less outflow.
    pub(crate) surplus: i128,
}

/// The equation of one vertex: inflow = outflow.
#[derive(Clone, Copy, Default)]
struct Equation {
    /// How many arcs are unknown.
    unknown: u32,
    /// The exclusive-or of their positions.
    arcs: u32,
    /// Known inflow less known outflow.
    surplus: i128,
}

/// The values of the arcs that are neither known nor free, which must be a forest; free arcs count as 0. Below comes before above.
///
/// Values stay far inside 128 bits: each is a sum of known values, at most 2^32 of them and each of 64 bits, with signs.
pub(crate) fn peel(doubled: Doubled<'_>, known: &[Option<i128>], is_free: &[bool]) -> Result<Vec<Peeled>, Imbalance> {
    let mut equations = vec![Equation::default(); doubled.num_vertices() as usize];
    for arc in doubled.arcs() {
        let (tail, head) = doubled.ends(arc);
        if let Some(value) = known[arc.index()] {
            equations[tail.index()].surplus -= value;
            equations[head.index()].surplus += value;
        } else if !is_free[arc.index()] {
            for end in [tail, head] {
                equations[end.index()].unknown += 1;
                equations[end.index()].arcs ^= arc.position();
            }
        }
    }

    let mut leaves: Vec<Vertex> = doubled.vertices().filter(|vertex| equations[vertex.index()].unknown == 1).collect();
    let mut order = Vec::new();
    while let Some(below) = leaves.pop() {
        let equation = std::mem::take(&mut equations[below.index()]);
        if equation.unknown == 0 {
            // The last arc of a tree made leaves of both its ends.
            equations[below.index()] = equation;
            continue;
        }
        let arc = Arc::new(equation.arcs);
        let (tail, head) = doubled.ends(arc);
        let (above, value) = if below == tail { (head, equation.surplus) } else { (tail, -equation.surplus) };
        order.push(Peeled { below, above, arc, value });
        let rest = &mut equations[above.index()];
        rest.unknown -= 1;
        rest.arcs ^= arc.position();
        // What this vertex had too much of flows on, whichever way the arc points.
        rest.surplus += equation.surplus;
        if rest.unknown == 1 {
            leaves.push(above);
        }
    }
    debug_assert!(equations.iter().all(|equation| equation.unknown == 0), "unknown arcs that are not free form a forest");

    match doubled.vertices().find(|vertex| equations[vertex.index()].surplus != 0) {
        Some(vertex) => Err(Imbalance { vertex, surplus: equations[vertex.index()].surplus }),
        None => Ok(order),
    }
}
