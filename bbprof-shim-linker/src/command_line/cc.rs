//! The language of compiler drivers (gcc's and clang's), as far as it concerns a link.

use super::ld::LdReader;
use super::{LinkCommand, Product};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Options whose value is always the next token.
const NEXT_IS_VALUE: &[&str] = &[
    "--config",
    "--entry",
    "--gcc-toolchain",
    "--param",
    "--serialize-diagnostics",
    "--target",
    "-MF",
    "-MJ",
    "-MQ",
    "-MT",
    "-Xarch_host",
    "-Xassembler",
    "-Xclang",
    "-Xpreprocessor",
    "-arch",
    "-aux-info",
    "-dumpbase",
    "-dumpbase-ext",
    "-dumpdir",
    "-gcc-toolchain",
    "-idirafter",
    "-imacros",
    "-imultilib",
    "-include",
    "-include-pch",
    "-iprefix",
    "-iquote",
    "-isysroot",
    "-isystem",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-mllvm",
    "-resource-dir",
    "-rpath",
    "-soname",
    "-specs",
    "-target",
    "-wrapper",
];

/// One-letter options of the driver with a value, attached or the next token, that no linker sees.
const DRIVER_LETTERS: &[u8] = b"ABDGIUh";

/// One-letter options with a value that mean to the linker what they mean to the driver.
const LINKER_LETTERS: &[u8] = b"LTeloTuz";

/// Options that stop before the link or only ask something.
const NO_LINK: &[&str] = &[
    "-c",
    "-S",
    "-E",
    "-M",
    "-MM",
    "-fsyntax-only",
    "-###",
    "--version",
    "--help",
    "-dumpversion",
    "-dumpfullversion",
    "-dumpmachine",
    "-dumpspecs",
    "-emit-ast",
    "--precompile",
];

enum Pending {
    Skip,
    Language,
    Sysroot,
    Linker,
    /// A letter's value, to be read as the linker reads it.
    Letter(u8),
}

pub(super) fn read(arguments: &[OsString]) -> LinkCommand {
    let mut ld = LdReader::default();
    let mut no_link = false;
    let mut source = false;
    let mut pending = None;
    for argument in arguments {
        let bytes = argument.as_bytes();
        match pending.take() {
            Some(Pending::Skip) => continue,
            Some(Pending::Language) => {
                source = argument != "none";
                continue;
            }
            Some(Pending::Sysroot) => {
                ld.command().sysroot = Some(PathBuf::from(argument));
                continue;
            }
            Some(Pending::Linker) => {
                ld.token(argument);
                continue;
            }
            Some(Pending::Letter(letter)) => {
                ld.token(&with_letter(letter, bytes));
                continue;
            }
            None => {}
        }
        if !bytes.starts_with(b"-") {
            if !source {
                ld.token(argument);
            }
            continue;
        }
        let text = argument.to_string_lossy();
        if NO_LINK.contains(&&*text) || ["-print-", "--print-", "--help="].iter().any(|prefix| text.starts_with(prefix)) {
            no_link = true;
        } else if let Some(list) = bytes.strip_prefix(b"-Wl,") {
            list.split(|byte| *byte == b',').for_each(|token| ld.token(OsStr::from_bytes(token)));
        } else if NEXT_IS_VALUE.contains(&&*text) {
            pending = Some(Pending::Skip);
        } else {
            match &*text {
                "-Xlinker" | "--for-linker" => pending = Some(Pending::Linker),
                "-x" => pending = Some(Pending::Language),
                "--sysroot" => pending = Some(Pending::Sysroot),
                "-shared" | "--shared" => ld.command().product = Product::SharedLibrary,
                "-r" => ld.command().product = Product::Relocatable,
                "-static" | "--static" | "-static-pie" => ld.command().driver_static = true,
                "-nostdlib" | "-nodefaultlibs" | "-nolibc" => ld.command().no_default_libraries = true,
                "-" => {}
                _ => pending = letter_or_other(&mut ld, &text, argument),
            }
            if let Some(language) = text.strip_prefix("-x").filter(|language| !language.is_empty()) {
                source = language != "none";
            }
        }
    }
    let mut command = ld.finish();
    if no_link {
        command.product = Product::Nothing;
    }
    if command.driver_static {
        command.inputs.iter_mut().for_each(|input| input.mode.static_only = true);
    }
    command
}

fn letter_or_other(ld: &mut LdReader, text: &str, argument: &OsStr) -> Option<Pending> {
    if let Some(sysroot) = text.strip_prefix("--sysroot=") {
        ld.command().sysroot = Some(PathBuf::from(sysroot));
        return None;
    }
    let [b'-', letter, rest @ ..] = argument.as_bytes() else { return None };
    if DRIVER_LETTERS.contains(letter) {
        return rest.is_empty().then_some(Pending::Skip);
    }
    if LINKER_LETTERS.contains(letter) {
        if rest.is_empty() {
            return Some(Pending::Letter(*letter));
        }
        if matches!(letter, b'L' | b'T' | b'l' | b'o' | b'u' | b'z') {
            ld.token(&with_letter(*letter, rest));
        }
    }
    None
}

/// `-Lvalue`, with `-o` kept from being read as a long option.
fn with_letter(letter: u8, value: &[u8]) -> OsString {
    let mut token = OsString::from(match letter {
        b'o' => "--output=".to_owned(),
        b'l' => "--library=".to_owned(),
        b'L' => "--library-path=".to_owned(),
        b'T' => "--script=".to_owned(),
        other => format!("-{}", char::from(other)),
    });
    token.push(OsStr::from_bytes(value));
    token
}

#[cfg(test)]
mod tests {
    use super::super::InputName;
    use super::*;

    fn command(line: &str) -> LinkCommand {
        read(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    fn inputs(line: &str) -> String {
        let command = command(line);
        let show = |input: &super::super::Input| {
            let name = match &input.name {
                InputName::File(path) => path.display().to_string(),
                InputName::Library(name) | InputName::LibraryFile(name) => format!("-l{}", name.display()),
            };
            let mark = if input.mode.whole_archive { "w:" } else { "" };
            format!("{mark}{}{name}", if input.mode.static_only { "s:" } else { "" })
        };
        command.inputs.iter().map(show).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn inputs_in_order_and_values_are_none() {
        for (line, expected) in [
            (
                "-m64 symbols.o a.rcgu.o -Wl,--as-needed -Wl,-Bstatic libstd.rlib -Wl,-Bdynamic -lgcc_s -lc -L /x -o out -pie",
                "symbols.o a.rcgu.o s:libstd.rlib -lgcc_s -lc",
            ),
            ("-Wl,--whole-archive a.a -Wl,--no-whole-archive b.a", "w:a.a b.a"),
            ("-Wl,-rpath -Wl,/r -Wl,-soname,x.so a.o", "a.o"),
            ("-Xlinker -rpath -Xlinker /r a.o", "a.o"),
            ("-Wl,-lfoo,b.o -Wl,-o,c", "-lfoo b.o"),
            ("-I inc -D X -U Y -include pre.h -MF d.d -isystem s -o out a.o", "a.o"),
            ("-x c a.src -x none b.o", "b.o"),
            ("-xc a.src -xnone b.o", "b.o"),
            ("-Iinc -DX -B dir -Bdir -target t a.o", "a.o"),
            ("-static a.o -lm", "s:a.o s:-lm"),
            ("-T script.ld -Wl,-T,other.ld a.o", "script.ld other.ld a.o"),
            ("-u sym -usym -z now -znow -e main a.o", "a.o"),
            ("-fuse-ld=mold -fplugin=x.so -O2 a.o -L. -lz -l q", "a.o -lz -lq"),
        ] {
            assert_eq!(inputs(line), expected, "{line}");
        }
    }

    #[test]
    fn products() {
        for (line, expected) in [
            ("a.o -o x", Product::Executable),
            ("-shared a.o", Product::SharedLibrary),
            ("-Wl,-shared a.o", Product::SharedLibrary),
            ("-r a.o", Product::Relocatable),
            ("-Wl,-r a.o", Product::Relocatable),
            ("-c a.c", Product::Nothing),
            ("-E a.c", Product::Nothing),
            ("--version", Product::Nothing),
            ("-print-search-dirs", Product::Nothing),
            ("--print-prog-name=ld", Product::Nothing),
            ("-Wl,--version", Product::Nothing),
            ("-static-pie a.o", Product::Executable),
        ] {
            assert_eq!(command(line).product, expected, "{line}");
        }
        assert_eq!(command("-o x a.o").output, Some("x".into()));
        assert_eq!(command("-ox a.o").output, Some("x".into()));
    }
}
