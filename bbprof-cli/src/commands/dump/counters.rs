//! Raw and merged profiles in words: who was counted, and how much.

use bbprof_format::HashedPath;
use bbprof_format::merged::MergedProfile;
use bbprof_format::raw::{Ending, RawProfile};
use std::io::{self, Write};

pub(super) fn write_raw(raw: &RawProfile, full: bool, out: &mut dyn Write) -> io::Result<()> {
    let process = &raw.process;
    writeln!(out, "raw profile of {}", String::from_utf8_lossy(&process.executable))?;
    let added_last = if raw.pooled.is_empty() { "" } else { " (the last of the pool)" };
    writeln!(out, "  process    {}, child of {}{added_last}", process.pid, process.parent_pid)?;
    writeln!(out, "  begun      {}.{:09} s after 1970", process.begun_ns / 1_000_000_000, process.begun_ns % 1_000_000_000)?;
    writeln!(out, "  state      {:?}", raw.state)?;
    writeln!(out, "  fate       {}", raw.ending.fate)?;
    writeln!(out, "  threads    {} besides the first had thread-local counters", raw.threads)?;
    write_ending(&raw.ending, out)?;
    for (ending, processes) in &raw.pooled {
        writeln!(out, "  processes  {processes}: {}", ending.fate)?;
        write_ending(ending, out)?;
    }
    for image in &raw.images {
        writeln!(out, "image {}", String::from_utf8_lossy(&image.path))?;
        writeln!(out, "  build id   {}", image.build_id)?;
        writeln!(out, "  layout     {}", image.layout)?;
        writeln!(out, "  flags      {:#x}", image.flags)?;
        writeln!(out, "  segments   {}", image.segments)?;
        write_bits(&image.presence, out)?;
        write_bank("thread-local", &image.tls_counters, full, out)?;
        write_bank("global", &image.global_counters, full, out)?;
        write_hashed(&image.hashed_paths, full, out)?;
    }
    Ok(())
}

/// What is to be said besides the fate.
fn write_ending(ending: &Ending, out: &mut dyn Write) -> io::Result<()> {
    if ending.live_threads != 0 {
        writeln!(out, "  running    {} other threads", ending.live_threads)?;
    }
    if let Some(waits) = &ending.waits {
        writeln!(out, "  waits      {waits}{}", if waits.went_on { ", then counting went on" } else { "" })?;
    }
    if ending.interrupted != 0 {
        writeln!(out, "  handlers   {} interrupted other code and did not return to it", ending.interrupted)?;
    }
    if ending.resets != 0 || ending.at_reset != (0, 0) {
        let (threads, handlers) = ending.at_reset;
        writeln!(out, "  resets     {}; {threads} other threads and {handlers} handlers were running at the last", ending.resets)?;
    }
    if ending.lost_children != 0 {
        writeln!(out, "  children   {} without profiles", ending.lost_children)?;
    }
    if ending.in_memory.no_room {
        writeln!(out, "  memory     has counts for which the file had no room")?;
    }
    if ending.in_memory.not_mapped {
        writeln!(out, "  memory     has counts that could not be mapped to the file")?;
    }
    for note in &ending.notes {
        writeln!(out, "  note       {note}")?;
    }
    Ok(())
}

pub(super) fn write_merged(merged: &MergedProfile, full: bool, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "merged profile of {} processes", merged.processes.iter().map(|process| process.number).sum::<u64>())?;
    for process in &merged.processes {
        match process.pid {
            0 => writeln!(out, "processes of {}: {}: {}", process.executable, process.number, process.fate)?,
            pid => writeln!(out, "process {pid} {}: {}", process.executable, process.fate)?,
        }
        if let Some(caveat) = &process.caveat {
            writeln!(out, "  {caveat}")?;
        }
    }
    for image in &merged.images {
        writeln!(out, "image {}", image.path)?;
        writeln!(out, "  build id   {}", image.build_id)?;
        writeln!(out, "  layout     {}", image.layout)?;
        match &image.map {
            Some(map) => writeln!(out, "  build map  {} bytes", map.len())?,
            None => writeln!(out, "  build map  none")?,
        }
        write_bits(&image.presence, out)?;
        write_bank("thread-local", &image.tls, full, out)?;
        write_bank("global", &image.global, full, out)?;
        write_hashed(&image.hashed_paths, full, out)?;
    }
    Ok(())
}

fn write_bits(presence: &[bool], out: &mut dyn Write) -> io::Result<()> {
    let present = presence.iter().filter(|present| **present).count();
    writeln!(out, "  modules    {present} of {} optional ones are linked", presence.len())
}

fn write_bank(name: &str, counters: &[u64], full: bool, out: &mut dyn Write) -> io::Result<()> {
    let used = counters.iter().filter(|count| **count > 0).count();
    let sum: u128 = counters.iter().map(|count| u128::from(*count)).sum();
    writeln!(out, "  {name:<12} {} counters, {used} not zero, sum {sum}", counters.len())?;
    if full {
        for (position, count) in counters.iter().enumerate().filter(|(_, count)| **count > 0) {
            writeln!(out, "    {position}: {count}")?;
        }
    }
    Ok(())
}

fn write_hashed(paths: &[HashedPath], full: bool, out: &mut dyn Write) -> io::Result<()> {
    if paths.is_empty() {
        return Ok(());
    }
    let sum: u128 = paths.iter().map(|path| u128::from(path.count)).sum();
    writeln!(out, "  hashed paths {}, sum {sum}", paths.len())?;
    if full {
        for path in paths {
            writeln!(out, "    counter {} path {}: {}", path.counter, path.number, path.count)?;
        }
    }
    Ok(())
}
