//! The linker shim: stands in for a linker (`ld`) or for a compiler driver that links (`cc`), gathers the manifests that
//! instrumented objects carry, defines all their counters in one object, adds the runtime, and lets the real linker link.
//!
//! ```text
//! arguments --command_line--> LinkCommand --inputs--> files --lto--> native files --scan--> modules --link_plan--> LinkPlan
//! LinkPlan --generated_object--> first object of the link      LinkPlan --map_file--> OUTPUT.bbmap
//! ```
//! Where nothing is instrumented, or nothing is linked, the real linker is executed as if the shim were not there.
//!
//! It is called through links; the base name decides (`ld`, `ld.lld`, `mold`, ... stand for linkers, all others
//! for drivers): `clang --ld-path=DIR/ld`, `gcc -B DIR`, `rustc -Clinker=DIR/cc`. Who is behind it:
//! `BBPROF_REAL_LD` or `BBPROF_REAL_CC`; a file `real-NAME`, `real-ld` or `real-cc` in DIR; the same name
//! elsewhere in PATH. Further settings, by environment: `BBPROF_SAVE_LINK=DIR` keeps every link so that it can be
//! run again ([`saved_link`]), `BBPROF_KEEP_MAPS=DIR` a copy of every map.
//!
//! Exit codes: the real linker's own; 2 when the shim refuses, with one line that says why.

mod command_line;
mod dependency_file;
mod driver_folders;
mod generated_object;
mod inputs;
mod interrupts;
mod link;
mod link_plan;
mod linker_script;
mod lto;
mod map_file;
mod mapped_file;
mod pipes;
mod real_linker;
mod renamed_copy;
mod runtime;
mod saved_link;
mod scan;
mod temporary_folder;
#[cfg(test)]
mod test_modules;
mod thin_archive;

use real_linker::Role;
use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

/// The system refused: no space, no permission.
const EXIT_FAILURE: u8 = 1;
/// Requirement missing, or inputs that cannot be profiled as they are.
const EXIT_REFUSED: u8 = 2;

/// Says something on stderr, where that can be written to: no link ends differently because it cannot.
fn tell(what: std::fmt::Arguments<'_>) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "bbprof-shim-linker: {what}");
}

fn main() -> ExitCode {
    let mut arguments = env::args_os();
    let program = arguments.next().unwrap_or_else(|| OsString::from("ld"));
    let arguments: Vec<OsString> = arguments.collect();
    match link::run(&Role::of(&program), &arguments) {
        Ok(code) => code,
        Err(error) => {
            tell(format_args!("error: {error:#}"));
            let is_systems = error.chain().any(|cause| cause.is::<std::io::Error>());
            ExitCode::from(if is_systems { EXIT_FAILURE } else { EXIT_REFUSED })
        }
    }
}
