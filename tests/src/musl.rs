//! Options to compile for musl, as Debian has it beside glibc.

use crate::{Run, Sandbox, tool};

const FOLDER: &str = "/usr/lib/x86_64-linux-musl";

/// What is linked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MuslImage {
    /// A program that musl's loader starts.
    Dynamic,
    /// A static program.
    Static,
    /// A shared library.
    Library,
}

/// The options in front of the sources and those behind them.
#[must_use]
pub fn for_musl(image: MuslImage, sandbox: &Sandbox) -> [Vec<String>; 2] {
    // musl has no headers of the kernel, and those of glibc's folder must not be found.
    let kernel = sandbox.join("kernel");
    if !kernel.is_dir() {
        std::fs::create_dir(&kernel).expect("a folder in the sandbox");
        let headers = ["/usr/include/linux", "/usr/include/asm-generic", "/usr/include/x86_64-linux-gnu/asm"];
        for (name, place) in ["linux", "asm-generic", "asm"].iter().zip(headers) {
            std::os::unix::fs::symlink(place, kernel.join(name)).expect("a link in the sandbox");
        }
    }
    let resources = Run::new(tool("bbprof-cc")).arg("-print-resource-dir").ok().text();
    let headers = ["/usr/include/x86_64-linux-musl", &format!("{}/include", resources.trim_end()), &kernel.to_string_lossy()];
    let mut before: Vec<String> = headers.iter().map(|folder| format!("-isystem{folder}")).collect();
    before.extend(["-nostdinc", "-nostdlib", "-L", FOLDER].map(str::to_owned));
    let (options, beginning): (&[&str], &[&str]) = match image {
        MuslImage::Dynamic => (&["-pie", "-Wl,-dynamic-linker,/lib/ld-musl-x86_64.so.1"], &["Scrt1.o", "crti.o"]),
        MuslImage::Static => (&["-static"], &["crt1.o", "crti.o"]),
        MuslImage::Library => (&["-fPIC", "-shared"], &["crti.o"]),
    };
    before.extend(options.iter().map(|option| (*option).to_owned()).chain(beginning.iter().map(|part| format!("{FOLDER}/{part}"))));
    [before, vec!["-lc".to_owned(), format!("{FOLDER}/crtn.o")]]
}
