//! `bbprof cmake-toolchain`: a toolchain file that is nothing but the two compilers.

use crate::cache;
use crate::installation::Installation;
use anyhow::Result;
use std::path::PathBuf;

/// Writes the file (once for each installation) and gives its path.
pub(crate) fn toolchain_file(installation: &Installation) -> Result<PathBuf> {
    let bin = installation.root.join("bin").display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
    let text = format!(
        "# Compiles with counters. What is defined before, by -D or another file, stays.\n\
         if(NOT CMAKE_C_COMPILER)\n  set(CMAKE_C_COMPILER \"{bin}/bbprof-cc\")\nendif()\n\
         if(NOT CMAKE_CXX_COMPILER)\n  set(CMAKE_CXX_COMPILER \"{bin}/bbprof-c++\")\nendif()\n"
    );
    let path = cache::root()?.join("cmake").join(cache::name_of([&*text])).join("bbprof.cmake");
    if !path.is_file() {
        cache::write_atomically(&path, text.as_bytes())?;
    }
    Ok(path)
}
