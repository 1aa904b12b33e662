//! What counters determine, by linear algebra: the slow oracle for small graphs.
//!
//! A quantity is determined exactly when adding its unit row to the equations and counters does not raise the rank. Network
//! matrices have the same rank over every field, so arithmetic modulo a prime is exact.

use bbprof_flow::{Cfg, CounterPlan, CounterSite, Determined, Endpoint};

const PRIME: i64 = 1_000_003;

/// What the plan determines.
pub(crate) fn determined_by_rank(cfg: &Cfg, plan: &CounterPlan) -> Determined {
    let (num_nodes, num_quantities) = (cfg.num_nodes(), cfg.num_nodes() + cfg.num_edges());
    let unit = |quantity: usize| {
        let mut row = vec![0; num_quantities];
        row[quantity] = 1;
        row
    };
    let mut basis = Basis::default();
    for node in cfg.node_ids() {
        for inflow in [true, false] {
            let mut row = unit(node.index());
            for (id, edge) in cfg.edge_ids().zip(cfg.edges()) {
                if (if inflow { edge.to } else { edge.from }) == Endpoint::Node(node) {
                    row[num_nodes + id.index()] -= 1;
                }
            }
            basis.add(row);
        }
    }
    let mut outside = vec![0; num_quantities];
    for (id, edge) in cfg.edge_ids().zip(cfg.edges()) {
        outside[num_nodes + id.index()] = i64::from(edge.from == Endpoint::X) - i64::from(edge.to == Endpoint::X);
    }
    basis.add(outside);
    for site in &plan.sites {
        basis.add(unit(match site {
            CounterSite::Node(node) => node.index(),
            CounterSite::Edge(edge) | CounterSite::PhiEdge(edge) | CounterSite::BeforeLoop(edge) => num_nodes + edge.index(),
        }));
    }
    let mut nodes: Vec<bool> = (0..num_quantities).map(|quantity| basis.reduce(unit(quantity)).is_none()).collect();
    let edges = nodes.split_off(num_nodes);
    Determined { nodes, edges }
}

/// Independent rows, each with its leading column, where it is 1.
#[derive(Default)]
struct Basis {
    rows: Vec<(usize, Vec<i64>)>,
}

impl Basis {
    fn add(&mut self, row: Vec<i64>) {
        self.rows.extend(self.reduce(row));
    }

    /// What is left of a row beyond the others; `None` when they span it.
    fn reduce(&self, mut row: Vec<i64>) -> Option<(usize, Vec<i64>)> {
        for (lead, other) in &self.rows {
            let factor = row[*lead].rem_euclid(PRIME);
            for (value, other) in row.iter_mut().zip(other) {
                *value = (*value - factor * other).rem_euclid(PRIME);
            }
        }
        let lead = row.iter().position(|value| value.rem_euclid(PRIME) != 0)?;
        let inverse = power(row[lead].rem_euclid(PRIME), PRIME - 2);
        for value in &mut row {
            *value = (*value * inverse).rem_euclid(PRIME);
        }
        Some((lead, row))
    }
}

fn power(base: i64, exponent: i64) -> i64 {
    let (mut result, mut base, mut exponent) = (1, base, exponent);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result * base % PRIME;
        }
        base = base * base % PRIME;
        exponent >>= 1;
    }
    result
}
