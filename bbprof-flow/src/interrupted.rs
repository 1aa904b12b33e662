//! Where activations may have been interrupted: stopped for ever between two increments, by a signal
//! that killed the process or by a handler that jumped away.
//!
//! An interrupted activation enters a vertex of the doubled graph and does not leave it: there inflow exceeds outflow by one, and X
//! lacks it. Counters sit on chords, so what conservation alone gives the arcs of the tree is wrong by one along the way from X to
//! that vertex. Let the tree hang from X, and let s(v) be the number of interruptions at v and below it. The arc above v really has
//! the value that conservation gave it plus s(v), if it points down, or minus s(v), if it points up. That control passes no arc a
//! negative number of times bounds s(v) from below or from above; these bounds are all there is to know. One pass from the leaves
//! finds the fewest interruptions that satisfy them, one pass back where these, or one more, may be.

use crate::cfg::{Cfg, Endpoint, NodeId};
use crate::cuts::free_arcs;
use crate::doubled::{Arc, Doubled, Flow, Vertex};
use crate::peel::peel;
use crate::plan::CounterPlan;
use crate::solve::{Solution, counted_flows, in_range};

/// A place where an activation may have stopped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    /// The node.
    pub node: NodeId,
    /// Whether its execution had begun; else the activation was on the way into it, behind the counters of the way.
    pub begun: bool,
}

/// What counters tell of interrupted activations.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Interruptions {
    /// The fewest interruptions that explain the counts; 0 when there need not be any.
    pub least: u64,
    /// Where these may have been, ascending: one of the fewest possible. Empty when `least` is 0.
    pub places_of_least: Vec<Place>,
    /// Where interruptions may have been if there was at least one more than the fewest, ascending.
    pub places: Vec<Place>,
}

/// What interruptions explain these counts.
///
/// `counts`: executions, by [`CounterId`](crate::CounterId) of `plan`. `None` when none do, when plan
/// and graph do not fit, and for plans that leave edges open.
#[must_use]
pub fn interruptions(cfg: &Cfg, plan: &CounterPlan, counts: &[u64]) -> Option<Interruptions> {
    Explained::of(Doubled::new(cfg), plan, counts)?.interruptions()
}

/// The counts if there were no more interruptions than [`Interruptions::least`]. With k true ones, each is at most k off: on
/// every arc, both numbers of interruptions below it are between 0 and k. What counters in front of loops added for turns
/// that an interrupted activation did not take comes on top.
///
/// `None` as for [`interruptions`].
#[must_use]
pub fn solve_interrupted(cfg: &Cfg, plan: &CounterPlan, counts: &[u64]) -> Option<Solution> {
    let doubled = Doubled::new(cfg);
    let explained = Explained::of(doubled, plan, counts)?;
    let mut flows = explained.flows;
    for link in &explained.links {
        if let Some(hung) = &link.hung {
            let below = explained.below[link.vertex.index()].fewest;
            flows[hung.arc.index()] = Some(if hung.points_down { hung.value + below } else { hung.value - below });
        }
    }
    in_range(cfg, doubled, &flows).ok()
}

/// The fewest interruptions, by vertex.
struct Explained<'a> {
    doubled: Doubled<'a>,
    /// What counters say of the arcs; nothing of those of the tree.
    flows: Vec<Option<i128>>,
    links: Vec<Link>,
    below: Vec<Below>,
}

impl<'a> Explained<'a> {
    fn of(doubled: Doubled<'a>, plan: &CounterPlan, counts: &[u64]) -> Option<Self> {
        let flows = counted_flows(doubled, plan, counts).ok()?;
        let is_free = free_arcs(doubled, &flows);
        if is_free.contains(&true) {
            return None;
        }
        let links = hang_from_x(doubled, peel(doubled, &flows, &is_free).ok()?.iter().map(|peeled| (peeled.arc, peeled.value)));
        let mut below = vec![Below::default(); doubled.num_vertices() as usize];
        for link in links.iter().rev() {
            let under = below[link.vertex.index()];
            let bounds = link.bounds();
            let fewest = bounds.least.max(under.sum);
            if bounds.most.is_some_and(|most| fewest > most)
                || (fewest > 0 && link.hung.is_none() && link.vertex != doubled.outside())
            {
                return None;
            }
            below[link.vertex.index()].fewest = fewest;
            if let Some(hung) = &link.hung {
                below[hung.above.index()].sum += fewest;
            }
        }
        Some(Self { doubled, flows, links, below })
    }

    fn interruptions(&self) -> Option<Interruptions> {
        let Self { doubled, links, below, .. } = self;
        let least = u64::try_from(below[doubled.outside().index()].sum).ok()?;
        let mut one_more = vec![Cost::Impossible; doubled.num_vertices() as usize];
        let mut found = Interruptions { least, ..Interruptions::default() };
        for link in links {
            let under = below[link.vertex.index()];
            let cost = match &link.hung {
                // What is not connected with X cannot lack anything.
                None if link.vertex != doubled.outside() => Cost::Impossible,
                None => Cost::One,
                // One that must be here or below may as well be elsewhere below.
                Some(_) if under.fewest > under.sum => Cost::Nothing,
                Some(_) if link.bounds().most.is_some_and(|most| under.fewest == most) => Cost::Impossible,
                Some(hung) => one_more[hung.above.index()],
            };
            one_more[link.vertex.index()] = cost;
            if let Endpoint::Node(node) = doubled.endpoint(link.vertex) {
                let place = Place { node, begun: doubled.is_out_vertex(link.vertex) };
                if cost == Cost::Nothing {
                    found.places_of_least.push(place);
                }
                if cost != Cost::Impossible {
                    found.places.push(place);
                }
            }
        }
        found.places.sort_unstable();
        found.places_of_least.sort_unstable();
        Some(found)
    }
}

/// Interruptions at a vertex and below it.
#[derive(Clone, Copy, Default)]
struct Below {
    /// The fewest below it, not at it.
    sum: i128,
    /// The fewest at it and below it.
    fewest: i128,
}

/// What one more interruption at a vertex costs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cost {
    /// It can be one of the fewest.
    Nothing,
    One,
    Impossible,
}

/// A vertex in the hanging tree.
struct Link {
    vertex: Vertex,
    /// `None` for roots.
    hung: Option<Hung>,
}

/// How a vertex hangs in the tree.
struct Hung {
    above: Vertex,
    arc: Arc,
    /// What conservation gave the arc.
    value: i128,
    points_down: bool,
    vanishes: bool,
}

impl Link {
    fn bounds(&self) -> Bounds {
        match &self.hung {
            Some(Hung { vanishes: false, points_down: true, value, .. }) => Bounds { least: (-value).max(0), most: None },
            Some(Hung { vanishes: false, points_down: false, value, .. }) => Bounds { least: 0, most: Some(*value) },
            _ => Bounds { least: 0, most: None },
        }
    }
}

/// How many interruptions there can be at a vertex and below, by the arc above it.
struct Bounds {
    least: i128,
    most: Option<i128>,
}

/// All vertices, those above before those below; X is a root, and each part of the graph that is not connected with it has another.
fn hang_from_x(doubled: Doubled<'_>, tree: impl Iterator<Item = (Arc, i128)>) -> Vec<Link> {
    let mut arcs_of = vec![Vec::new(); doubled.num_vertices() as usize];
    for (arc, value) in tree {
        let (tail, head) = doubled.ends(arc);
        arcs_of[tail.index()].push((arc, value, head));
        arcs_of[head.index()].push((arc, value, tail));
    }
    let mut is_hung = vec![false; arcs_of.len()];
    let mut links: Vec<Link> = Vec::with_capacity(arcs_of.len());
    let mut next = 0;
    for root in std::iter::once(doubled.outside()).chain(doubled.vertices()) {
        if std::mem::replace(&mut is_hung[root.index()], true) {
            continue;
        }
        links.push(Link { vertex: root, hung: None });
        while next < links.len() {
            let above = links[next].vertex;
            next += 1;
            for (arc, value, vertex) in &arcs_of[above.index()] {
                if std::mem::replace(&mut is_hung[vertex.index()], true) {
                    continue;
                }
                let vanishes = matches!(doubled.flow(*arc), Flow::Edge(edge) if doubled.cfg().edge(edge).vanishes());
                let points_down = doubled.ends(*arc).0 == above;
                let hung = Hung { above, arc: *arc, value: *value, points_down, vanishes };
                links.push(Link { vertex: *vertex, hung: Some(hung) });
            }
        }
    }
    links
}
