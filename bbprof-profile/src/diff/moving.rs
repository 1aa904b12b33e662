//! Source functions whose places changed: inlined where they were not, or no longer.
//!
//! For each source function, instructions that arrived in functions of the program where it had no code before, and those that it
//! runs more often where it had, are paired with those that left and those that it runs less often: what is in both sums has
//! moved. What remains is no move: the function was executed more or less often in all (*ran*), its copies have other lengths
//! than before (*code*), or it is in one of the profiles only.

use super::cells::Work;
use super::{FunctionDiff, scaled};
use crate::{LineTable, Profile, demangle};
use std::collections::BTreeMap;

/// Instructions of source functions that came, went, or ran more or less often, by source function and match.
#[derive(Default)]
pub(super) struct Moving {
    by_name: BTreeMap<String, Flows>,
}

#[derive(Default)]
struct Flows {
    left: Vec<(usize, i128)>,
    arrived: Vec<(usize, i128)>,
    ran: BTreeMap<usize, i128>,
}

impl Flows {
    fn is_moving(&self) -> bool {
        !self.left.is_empty() || !self.arrived.is_empty()
    }
}

/// What ran of each source function in all, wherever its code is, by profile; a function without code in it is not there.
type Works = [BTreeMap<String, Work>; 2];

impl Moving {
    pub(super) fn left(&mut self, name: &str, position: usize, instructions: i128) {
        self.flows(name).left.push((position, instructions));
    }

    pub(super) fn arrived(&mut self, name: &str, position: usize, instructions: i128) {
        self.flows(name).arrived.push((position, instructions));
    }

    pub(super) fn ran(&mut self, name: &str, position: usize, instructions: i128) {
        if instructions != 0 {
            *self.flows(name).ran.entry(position).or_default() += instructions;
        }
    }

    fn flows(&mut self, name: &str) -> &mut Flows {
        if !self.by_name.contains_key(name) {
            self.by_name.insert(name.to_owned(), Flows::default());
        }
        self.by_name.get_mut(name).expect("just put there")
    }

    /// Adds what moved, and what remains of it, to the changes; gives what moved.
    pub(super) fn settle(self, profiles: [&Profile; 2], functions: &mut [FunctionDiff]) -> u128 {
        let works = match self.by_name.values().any(Flows::is_moving) {
            true => profiles.map(works),
            false => Works::default(),
        };
        let mut moved = 0;
        for (name, flows) in self.by_name {
            if flows.is_moving() {
                moved += settle_one(&name, flows, &works, functions).unsigned_abs();
            } else {
                for (position, ran) in flows.ran {
                    functions[position].change.ran += ran;
                }
            }
        }
        moved
    }
}

fn settle_one(name: &str, flows: Flows, works: &Works, functions: &mut [FunctionDiff]) -> i128 {
    let (mut gains, mut losses) = (flows.arrived, flows.left);
    // What stayed in place ran more or less often because others took over.
    gains.extend(flows.ran.iter().filter(|(_, ran)| **ran > 0).map(|(position, ran)| (*position, *ran)));
    losses.extend(flows.ran.iter().filter(|(_, ran)| **ran < 0).map(|(position, ran)| (*position, -ran)));
    let sum = |list: &[(usize, i128)]| list.iter().map(|(_, amount)| amount).sum::<i128>();
    let (gained, lost) = (sum(&gains), sum(&losses));
    let moved = gained.min(lost);
    let rest = gained - lost;
    let mut remains = Remains::new(name, rest, works);
    for (list, sign) in [(gains, 1), (losses, -1)] {
        let mut to_move = moved;
        for (position, amount) in list {
            let part = amount.min(to_move);
            to_move -= part;
            functions[position].change.inlining += part * sign;
            remains.give((amount - part) * sign, &mut functions[position]);
        }
    }
    moved
}

/// What did not move: how much of it is *ran*, and the rest *code*.
struct Remains {
    is_new: bool,
    has_vanished: bool,
    /// All that remains, and how much of it is *ran*.
    whole: i128,
    ran: i128,
}

impl Remains {
    fn new(name: &str, whole: i128, works: &Works) -> Self {
        let [a, b] = [0, 1].map(|profile| works[profile].get(name).copied());
        let ran = match (a, b) {
            // All executions are the measure of what one costs, those that stayed in their place, too: nothing need have moved.
            (Some(a), Some(b)) if a.executions > 0 && b.executions > 0 => {
                scaled(a.instructions, b.executions, a.executions) - a.instructions
            }
            _ => whole,
        };
        let ran = if whole > 0 { ran.clamp(0, whole) } else { ran.clamp(whole, 0) };
        Self { is_new: a.is_none(), has_vanished: b.is_none(), whole, ran }
    }

    fn give(&mut self, amount: i128, function: &mut FunctionDiff) {
        if amount == 0 {
            return;
        }
        if self.is_new && amount > 0 {
            function.change.new += amount;
        } else if self.has_vanished && amount < 0 {
            function.change.vanished += amount;
        } else {
            // Shares of what is left, so that the last one takes the remainder.
            let ran = scaled(self.ran, amount, self.whole);
            self.ran -= ran;
            self.whole -= amount;
            function.change.ran += ran;
            function.change.code += amount - ran;
        }
    }
}

fn works(profile: &Profile) -> BTreeMap<String, Work> {
    let mut works: BTreeMap<String, Work> = BTreeMap::new();
    let mut by_symbol: BTreeMap<&str, Work> = BTreeMap::new();
    for function in profile.functions() {
        let mut own = i128::try_from(function.counts.instructions).unwrap_or(i128::MAX);
        for (node, count) in function.manifest.nodes.iter().zip(&function.counts.nodes) {
            for (location, instructions) in &node.locations {
                let location = function.module.location(*location);
                if location.inlined_at.is_some() {
                    let inlined = i128::from(*instructions) * i128::from(*count);
                    by_symbol.entry(function.module.string(location.function)).or_default().instructions += inlined;
                    own -= inlined;
                }
            }
        }
        let work = works.entry(function.name().to_owned()).or_default();
        work.executions += i128::from(function.counts.entries);
        work.instructions += own;
    }
    let table = LineTable::new(profile);
    for ((_, symbol), counts) in table.files.values().flat_map(|source| &source.functions) {
        by_symbol.entry(symbol).or_default().executions += i128::try_from(counts.inlined).unwrap_or(i128::MAX);
    }
    for (symbol, inlined) in by_symbol {
        let work = works.entry(demangle(symbol)).or_default();
        work.executions += inlined.executions;
        work.instructions += inlined.instructions;
    }
    works
}
