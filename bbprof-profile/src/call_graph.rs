//! The call graph: direct calls resolved to functions of the profile, with their counts; and inclusive costs.
//!
//! Calls and their counts are exact. Which function a call reaches is exact within an image, where that may be one without counts,
//! and is not known where the linker's `--wrap` may lead elsewhere; a name that is not defined in the caller's image is taken to be
//! the first profiled image's that defines it, as the dynamic linker would.
//!
//! Inclusive costs are an estimate, the one of gprof (Graham, Kessler and McKusick 1982): counts do not say which call of a
//! function was the expensive one, so each call bears an equal share of what the function and its callees cost. Functions that call
//! each other in a circle share one cost; calls within the circle bear none. Entries that no direct call explains (through
//! pointers, from code that is not profiled) keep their share, so a caller never bears more than its own calls.

use crate::calls::wrapped;
use crate::image::LinkedModule;
use crate::uncounted::{Uncounted, Visibility};
use crate::view::FunctionView;
use crate::{CalleeView, LocationId, Profile};
use bbprof_format::BuildId;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::{HashMap, HashSet};

/// Position of a function in [`Profile::functions`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FunctionId(pub(crate) u32);

impl FunctionId {
    /// Its position, for indexing.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Who is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target<'p> {
    /// A function of the profile.
    Function(FunctionId),
    /// A function without counts, by linker symbol.
    Unprofiled(&'p str),
    /// Through a pointer: not known.
    Indirect,
}

/// A call instruction.
#[derive(Clone, Copy, Debug)]
pub struct Call<'p> {
    /// Who calls.
    pub caller: FunctionId,
    /// Who is called.
    pub target: Target<'p>,
    /// Where from.
    pub location: Option<LocationId>,
    /// How often.
    pub count: u64,
}

/// All calls of a profile.
#[derive(Debug)]
pub struct CallGraph<'p> {
    /// The functions, by [`FunctionId`].
    pub functions: Vec<FunctionView<'p>>,
    /// The calls, by caller, in the order they stand in its code; inline assembly left out.
    pub calls: Vec<Call<'p>>,
}

/// What functions cost with what they call; executed instructions.
#[derive(Debug)]
pub struct InclusiveCosts {
    /// By [`FunctionId`]: position of its circle in `costs`.
    circle_of: Vec<usize>,
    /// By circle: what it costs, and how often it was entered from outside of it.
    costs: Vec<(u128, u128)>,
}

impl<'p> CallGraph<'p> {
    /// Resolves the calls of a profile.
    #[must_use]
    pub fn new(profile: &'p Profile) -> Self {
        let functions: Vec<FunctionView<'p>> = profile.functions().collect();
        let names = Names::new(profile);
        let mut calls = Vec::new();
        for (caller, function) in (0..).zip(&functions) {
            for call in function.calls() {
                let target = match call.callee {
                    CalleeView::Asm => continue,
                    CalleeView::Indirect => Target::Indirect,
                    CalleeView::Symbol(symbol) => {
                        match names.callee(names.images[&function.build_id()], function.module_position, symbol) {
                            Some(callee) => Target::Function(callee),
                            None => Target::Unprofiled(symbol),
                        }
                    }
                };
                calls.push(Call { caller: FunctionId(caller), target, location: call.location, count: call.count });
            }
        }
        Self { functions, calls }
    }

    /// The view of a function.
    #[must_use]
    pub fn function(&self, id: FunctionId) -> FunctionView<'p> {
        self.functions[id.index()]
    }

    /// Estimates what functions cost with what they call.
    #[must_use]
    pub fn inclusive_costs(&self) -> InclusiveCosts {
        let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(self.functions.len(), self.calls.len());
        for _ in &self.functions {
            graph.add_node(());
        }
        let arcs = self.calls.iter().filter(|call| call.count > 0);
        let arcs = arcs.filter_map(|call| match call.target {
            Target::Function(callee) => Some((call.caller, callee, u128::from(call.count))),
            _ => None,
        });
        let arcs: Vec<(FunctionId, FunctionId, u128)> = arcs.collect();
        for (caller, callee, _) in &arcs {
            graph.update_edge(NodeIndex::new(caller.index()), NodeIndex::new(callee.index()), ());
        }
        // Callees come before their callers.
        let circles = kosaraju_scc(&graph);
        let mut circle_of = vec![0; self.functions.len()];
        for (circle, members) in circles.iter().enumerate() {
            for member in members {
                circle_of[member.index()] = circle;
            }
        }
        let mut costs = vec![(0_u128, 0_u128); circles.len()];
        for (function, circle) in self.functions.iter().zip(&circle_of) {
            costs[*circle].0 += function.counts.instructions;
            costs[*circle].1 += u128::from(function.counts.entries);
        }
        let mut out_of: Vec<Vec<(usize, u128)>> = vec![Vec::new(); circles.len()];
        let mut called = vec![0_u128; circles.len()];
        for (caller, callee, count) in arcs {
            let (from, to) = (circle_of[caller.index()], circle_of[callee.index()]);
            if from == to {
                // Entries made by calls inside of the circle.
                costs[to].1 = costs[to].1.saturating_sub(count);
            } else {
                out_of[from].push((to, count));
                called[to] += count;
            }
        }
        // A snapshot in the middle of a call has a call more than entries.
        for (cost, called) in costs.iter_mut().zip(called) {
            cost.1 = cost.1.max(called);
        }
        for circle in 0..circles.len() {
            let borne: u128 = out_of[circle].iter().map(|(to, count)| share(costs[*to], *count)).sum();
            costs[circle].0 += borne;
        }
        InclusiveCosts { circle_of, costs }
    }
}

/// What `calls` of all entries bear of a cost; rounded down.
fn share((cost, entries): (u128, u128), calls: u128) -> u128 {
    if entries == 0 {
        return 0;
    }
    let rest = (cost % entries).checked_mul(calls).map_or(0, |rest| rest / entries);
    cost / entries * calls + rest
}

impl InclusiveCosts {
    /// What this call bears of its callee's cost: 0 for calls within a circle, and for callees without counts.
    #[must_use]
    pub fn of_call(&self, call: &Call<'_>) -> u128 {
        match call.target {
            Target::Function(callee) if self.circle_of[callee.index()] != self.circle_of[call.caller.index()] => {
                share(self.costs[self.circle_of[callee.index()]], u128::from(call.count))
            }
            _ => 0,
        }
    }

    /// What a function costs with all it calls; functions of one circle have one cost.
    #[must_use]
    pub fn of_function(&self, function: FunctionId) -> u128 {
        self.costs[self.circle_of[function.index()]].0
    }
}

/// Functions by linker symbol: local ones by module, the others by image and at all.
struct Names<'p> {
    /// By build: the position of the image.
    images: HashMap<BuildId, usize>,
    by_visibility: HashMap<(Visibility, &'p str), FunctionId>,
    of_image: HashMap<(usize, &'p str), FunctionId>,
    uncounted: Uncounted<'p>,
    /// See [`wrapped`].
    wrapped: HashSet<(usize, &'p str)>,
}

impl<'p> Names<'p> {
    fn new(profile: &'p Profile) -> Self {
        let images = profile.images.iter().map(|image| image.image.build_id).zip(0..).collect();
        let uncounted = Uncounted::of(profile, |image| image.solved.inexact.iter().collect());
        let wrapped = wrapped(profile).collect();
        let mut names = Self { images, by_visibility: HashMap::new(), of_image: HashMap::new(), uncounted, wrapped };
        for (position, function) in (0..).zip(profile.functions()) {
            let (id, symbol) = (FunctionId(position), function.symbol());
            let image = names.images[&function.build_id()];
            let visibility = Visibility::of(function.linkage(), image, function.module_position);
            names.by_visibility.entry((visibility, symbol)).or_insert(id);
            if visibility == Visibility::Everywhere {
                names.of_image.entry((image, symbol)).or_insert(id);
            }
        }
        for (image, profiled) in profile.images.iter().enumerate() {
            for (position, LinkedModule { module, .. }) in profiled.modules() {
                for alias in &module.aliases {
                    let symbol = module.string(alias.symbol);
                    let Some(id) = names.resolve(image, position, module.string(alias.function)) else { continue };
                    let visibility = Visibility::of(alias.linkage, image, position);
                    names.by_visibility.entry((visibility, symbol)).or_insert(id);
                    if visibility == Visibility::Everywhere {
                        names.of_image.entry((image, symbol)).or_insert(id);
                    }
                }
            }
        }
        names
    }

    /// Whom a call from a module reaches; `None`: a function without counts, or none of
    /// the profile, or one that only the linker knew.
    fn callee(&self, image: usize, module: u32, symbol: &'p str) -> Option<FunctionId> {
        let is_local = || {
            let local = (Visibility::Module(image, module), symbol);
            self.by_visibility.contains_key(&local) || self.uncounted.has(local.0, symbol)
        };
        if self.wrapped.contains(&(image, symbol)) && !is_local() { None } else { self.resolve(image, module, symbol) }
    }

    /// The function that a name stands for in a module.
    fn resolve(&self, image: usize, module: u32, symbol: &'p str) -> Option<FunctionId> {
        for visibility in [Visibility::Module(image, module), Visibility::Image(image)] {
            let found = self.by_visibility.get(&(visibility, symbol));
            if found.is_some() || self.uncounted.has(visibility, symbol) {
                return found.copied();
            }
        }
        let elsewhere =
            || self.by_visibility.get(&(Visibility::Everywhere, symbol)).filter(|_| !self.uncounted.has_image(image, symbol));
        self.of_image.get(&(image, symbol)).or_else(elsewhere).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn shares_never_exceed_the_whole() {
        assert_eq!(share((10, 3), 1) * 3, 9);
        assert_eq!(share((10, 3), 3), 10);
        assert_eq!(share((7, 0), 0), 0);
        assert_eq!(share((u128::from(u64::MAX) * 1000, 1 << 40), 1 << 40), u128::from(u64::MAX) * 1000);
    }
}
