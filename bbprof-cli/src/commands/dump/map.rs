//! A build map in words.

use super::manifest;
use bbprof_format::manifest::Manifest;
use bbprof_format::map::BuildMap;
use std::io::{self, Write};

pub(super) fn write(map: &BuildMap, full: bool, out: &mut dyn Write) -> io::Result<()> {
    let body = &map.body;
    writeln!(out, "build map of {}", body.output)?;
    writeln!(out, "  build id   {}", map.build_id)?;
    writeln!(out, "  layout     {}", body.layout)?;
    writeln!(out, "  counters   {} thread-local, {} global", body.tls_counters, body.global_counters)?;
    for array in &body.arrays {
        writeln!(out, "  array      {}: {} counters from {} of bank {:?}", array.name, array.len, array.first, array.bank)?;
    }
    for module in &body.modules {
        let optional = module.optional.map_or_else(String::new, |position| format!(", optional (number {position})"));
        writeln!(out, "module {}{optional}", module.origin)?;
        match Manifest::read(&module.manifest).and_then(|found| Ok((found.header.clone(), found.module()?))) {
            Ok(decoded) => manifest::write(&decoded, full, out)?,
            Err(error) => writeln!(out, "  cannot be read: {error}")?,
        }
    }
    Ok(())
}
