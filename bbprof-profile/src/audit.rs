//! What in a profile is not exact, and why: nothing of it is left out, and nothing else makes a profile inexact.

use crate::astray::astray;
use crate::calls::{CallTable, missing_entries};
use crate::{Inexact, Profile};
use bbprof_format::manifest::Function;
use std::fmt;

/// What kind of exception.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ExceptionKind {
    /// A process was counted while it ran on, or not to its end.
    Process,
    /// A function has no counts: its counters make no flow, or its copies disagree, or another copy ran.
    Unsolved,
    /// Activations were interrupted in a function, so that its counters make no flow: each of its counts may be as many off.
    Interrupted,
    /// Check mode: an edge's own counter says something else.
    Difference,
    /// A function was entered less often than it was called.
    Calls,
}

/// One thing that is not exact.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exception {
    /// What kind.
    pub kind: ExceptionKind,
    /// Linker symbol of the function; the executable, for a process.
    pub symbol: String,
    /// Name of the function, or executable and process id.
    pub name: String,
    /// The block where it shows, if it is one.
    pub block: Option<u32>,
    /// What was expected and what was found.
    pub reason: String,
}

impl fmt::Display for Exception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.block {
            Some(block) => write!(f, "{}, block {block}: {}", self.name, self.reason),
            None => write!(f, "{}: {}", self.name, self.reason),
        }
    }
}

/// What a function that is never entered may come from, if not from lost counts.
const REDIRECTED: &str =
    "; unless the linker or loader gave its name to another function (weak definitions, --wrap, --defsym, LD_PRELOAD)";

impl Profile {
    /// Everything that is not exact: processes first, then functions in the order of the profile.
    #[must_use]
    pub fn exceptions(&self) -> Vec<Exception> {
        let mut exceptions = Vec::new();
        for process in &self.processes {
            exceptions.extend(process.caveat.iter().map(|caveat| Exception {
                kind: ExceptionKind::Process,
                symbol: process.executable.clone(),
                name: match process.pid {
                    0 if process.number == 1 => format!("{} (1 process of a pool)", process.executable),
                    0 => format!("{} ({} processes of a pool)", process.executable, process.number),
                    pid => format!("{} (pid {pid})", process.executable),
                },
                block: None,
                reason: caveat.clone(),
            }));
        }
        exceptions.extend(self.late_calls());
        for image in &self.images {
            let exception = |kind, inexact: &Inexact| {
                let module = &image.image.modules[inexact.module as usize].module;
                Exception {
                    kind,
                    symbol: module.string(module.functions[inexact.function as usize].symbol).to_owned(),
                    name: inexact.name.clone(),
                    block: inexact.block,
                    reason: inexact.reason.clone(),
                }
            };
            exceptions.extend(image.solved.inexact.iter().map(|inexact| exception(ExceptionKind::Unsolved, inexact)));
            exceptions.extend(image.solved.interrupted.iter().map(|inexact| exception(ExceptionKind::Interrupted, inexact)));
            exceptions.extend(image.solved.differences.iter().map(|inexact| exception(ExceptionKind::Difference, inexact)));
        }
        let calls = CallTable::of(self);
        exceptions.extend(missing_entries(self, &calls).into_iter().map(|missing| Exception {
            kind: ExceptionKind::Calls,
            symbol: missing.symbol.to_owned(),
            name: missing.name.to_owned(),
            block: None,
            reason: format!(
                "called {} times by profiled code, but entered {} times{}",
                missing.calls,
                missing.entries,
                if missing.entries == 0 { REDIRECTED } else { "" }
            ),
        }));
        exceptions.extend(astray(self, &calls).into_iter().map(|astray| Exception {
            kind: ExceptionKind::Calls,
            symbol: astray.symbol.to_owned(),
            name: astray.name.to_owned(),
            block: None,
            reason: format!(
                "did not return from {} of its calls, but {} was compiled as if the function of that name always did: what follows such calls may have counts that are too high",
                astray.vanished, astray.caller
            ),
        }));
        exceptions
    }

    /// Functions of the program that libc calls in a thread behind all that the runtime
    /// sees of it: its own `free`, in place of libc's.
    fn late_calls(&self) -> Vec<Exception> {
        let mut late = Vec::new();
        for image in &self.images {
            let build_id = image.image.build_id;
            let had_threads = self.processes.iter().any(|process| process.threads > 0 && process.images.contains(&build_id));
            for (_, linked) in image.modules() {
                let module = &linked.module;
                let frees = module.aliases.iter().filter(|alias| module.string(alias.symbol) == "free");
                let frees: Vec<&str> = frees.map(|alias| module.string(alias.function)).chain(["free"]).collect();
                let is_free =
                    |function: &Function| frees.contains(&module.string(function.symbol)) && linked.counts_in_tls(function);
                if had_threads && module.functions.iter().any(is_free) {
                    late.push(Exception {
                        kind: ExceptionKind::Process,
                        symbol: "free".to_owned(),
                        name: "free".to_owned(),
                        block: None,
                        reason: "libc calls the program's own behind the last destructor of each thread, where counters of threads have gone: some calls \
                                 of it are not counted, nor what it calls then; --storage=atomic counts them"
                            .to_owned(),
                    });
                }
            }
        }
        late
    }
}
