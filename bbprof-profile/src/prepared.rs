//! What solving a function needs besides its counters, and does not change with them: where
//! many processes of an image are solved, it is derived once.

use crate::image::LinkedModule;
use bbprof_flow::{Cfg, CounterPlan, Determined, determined};
use bbprof_format::manifest::Function;
use std::sync::OnceLock;

/// Graph and plan of a function, and what the plan determines on the graph.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) cfg: Cfg,
    pub(crate) plan: CounterPlan,
    pub(crate) determined: Determined,
}

/// The functions of an image, by module and position in it. Memory: some 50 bytes for
/// each edge of those that some process executed.
#[derive(Debug)]
pub(crate) struct PreparedFunctions(Vec<Vec<OnceLock<Option<Prepared>>>>);

impl PreparedFunctions {
    /// Nothing is derived yet.
    pub(crate) fn new(modules: &[LinkedModule]) -> Self {
        Self(modules.iter().map(|linked| linked.module.functions.iter().map(|_| OnceLock::new()).collect()).collect())
    }

    /// What solving a function needs; none where graph and plan do not fit, which is for whoever solves to say.
    pub(crate) fn get(&self, module: u32, position: u32, function: &Function) -> Option<&Prepared> {
        self.0[module as usize][position as usize].get_or_init(|| Prepared::of(function)).as_ref()
    }
}

impl Prepared {
    fn of(function: &Function) -> Option<Self> {
        let (cfg, plan) = (function.cfg().ok()?, function.plan());
        let determined = determined(&cfg, &plan).ok()?;
        Some(Self { cfg, plan, determined })
    }
}
