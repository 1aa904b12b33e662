//! The callgrind format (valgrind's manual, "Callgrind Format Specification", version 1), for callgrind_annotate and KCachegrind.
//!
//! - Cost lines: executed instructions by source line; `fi`/`fe` lead to the files of inlined code and back.
//! - `calls`: direct calls, exact. The cost on the line behind is inclusive, and an estimate: see [`bbprof_profile::CallGraph`].
//!   Functions without counts are named, with cost 0. Calls through pointers are left out, as nobody knows whom they call.
//! - `jcnd`/`jump`: the ways of branches between source lines, taken/executed; those to the next line, too. Ways whose
//!   count the counter placement does not tell are left out.
//!
//! Names are written once, with a number, and end at the line's end: `(`, spaces and `;` in them are no harm.

use crate::names::{Demangled, one_line};
use crate::number::in_64_bits;
use bbprof_profile::{CallGraph, EdgeKind, FileId, FunctionId, FunctionView, InclusiveCosts, Profile, Target};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

/// Writes a profile as callgrind would.
///
/// # Errors
/// When `out` cannot be written, or a number does not fit into the 64 bits in which KCachegrind reads it.
pub fn write_callgrind(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    let graph = CallGraph::new(profile);
    let costs = graph.inclusive_costs();
    let program = profile.processes.first().map_or("", |process| process.executable.as_str());
    let total = held(profile.totals().instructions, "all functions", "instructions")?;
    writeln!(out, "# callgrind format\nversion: 1\ncreator: bbprof {}", env!("CARGO_PKG_VERSION"))?;
    writeln!(out, "cmd: {}", one_line(program))?;
    writeln!(out, "desc: Trigger: {} processes", profile.num_processes())?;
    writeln!(out, "desc: Note: inclusive costs are shared out evenly over the calls of a function")?;
    writeln!(out, "positions: line\nevent: Instructions : LLVM IR instructions\nevents: Instructions\nsummary: {total}\n")?;
    let mut writer = Writer { profile, graph: &graph, costs: &costs, names: Demangled::default(), ids: HashMap::new(), out };
    let mut calls = graph.calls.chunk_by(|a, b| a.caller == b.caller).peekable();
    for (position, function) in graph.functions.iter().enumerate() {
        let own = calls.next_if(|of_one| of_one[0].caller.index() == position).unwrap_or(&[]);
        if function.is_executed() {
            writer.function(*function, own)?;
        }
    }
    writeln!(writer.out, "\ntotals: {total}")
}

/// A number where KCachegrind can read it.
fn held(number: u128, of: &str, what: &str) -> io::Result<u64> {
    in_64_bits(number, of, what, "callgrind's format")
}

/// Kinds of names that are numbered apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum NameKind {
    Object,
    File,
    Function,
}

struct Writer<'w, 'p> {
    profile: &'p Profile,
    graph: &'w CallGraph<'p>,
    costs: &'w InclusiveCosts,
    names: Demangled<'p>,
    ids: HashMap<(NameKind, String), usize>,
    out: &'w mut dyn Write,
}

/// A source line; no file where it is not known.
type Place = (Option<FileId>, u32);

/// A function with counts, or the linker symbol of one without.
type Callee<'p> = Result<FunctionId, &'p str>;

impl<'p> Writer<'_, 'p> {
    fn function(&mut self, function: FunctionView<'p>, calls: &[bbprof_profile::Call<'p>]) -> io::Result<()> {
        let own = function.file();
        self.name("ob", NameKind::Object, function.image_path())?;
        self.name("fl", NameKind::File, self.path(own))?;
        self.name("fn", NameKind::Function, function.name())?;
        let mut costs: BTreeMap<Place, u128> = BTreeMap::new();
        for (location, instructions) in function.instructions_by_location() {
            // What has no line stands at line 0 of the function's own file.
            let place = location.and_then(|location| function.file_and_line(location));
            *costs.entry(place.map_or((own, 0), |(file, line)| (Some(file), line))).or_default() += instructions;
        }
        let mut file = own;
        for ((of_line, line), instructions) in costs {
            self.enter(&mut file, of_line, own)?;
            writeln!(self.out, "{line} {instructions}")?;
        }
        self.calls(function, calls, &mut file)?;
        self.jumps(function, &mut file)?;
        writeln!(self.out)
    }

    /// Calls of one callee from one line are one record.
    fn calls(
        &mut self,
        function: FunctionView<'p>,
        calls: &[bbprof_profile::Call<'p>],
        file: &mut Option<FileId>,
    ) -> io::Result<()> {
        let own = function.file();
        let mut records: BTreeMap<(Place, Callee<'_>), (u128, u128)> = BTreeMap::new();
        for call in calls.iter().filter(|call| call.count > 0) {
            let place = call.location.and_then(|location| function.file_and_line(location));
            let place = place.map_or((own, 0), |(file, line)| (Some(file), line));
            let callee = match call.target {
                Target::Function(callee) => Ok(callee),
                Target::Unprofiled(symbol) => Err(symbol),
                Target::Indirect => continue,
            };
            let (count, cost) = records.entry((place, callee)).or_default();
            *count += u128::from(call.count);
            *cost += self.costs.of_call(call);
        }
        for (((of_line, line), callee), (count, cost)) in records {
            self.enter(file, of_line, own)?;
            let callee_line = match callee {
                Ok(callee) => {
                    let callee = self.graph.function(callee);
                    if callee.image_path() != function.image_path() {
                        self.name("cob", NameKind::Object, callee.image_path())?;
                    }
                    self.name("cfi", NameKind::File, self.path(callee.file()))?;
                    self.name("cfn", NameKind::Function, callee.name())?;
                    callee.line()
                }
                Err(symbol) => {
                    self.name("cob", NameKind::Object, "???")?;
                    self.name("cfi", NameKind::File, "???")?;
                    let name = self.names.name(symbol).to_owned();
                    self.name("cfn", NameKind::Function, &name)?;
                    0
                }
            };
            let cost = held(cost, function.name(), "instructions")?;
            writeln!(self.out, "calls={count} {callee_line}\n{line} {cost}")?;
        }
        Ok(())
    }

    /// Branches between lines of one file; ways from one line to another are one record.
    fn jumps(&mut self, function: FunctionView<'p>, file: &mut Option<FileId>) -> io::Result<()> {
        let own = function.file();
        let blocks: Vec<(Option<Place>, u64)> = function
            .blocks()
            .map(|block| (block.positions().first().map(|(file, line, _)| (Some(*file), *line)), block.count()))
            .collect();
        let mut jumps: BTreeMap<(Place, u32, bool), (u128, u128)> = BTreeMap::new();
        for edge in function.edges() {
            let is_conditional = match edge.kind {
                EdgeKind::Branch | EdgeKind::Switch | EdgeKind::Indirect => true,
                EdgeKind::Fallthrough => false,
                _ => continue,
            };
            let from = function.end_of_node(edge.from_node).and_then(|location| function.file_and_line(location));
            let (Some((from_file, from)), Some((to_file, to)), Some(taken)) = (from, blocks[edge.to as usize].0, edge.count) else {
                continue;
            };
            if Some(from_file) == to_file && from != to && taken > 0 {
                let (sum, executed) = jumps.entry(((to_file, from), to, is_conditional)).or_default();
                *sum += u128::from(taken);
                *executed += u128::from(function.node_count(edge.from_node));
            }
        }
        for (((of_line, from), to, is_conditional), (taken, executed)) in jumps {
            let executed = held(executed, function.name(), "executions")?;
            self.enter(file, of_line, own)?;
            match is_conditional {
                true => writeln!(self.out, "jcnd={taken}/{executed} {to}\n{from}")?,
                false => writeln!(self.out, "jump={taken} {to}\n{from}")?,
            }
        }
        Ok(())
    }

    /// Says which file the next lines are of.
    fn enter(&mut self, current: &mut Option<FileId>, next: Option<FileId>, own: Option<FileId>) -> io::Result<()> {
        if *current == next {
            return Ok(());
        }
        *current = next;
        self.name(if next == own { "fe" } else { "fi" }, NameKind::File, self.path(next))
    }

    fn path(&self, file: Option<FileId>) -> &'p str {
        file.map_or("???", |file| self.profile.files.path(file))
    }

    /// `key=(number) name` at its first use, then `key=(number)`.
    fn name(&mut self, key: &str, kind: NameKind, name: &str) -> io::Result<()> {
        let next = self.ids.len() + 1;
        let id = *self.ids.entry((kind, name.to_owned())).or_insert(next);
        if id == next { writeln!(self.out, "{key}=({id}) {}", one_line(name)) } else { writeln!(self.out, "{key}=({id})") }
    }
}
