//! The call graph by function: its calls in the order of its blocks, and who calls it.

use bbprof_profile::{CallGraph, CalleeView, LocationId, Profile, Target};

/// A caller: its position, its block, how often it calls.
pub(super) type Caller = (usize, u32, u64);

/// A call of a function.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockCall<'p> {
    pub(super) block: u32,
    /// `None`: inline assembly.
    pub(super) target: Option<Target<'p>>,
    pub(super) count: u64,
    pub(super) location: Option<LocationId>,
}

/// The calls of a profile, by position of the function.
#[derive(Debug)]
pub(super) struct Calls<'p> {
    calls: Vec<Vec<BlockCall<'p>>>,
    callers: Vec<Vec<Caller>>,
}

impl<'p> Calls<'p> {
    pub(super) fn new(profile: &'p Profile) -> Self {
        let graph = CallGraph::new(profile);
        let mut callers = vec![Vec::new(); graph.functions.len()];
        // The graph has the calls of one function after the other, inline assembly left out.
        let mut resolved = graph.calls.iter();
        let mut calls = Vec::with_capacity(graph.functions.len());
        for (position, function) in graph.functions.iter().enumerate() {
            let mut of_function = Vec::new();
            for call in function.calls() {
                let target = if call.callee == CalleeView::Asm { None } else { resolved.next().map(|call| call.target) };
                if let Some(Target::Function(callee)) = target {
                    callers[callee.index()].push((position, call.block, call.count));
                }
                of_function.push(BlockCall { block: call.block, target, count: call.count, location: call.location });
            }
            calls.push(of_function);
        }
        Self { calls, callers }
    }

    /// In the order they stand in the code.
    pub(super) fn of(&self, caller: usize) -> &[BlockCall<'p>] {
        &self.calls[caller]
    }

    pub(super) fn callers(&self, callee: usize) -> &[Caller] {
        &self.callers[callee]
    }
}
