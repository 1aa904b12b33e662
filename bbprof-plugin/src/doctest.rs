//! Where a doctest stands.
//!
//! rustdoc has each doctest that it does not put together with others compiled as a file of its own, under the name of the source
//! that it stands in, and tells rustc that name. What it puts around the doctest (rustdoc, `doctest/make.rs`) is a function whose
//! name ends with the line of the first fence, and which begins in front of the doctest's first line. The lines that rustdoc tells
//! are off by one where it makes the crate known to the doctest.

use bbprof_format::manifest::{Module, StringId};
use bbprof_format::{demangle, sources};
use std::path::PathBuf;

/// The source that a doctest stands in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Doctest {
    /// As rustdoc names it, relative to its working directory.
    pub path: String,
    /// That directory.
    pub folder: PathBuf,
}

impl Doctest {
    /// What rustdoc told.
    pub(crate) fn from_environment() -> Option<Self> {
        let path = std::env::var("UNSTABLE_RUSTDOC_TEST_PATH").ok()?;
        Some(Self { path, folder: std::env::current_dir().ok()? })
    }

    /// Gives the code of the doctest the lines that it has in the source; where these are not
    /// known, as it has a `main` of its own, a file of its own.
    pub(crate) fn put_back(&self, module: &mut Module) {
        let Some(position) = module.strings.iter().position(|text| *text == self.path) else { return };
        let file = StringId(position as u32);
        // That of the generated file.
        module.checksums.retain(|checksum| checksum.file != file);
        let Some(path) = self.folder.join(&self.path).to_str().map(str::to_owned) else { return };
        let Some((fence, begin)) = frame(module, file) else {
            module.strings[position] = sources::of_doctest(&path);
            return;
        };
        module.strings[position] = path;
        // What rustdoc puts around it may begin before the source does.
        let moved = |line: u32| (line + fence).saturating_sub(begin).max(1);
        for location in &mut module.locations {
            if location.file == file {
                location.line = moved(location.line);
            }
            if location.function_file == file {
                location.function_line = moved(location.function_line);
            }
        }
        for function in module.functions.iter_mut().filter(|function| function.file == Some(file)) {
            function.line = moved(function.line);
        }
    }
}

/// The line of the source's fence, and the line of the generated file that stands in its place.
fn frame(module: &Module, file: StringId) -> Option<(u32, u32)> {
    let own =
        module.functions.iter().filter(|function| function.file == Some(file)).map(|function| (function.symbol, function.line));
    let inlined = module.locations.iter().filter(|location| location.function_file == file);
    let mut functions = own.chain(inlined.map(|location| (location.function, location.function_line)));
    functions.find_map(|(symbol, line)| Some((fence_of(&demangle(module.string(symbol)))?, line)))
}

/// `rust_out::main::_doctest_main_src_lib_rs_2_0` is of the fence in line 2.
fn fence_of(name: &str) -> Option<u32> {
    let (_, place) = name.split_once("::_doctest_main_").filter(|(_, place)| !place.contains("::"))?;
    let (place, _) = place.rsplit_once('_')?;
    place.rsplit('_').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bbprof_format::manifest::{Checksum, CounterMode, Location};

    /// In a generated file and another one.
    fn module(function: &str) -> Module {
        let location = |file, line| Location {
            file: StringId(file),
            line,
            column: 0,
            discriminator: 0,
            function: StringId(2),
            function_file: StringId(file),
            function_line: 4,
            inlined_at: None,
        };
        let checksum = |file| Checksum { file: StringId(file), md5: StringId(3) };
        Module {
            producer: String::new(),
            source: String::new(),
            directory: String::new(),
            mode: CounterMode::Edges,
            strings: ["src/lib.rs", "/a/src/lib.rs", function, "0"].map(str::to_owned).to_vec(),
            locations: vec![location(0, 5), location(1, 5), location(0, 1)],
            checksums: vec![checksum(0), checksum(1)],
            functions: Vec::new(),
            skipped: Vec::new(),
            aliases: Vec::new(),
        }
    }

    fn lines(module: &Module) -> Vec<(u32, u32)> {
        module.locations.iter().map(|location| (location.line, location.function_line)).collect()
    }

    #[test]
    fn lines_move_in_its_own_file_only() {
        let doctest = Doctest { path: "src/lib.rs".to_owned(), folder: "/b".into() };
        let mut framed = module("_ZN8rust_out4main28_doctest_main_src_lib_rs_2_017h21ca19b1005e2a68E");
        doctest.put_back(&mut framed);
        assert_eq!(lines(&framed), [(3, 2), (5, 4), (1, 2)]);
        assert_eq!(framed.strings[..2], ["/b/src/lib.rs", "/a/src/lib.rs"]);
        assert_eq!(framed.checksums.iter().map(|checksum| checksum.file.0).collect::<Vec<_>>(), [1]);
        // Nothing tells where it begins.
        let mut own_main = module("_ZN8rust_out4main17h21ca19b1005e2a68E");
        doctest.put_back(&mut own_main);
        assert_eq!(lines(&own_main), [(5, 4), (5, 4), (1, 4)]);
        assert!(sources::is_of_doctests(&own_main.strings[0]) && !sources::is_of_doctests(&own_main.strings[1]));
    }

    #[test]
    fn fences_stand_in_names() {
        assert_eq!(fence_of("rust_out::main::_doctest_main_src_lib_rs_12_0"), Some(12));
        assert_eq!(fence_of("rust_out::main::_doctest_main_src_lib_rs_12_0::{{closure}}"), None);
        assert_eq!(fence_of("rust_out::main"), None);
    }
}
