//! The language of linkers: GNU ld's, which gold, lld and mold understand, with what those add.
//!
//! [`LdReader`] takes one token after another, because compiler drivers spread an option and its value over several `-Wl,`.

use super::abbreviated::completed;
use super::{Input, InputMode, InputName, LinkCommand, Product};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// Long options (one dash or two) whose value is the rest behind `=` or else the next token. Kept here: those whose value could
/// be taken for an input.
const LONG_WITH_VALUE: &[&str] = &[
    "assert",
    "audit",
    "auxiliary",
    "b",
    "base-file",
    "chroot",
    "compress-debug-sections",
    "default-script",
    "defsym",
    "depaudit",
    "dependency-file",
    "dT",
    "dynamic-linker",
    "dynamic-list",
    "entry",
    "exclude-libs",
    "export-dynamic-symbol",
    "export-dynamic-symbol-list",
    "filter",
    "fini",
    "flavor",
    "format",
    "gpsize",
    "hash-style",
    "icf",
    "image-base",
    "init",
    "just-symbols",
    "library",
    "library-path",
    "m",
    "Map",
    "max-cache-size",
    "mllvm",
    "MRI-script",
    "orphan-handling",
    "oformat",
    "output",
    "plugin",
    "plugin-opt",
    "print-map-locals-limit",
    "remap-inputs",
    "remap-inputs-file",
    "require-defined",
    "retain-symbols-file",
    "rpath",
    "rpath-link",
    "script",
    "section-ordering-file",
    "section-start",
    "soname",
    "spare-dynamic-tags",
    "symbol-ordering-file",
    "sysroot",
    "Tbss",
    "Tdata",
    "Ttext",
    "Ttext-segment",
    "Trodata-segment",
    "Tldata-segment",
    "task-link",
    "thread-count",
    "undefined",
    "undefined-glob",
    "unique-list",
    "version-exports-section",
    "version-script",
    "wrap",
    "z",
];

/// One-letter options with a value, attached or the next token.
const SHORT_WITH_VALUE: &[u8] = b"aAbcefFGhIlLmoPRTuyYz";

#[derive(Clone, Copy, Default)]
struct State {
    mode: InputMode,
}

/// Reads tokens one by one.
#[derive(Default)]
pub(super) struct LdReader {
    command: LinkCommand,
    state: State,
    saved: Vec<State>,
    lazy: bool,
    pending: Option<String>,
    query: bool,
    /// Other files may be linked than those that are named.
    remaps: bool,
}

pub(super) fn read(arguments: &[OsString]) -> LinkCommand {
    let mut reader = LdReader::default();
    let arguments = match arguments {
        [flavor, _, rest @ ..] if flavor == "-flavor" => rest,
        all => all,
    };
    for argument in arguments {
        reader.token(argument);
    }
    reader.finish()
}

/// A word, with the words of its value behind it, and the input that these name.
pub(crate) struct Phrase<'a> {
    pub words: &'a [OsString],
    pub input: Option<Input>,
}

/// The command taken apart, in order.
pub(crate) fn phrases(arguments: &[OsString]) -> Vec<Phrase<'_>> {
    let mut reader = LdReader::default();
    let mut phrases = Vec::new();
    let mut start = if arguments.first().is_some_and(|first| first == "-flavor") { arguments.len().min(2) } else { 0 };
    for (at, word) in arguments.iter().enumerate().skip(start) {
        let num_before = reader.command.inputs.len();
        reader.token(word);
        if reader.pending.is_none() || at + 1 == arguments.len() {
            let input = reader.command.inputs.get(num_before).cloned();
            phrases.push(Phrase { words: &arguments[start..=at], input });
            start = at + 1;
        }
    }
    phrases
}

impl LdReader {
    /// What was read.
    pub(super) fn finish(mut self) -> LinkCommand {
        if self.query {
            self.command.product = Product::Nothing;
        }
        if self.remaps {
            for input in &mut self.command.inputs {
                input.mode = input.mode.perhaps_another();
            }
        }
        self.command
    }

    /// What was read so far, for what compiler drivers say in their own words.
    pub(super) fn command(&mut self) -> &mut LinkCommand {
        &mut self.command
    }

    /// The next token.
    pub(super) fn token(&mut self, token: &OsStr) {
        if let Some(option) = self.pending.take() {
            self.option(&option, token);
            return;
        }
        let bytes = token.as_bytes();
        let Some(one_dash) = bytes.strip_prefix(b"-") else {
            self.input(InputName::File(PathBuf::from(token)));
            return;
        };
        if one_dash.is_empty() {
            return;
        }
        let two_dashes = one_dash.strip_prefix(b"-");
        let long = two_dashes.unwrap_or(one_dash);
        let equals = long.iter().position(|byte| *byte == b'=');
        let written = String::from_utf8_lossy(&long[..equals.unwrap_or(long.len())]);
        let is_long = written.len() > 1 || two_dashes.is_some();
        let name = if is_long { completed(&written, two_dashes.is_some()) } else { &written }.to_owned();
        if is_long {
            let takes_value = LONG_WITH_VALUE.contains(&name.as_str());
            match equals {
                Some(at) if takes_value => return self.option(&name, OsStr::from_bytes(&long[at + 1..])),
                None if takes_value => {
                    self.pending = Some(name);
                    return;
                }
                None if self.flag(&name) => return,
                _ if two_dashes.is_some() => return,
                _ => {}
            }
        } else if self.flag(&name) {
            return;
        }
        let (letter, rest) = (one_dash[0], &one_dash[1..]);
        if SHORT_WITH_VALUE.contains(&letter) {
            let name = char::from(letter).to_string();
            if rest.is_empty() {
                self.pending = Some(name);
            } else {
                self.option(&name, OsStr::from_bytes(rest));
            }
        }
    }

    fn input(&mut self, name: InputName) {
        let mode = InputMode { lazy: self.lazy, ..self.state.mode };
        self.command.inputs.push(Input { name, mode });
    }

    /// An option without a value; false when it is not one that matters here.
    fn flag(&mut self, name: &str) -> bool {
        let mode = &mut self.state.mode;
        match name {
            "shared" | "Bshareable" => self.command.product = Product::SharedLibrary,
            "r" | "relocatable" | "i" | "Ur" => self.command.product = Product::Relocatable,
            "version" | "help" => self.query = true,
            "whole-archive" => mode.whole_archive = true,
            "no-whole-archive" => mode.whole_archive = false,
            "Bstatic" | "static" | "dn" | "non_shared" => mode.static_only = true,
            "Bdynamic" | "dy" | "call_shared" => mode.static_only = false,
            "push-state" => self.saved.push(self.state),
            "pop-state" => self.state = self.saved.pop().unwrap_or_default(),
            "start-lib" => self.lazy = true,
            "end-lib" => self.lazy = false,
            "no-dynamic-linker" => self.command.dynamic_linker = false,
            // Long options of one dash that would otherwise read as a letter with a value attached.
            "pie"
            | "no-pie"
            | "export-dynamic"
            | "export-dynamic-symbols"
            | "eh-frame-hdr"
            | "end-group"
            | "as-needed"
            | "gc-sections"
            | "build-id" => {}
            _ => return false,
        }
        true
    }

    fn option(&mut self, name: &str, value: &OsStr) {
        let path = || PathBuf::from(value);
        match name {
            "o" | "output" => self.command.output = Some(path()),
            "l" | "library" => self.input(library(value)),
            "L" | "library-path" => self.command.library_dirs.push(path()),
            "sysroot" => self.command.sysroot = Some(path()),
            "dynamic-linker" | "I" => self.command.dynamic_linker = true,
            "b" | "format" => self.state.mode.foreign = value == "binary",
            "T" | "script" => {
                // A script may name inputs of its own.
                self.input(InputName::File(path()));
                self.command.side_files.push(path());
            }
            "remap-inputs" => self.remaps = true,
            "remap-inputs-file" => {
                self.remaps = true;
                self.command.side_files.push(path());
            }
            "dependency-file" => self.command.dependency_file = Some(path()),
            "version-script"
            | "dynamic-list"
            | "retain-symbols-file"
            | "symbol-ordering-file"
            | "section-ordering-file"
            | "export-dynamic-symbol-list"
            | "default-script"
            | "dT"
            | "just-symbols"
            | "R"
            | "plugin" => {
                self.command.side_files.push(path());
            }
            _ => {}
        }
    }
}

fn library(value: &OsStr) -> InputName {
    match value.as_bytes().strip_prefix(b":") {
        Some(file) => InputName::LibraryFile(OsString::from_vec(file.to_vec())),
        None => InputName::Library(value.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(line: &str) -> LinkCommand {
        read(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    /// The inputs in order: `w:` whole archive, `z:` lazy, `s:` static only, `f:` foreign.
    fn inputs(line: &str) -> String {
        let show = |input: &Input| {
            let name = match &input.name {
                InputName::File(path) => path.display().to_string(),
                InputName::Library(name) => format!("-l{}", name.display()),
                InputName::LibraryFile(name) => format!("-l:{}", name.display()),
            };
            let mode = input.mode;
            let marks = [(mode.whole_archive, "w:"), (mode.lazy, "z:"), (mode.static_only, "s:"), (mode.foreign, "f:")];
            marks.iter().filter(|(on, _)| *on).map(|(_, mark)| *mark).collect::<String>() + &name
        };
        command(line).inputs.iter().map(show).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn inputs_in_order_and_values_are_none() {
        for (line, expected) in [
            ("a.o b.o -o out c.a", "a.o b.o c.a"),
            ("-m elf_x86_64 -dynamic-linker /lib64/ld.so -z now --eh-frame-hdr -pie crt1.o -lc crtn.o", "crt1.o -lc crtn.o"),
            ("-plugin /p/liblto.so -plugin-opt=/lto -plugin-opt -pass-through=-lc --hash-style=gnu a.o", "a.o"),
            ("-L/x -L y -l z --library=q --library w -l:libv.a a.o", "-lz -lq -lw -l:libv.a a.o"),
            ("-soname libx.so.1 -rpath /r --rpath-link /s -Map m.map -u sym -e main -usym2 -emain a.o", "a.o"),
            ("--version-script=v.map --version-script w.map --defsym x=1 -defsym y=2 a.o", "a.o"),
            ("a.o --whole-archive b.a --no-whole-archive c.a", "a.o w:b.a c.a"),
            ("--push-state --whole-archive -lb --pop-state -lc", "w:-lb -lc"),
            (
                "--push-state -Bstatic --whole-archive b.a --push-state --no-whole-archive c.a --pop-state d.a --pop-state e.a",
                "w:s:b.a s:c.a w:s:d.a e.a",
            ),
            ("--start-group a.a b.a --end-group", "a.a b.a"),
            ("-( a.a b.a -)", "a.a b.a"),
            ("--start-lib a.o b.o --end-lib c.o", "z:a.o z:b.o c.o"),
            ("-Bstatic -lx -Bdynamic -ly", "s:-lx -ly"),
            ("-b binary blob -b elf64-x86-64 a.o --format=binary blob2", "f:blob a.o f:blob2"),
            ("-T script.ld a.o", "script.ld a.o"),
            ("-Tbss 0x1000 -Ttext=0 a.o", "a.o"),
            ("-export-dynamic -O1 --icf=all -O 2", "2"),
            ("- a.o", "a.o"),
            ("a.o --remap-inputs=a.o=b.o --whole-archive c.a", "z:a.o z:c.a"),
            ("--remap-inputs-file list a.o", "z:a.o"),
            ("--outp x --who b.a --no-who c.a --dynamic-lin l -Bst --library-p p -lb --form binary d", "w:b.a c.a s:-lb s:f:d"),
        ] {
            assert_eq!(inputs(line), expected, "{line}");
        }
    }

    #[test]
    fn phrases_are_words_with_their_values() {
        let words: Vec<OsString> = "-flavor gnu -o out a.o -l z --whole-archive -lq -plugin p.so -plugin-opt=O2 -T s.ld -u"
            .split_whitespace()
            .map(OsString::from)
            .collect();
        let phrases = phrases(&words);
        let text = |phrase: &Phrase<'_>| phrase.words.join(OsStr::new(" ")).into_string().unwrap();
        let shown: Vec<(String, bool)> = phrases.iter().map(|phrase| (text(phrase), phrase.input.is_some())).collect();
        let expected = [
            ("-o out", false),
            ("a.o", true),
            ("-l z", true),
            ("--whole-archive", false),
            ("-lq", true),
            ("-plugin p.so", false),
            ("-plugin-opt=O2", false),
            ("-T s.ld", true),
            ("-u", false),
        ];
        assert_eq!(shown, expected.map(|(text, is_input)| (text.to_owned(), is_input)));
        assert!(phrases[4].input.as_ref().unwrap().mode.whole_archive);
    }

    #[test]
    fn products() {
        for (line, expected) in [
            ("a.o", Product::Executable),
            ("-pie a.o", Product::Executable),
            ("-static -pie --no-dynamic-linker a.o", Product::Executable),
            ("-shared a.o", Product::SharedLibrary),
            ("--shared a.o", Product::SharedLibrary),
            ("-Bshareable a.o", Product::SharedLibrary),
            ("-r a.o", Product::Relocatable),
            ("-relocatable a.o", Product::Relocatable),
            ("-rpath /x a.o", Product::Executable),
            ("-rpath-link /x a.o", Product::Executable),
            ("--version", Product::Nothing),
            ("--sha a.o", Product::SharedLibrary),
            ("-reloc a.o", Product::Relocatable),
            ("-v a.o", Product::Executable),
            ("-soname -shared a.o", Product::Executable),
        ] {
            assert_eq!(command(line).product, expected, "{line}");
        }
    }

    #[test]
    fn the_rest() {
        let read =
            command("-flavor gnu -o x -Lp -L q --sysroot=/s --dynamic-linker=/l --dependency-file d --version-script v.map a.o");
        assert_eq!(read.output, Some("x".into()));
        for line in ["--outp=x a.o", "--outp x a.o", "--output x a.o", "-ox a.o"] {
            assert_eq!(command(line).output, Some("x".into()), "{line}");
        }
        assert_eq!(command("-outp=x a.o").output, Some("utp=x".into()));
        assert_eq!(read.library_dirs, [PathBuf::from("p"), "q".into()]);
        assert_eq!(read.sysroot, Some("/s".into()));
        assert!(read.dynamic_linker);
        assert_eq!(read.dependency_file, Some("d".into()));
        assert_eq!(read.side_files, [PathBuf::from("v.map")]);
        assert_eq!(read.inputs.len(), 1);
    }
}
