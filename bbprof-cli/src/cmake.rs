//! `bbprof cmake-toolchain`: a toolchain file that names the two compilers, and the tools that CMake looks for by clang's name.

use crate::cache;
use crate::cc::program_named;
use crate::exit::require;
use crate::installation::Installation;
use crate::plugin::Clang;
use anyhow::Result;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// What CMake calls clang's tools (its `Modules/Compiler/Clang-FindBinUtils.cmake`), and what clang calls them.
const TOOLS: &[(&str, &str)] = &[("AR", "llvm-ar"), ("RANLIB", "llvm-ranlib"), ("CLANG_SCAN_DEPS", "clang-scan-deps")];

/// Writes the file (once for each installation) and gives its path.
pub(crate) fn toolchain_file(installation: &Installation) -> Result<PathBuf> {
    let bin = quoted(&installation.root.join("bin"))?;
    let mut text = format!(
        "# Compiles with counters. What is defined before, by -D or another file, stays.\n\
         if(NOT CMAKE_C_COMPILER)\n  set(CMAKE_C_COMPILER \"{bin}/bbprof-cc\")\nendif()\n\
         if(NOT CMAKE_CXX_COMPILER)\n  set(CMAKE_CXX_COMPILER \"{bin}/bbprof-c++\")\nendif()\n"
    );
    let chosen = std::env::var_os("BBPROF_CC").filter(|cc| !cc.is_empty());
    let clang = Clang::find(chosen.as_deref(), false)?;
    for (variable, tool) in TOOLS {
        let Some(program) = program_named(&clang.path, tool)? else { continue };
        for language in ["C", "CXX"] {
            // CMake would look for `bbprof-llvm-ar`, after the compiler's name.
            let variable = format!("CMAKE_{language}_COMPILER_{variable}");
            let program = quoted(&program)?;
            writeln!(text, "set({variable} \"{program}\" CACHE FILEPATH \"{tool} of the clang behind bbprof-cc\")")?;
        }
    }
    let path = cache::root()?.join("cmake").join(cache::name_of([&*text])).join("bbprof.cmake");
    if !path.is_file() {
        cache::write(&path, text.as_bytes())?;
    }
    Ok(path)
}

fn quoted(path: &Path) -> Result<String> {
    let Some(text) = path.to_str() else {
        require!("{}: CMake's files are UTF-8, which this path is not; install it in another folder", path.display());
    };
    Ok(text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn paths_are_whole_or_refused() {
        assert_eq!(quoted(Path::new("/a \"b\\c")).unwrap(), "/a \\\"b\\\\c");
        let error = quoted(Path::new(OsStr::from_bytes(b"/caf\xe9/bin"))).unwrap_err();
        assert!(error.to_string().contains("UTF-8"), "{error}");
    }
}
