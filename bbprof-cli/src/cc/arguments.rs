//! Reads a compiler driver's command line: our own options are taken out, the rest stays as it is.

use crate::cache;
use crate::exit::require;
use crate::plugin::{Filters, PluginOptions, path_array, path_limit};
use anyhow::Result;
use clap::ValueEnum;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A command line, read.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    /// What goes to clang.
    pub clang: Vec<OsString>,
    /// The same, with the words of response files in their places.
    pub words: Vec<OsString>,
    pub options: PluginOptions,
    /// The profile to place counters by.
    pub weights: Option<PathBuf>,
    /// Only asks or preprocesses: clang as it is.
    pub is_plain: bool,
    /// Compiles or preprocesses: `#include <bbprof.h>` must work.
    pub reads_headers: bool,
    /// Calls the linker.
    pub links: bool,
    pub wants_lto: bool,
    /// `-ffat-lto-objects`: objects have code and bitcode.
    pub has_fat_objects: bool,
    /// The word that asks for what clang does with `-flto` only.
    pub(super) needs_lto: Option<String>,
    /// `-femulated-tls`.
    pub(super) emulates_tls: bool,
    /// The word that asks for code which is not for Linux on x86-64.
    pub(super) foreign: Option<String>,
    /// All its sources are assembly: no plugin sees them.
    pub is_assembly: bool,
    /// A plugin of ours that stands on the command line (`bbprof env` puts it there); taken out.
    pub plugin: Option<PathBuf>,
    /// The user's `--ld-path=` (taken out) and `-fuse-ld=`.
    pub ld_path: Option<OsString>,
    pub fuse_ld: Option<OsString>,
    /// Folders of `-B`, in which clang looks for the linker first.
    pub(super) prefixes: Vec<OsString>,
    /// `-v`: with something to compile or link, clang does that, too.
    is_verbose: bool,
    has_input: bool,
    next_is_value: bool,
}

/// Options whose value is the next word, which is not for the driver, or could be taken for a source.
const NEXT_IS_VALUE: [&str; 10] =
    ["-o", "-MF", "-MT", "-MQ", "-Xlinker", "-Xassembler", "-Xclang", "-Xpreprocessor", "-Xanalyzer", "-mllvm"];

impl Arguments {
    /// Reads the words after the program's name, which say more than these options.
    pub(crate) fn parse(words: &[OsString], options: PluginOptions) -> Result<Self> {
        let mut arguments = Self { links: true, options, ..Self::default() };
        // In front of all others, as clang has them.
        for inner in config_files(words).filter_map(|path| words_of_file(&path)) {
            inner.iter().for_each(|word| arguments.look_at(word));
            arguments.words.extend(inner.into_iter().map(OsString::from));
        }
        for word in words {
            let text = word.to_string_lossy();
            if let Some(inner) = text.strip_prefix('@').and_then(words_of_file) {
                // What we do not know stays where it is: the words may be too many for a command line.
                if inner.iter().any(|word| word.starts_with("--bbprof-")) {
                    require!(
                        "{text}: {}",
                        "options of bbprof (--bbprof-...) are not looked for in response files; give them on the command line"
                    );
                }
                inner.iter().for_each(|word| arguments.look_at(word));
                arguments.words.extend(inner.into_iter().map(OsString::from));
                arguments.clang.push(word.clone());
                continue;
            }
            if let Some(profile) = text.strip_prefix("--bbprof-weights=") {
                arguments.weights = Some(profile.into());
                continue;
            }
            if let Some(option) = text.strip_prefix("--bbprof-") {
                set(&mut arguments.options, option)?;
                continue;
            }
            arguments.look_at(&text);
            arguments.words.push(word.clone());
            arguments.clang.push(word.clone());
        }
        arguments.is_assembly = is_assembly(&arguments.words);
        let mut targets =
            arguments.words.windows(2).filter(|pair| pair[0] == "-target").map(|pair| pair[1].to_string_lossy().into_owned());
        arguments.foreign = targets.rfind(|target| !is_supported(target)).or(arguments.foreign);
        arguments.prefixes = prefixes(&arguments.words)?;
        arguments.options.filters.check("--bbprof-")?;
        arguments.is_plain |= arguments.clang.is_empty() || arguments.is_verbose && !arguments.has_input;
        arguments.reads_headers |= !arguments.is_plain;
        if !arguments.is_plain {
            // What we set ourselves: the last one would win.
            let plugins = cache::root()?.join("plugin");
            let mut named = None;
            arguments.clang.retain(|word| {
                let text = word.to_string_lossy();
                let plugin = text.strip_prefix("-fpass-plugin=").map(Path::new).filter(|path| path.starts_with(&plugins));
                named = plugin.map(Path::to_owned).or(named.take());
                plugin.is_none() && !text.starts_with("--ld-path=")
            });
            arguments.plugin = named;
        }
        Ok(arguments)
    }

    fn look_at(&mut self, word: &str) {
        if std::mem::take(&mut self.next_is_value) {
            return;
        }
        self.next_is_value = NEXT_IS_VALUE.contains(&word);
        self.has_input |= word == "-" || !word.starts_with(['-', '@']);
        match word {
            "-E" | "-M" | "-MM" => (self.is_plain, self.reads_headers) = (true, true),
            "-v" => self.is_verbose = true,
            "-###" | "--version" | "--help" | "-cc1" | "-cc1as" => self.is_plain = true,
            "-dumpmachine" | "-dumpversion" | "-dumpfullversion" | "-dumpspecs" => self.is_plain = true,
            "-c" | "-S" | "-fsyntax-only" | "--precompile" => self.links = false,
            "-flto" => self.wants_lto = true,
            "-fno-lto" => self.wants_lto = false,
            "-ffat-lto-objects" => self.has_fat_objects = true,
            "-fno-fat-lto-objects" => self.has_fat_objects = false,
            "-femulated-tls" => self.emulates_tls = true,
            "-fno-emulated-tls" => self.emulates_tls = false,
            _ if word.starts_with("-print-") || word.starts_with("--print-") => self.is_plain = true,
            _ if word.starts_with("-flto=") => self.wants_lto = true,
            _ if needs_lto(word) => self.needs_lto = Some(word.to_owned()),
            "-m32" | "-mx32" | "-m16" | "-miamcu" => self.foreign = Some(word.to_owned()),
            "-m64" => self.foreign = None,
            _ => {
                if let Some(name) = word.strip_prefix("-fuse-ld=") {
                    self.fuse_ld = Some(name.into());
                } else if let Some(path) = word.strip_prefix("--ld-path=") {
                    self.ld_path = Some(path.into());
                } else if let Some(target) = word.strip_prefix("--target=") {
                    self.foreign = (!is_supported(target)).then(|| word.to_owned());
                }
            }
        }
    }
}

/// Whether clang takes an option with `-flto` only.
fn needs_lto(word: &str) -> bool {
    let mut sanitizers = word.strip_prefix("-fsanitize=").unwrap_or("").split(',');
    ["-fwhole-program-vtables", "-fvirtual-function-elimination"].contains(&word) || sanitizers.any(|name| name.starts_with("cfi"))
}

/// Whether counters can be placed in code for a target: Linux on x86-64.
fn is_supported(target: &str) -> bool {
    let mut parts = target.split('-');
    ["x86_64", "amd64"].contains(&parts.next().unwrap_or("")) && parts.any(|part| part == "linux") && !target.ends_with("x32")
}

/// The words of a response file, and of those that it names; none if it is not one.
fn words_of_file(path: &str) -> Option<Vec<String>> {
    fn read(path: &str, above: &mut Vec<String>) -> Option<Vec<String>> {
        // A circle is clang's to tell.
        if above.iter().any(|file| file == path) {
            return None;
        }
        let words = shlex::split(&std::fs::read_to_string(path).ok()?)?;
        above.push(path.to_owned());
        let inner = |word: String| word.strip_prefix('@').and_then(|path| read(path, above)).unwrap_or_else(|| vec![word]);
        let words = words.into_iter().flat_map(inner).collect();
        above.pop();
        Some(words)
    }
    read(path, &mut Vec::new())
}

/// The files of `--config FILE` and `--config=FILE`. One that is named without a folder is looked for in places that clang knows.
fn config_files(words: &[OsString]) -> impl Iterator<Item = String> {
    let next = words.windows(2).filter(|pair| pair[0] == "--config").map(|pair| pair[1].as_os_str());
    let within = words.iter().filter_map(|word| after(word, "--config="));
    next.chain(within).map(|path| path.to_string_lossy().into_owned()).filter(|path| path.contains('/'))
}

/// Whether there are sources, all of which are assembly, by their names' ends as clang has them.
fn is_assembly(words: &[OsString]) -> bool {
    let mut is_value = false;
    let ends = words.iter().filter_map(|word| {
        let is_source = !is_value && !word.as_encoded_bytes().starts_with(b"-");
        is_value = NEXT_IS_VALUE.iter().any(|option| word == option);
        is_source.then(|| Path::new(word).extension()?.to_str()).flatten().filter(|end| !["o", "a", "so"].contains(end))
    });
    let mut ends = ends.peekable();
    ends.peek().is_some() && ends.all(|end| ["s", "S", "sx"].contains(&end))
}

/// The folders of `-B`, but for those that `bbprof env` puts there, which have the shim.
fn prefixes(words: &[OsString]) -> Result<Vec<OsString>> {
    let cache = cache::root()?;
    let mut prefixes = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let prefix = if word == "-B" { words.next().map(OsString::as_os_str) } else { after(word, "-B") };
        if let Some(prefix) = prefix {
            // What clang answers is kept for other working directories, too.
            let prefix = std::path::absolute(prefix)?;
            prefixes.extend((!prefix.starts_with(&cache)).then_some(prefix.into_os_string()));
        }
    }
    Ok(prefixes)
}

fn after<'w>(word: &'w OsStr, start: &str) -> Option<&'w OsStr> {
    word.as_bytes().strip_prefix(start.as_bytes()).filter(|rest| !rest.is_empty()).map(OsStr::from_bytes)
}

/// One `--bbprof-KEY=VALUE`.
fn set(options: &mut PluginOptions, option: &str) -> Result<()> {
    let (key, value) = option.split_once('=').map_or((option, None), |(key, value)| (key, Some(value)));
    match (key, value) {
        ("counters", Some(value)) => options.counters = choice(key, value)?,
        ("storage", Some(value)) => options.storage = choice(key, value)?,
        ("path-array", Some(value)) => options.path_array = Some(path_array(value)?),
        ("path-limit", Some(value)) => options.path_limit = Some(path_limit(value)?),
        ("without", Some(value)) => options.without.push(choice(key, value)?),
        ("with", Some(value)) => options.with.push(choice(key, value)?),
        ("tls", Some(value)) => options.tls = choice(key, value)?,
        ("ir", None | Some("1")) => options.ir = true,
        ("ir", Some("0")) => options.ir = false,
        (key, Some(value)) if pattern(&mut options.filters, key).is_some() => {
            pattern(&mut options.filters, key).into_iter().for_each(|list| list.push(value.to_owned()));
        }
        _ => require!(
            "--bbprof-{option}: not an option of bbprof-cc (--bbprof-counters=, --bbprof-storage=, --bbprof-path-limit=, --bbprof-path-array=, --bbprof-tls=, --bbprof-without=, --bbprof-with=, --bbprof-ir, --bbprof-weights=, --bbprof-include=, --bbprof-exclude-fn=, --bbprof-include-file=, --bbprof-exclude-file=)"
        ),
    }
    Ok(())
}

fn pattern<'a>(filters: &'a mut Filters, key: &str) -> Option<&'a mut Vec<String>> {
    match key {
        "include" => Some(&mut filters.include_fn),
        "exclude-fn" => Some(&mut filters.exclude_fn),
        "include-file" => Some(&mut filters.include_file),
        "exclude-file" => Some(&mut filters.exclude_file),
        _ => None,
    }
}

fn choice<T: ValueEnum>(key: &str, value: &str) -> Result<T> {
    match T::from_str(value, false) {
        Ok(choice) => Ok(choice),
        Err(_) => {
            let names: Vec<String> =
                T::value_variants().iter().filter_map(|value| Some(value.to_possible_value()?.get_name().to_owned())).collect();
            require!("--bbprof-{key}={value}: expected one of {}", names.join(", "))
        }
    }
}

/// For messages and digests.
pub(crate) fn is_set(value: Option<OsString>) -> Option<OsString> {
    value.filter(|value| value != OsStr::new(""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugin::{Counters, Tls};

    fn parse(line: &str) -> Result<Arguments> {
        Arguments::parse(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>(), PluginOptions::default())
    }

    #[test]
    fn our_options_are_taken_out() {
        let got = parse("-O2 --bbprof-counters=check --bbprof-tls=exec --bbprof-exclude-fn=^x --bbprof-ir -c a.c").unwrap();
        assert_eq!(got.clang, ["-O2", "-c", "a.c"].map(OsString::from));
        assert_eq!((got.options.counters, got.options.tls, got.options.ir), (Counters::Check, Tls::Exec, true));
        assert_eq!(got.options.filters.exclude_fn, ["^x"]);
        assert!(!got.links && !got.is_plain);
    }

    #[test]
    fn wrong_options_are_named() {
        assert!(parse("--bbprof-colour=red").unwrap_err().to_string().contains("--bbprof-colour=red: not an option"));
        let error = parse("--bbprof-counters=all").unwrap_err().to_string();
        assert_eq!(error, "--bbprof-counters=all: expected one of edges, blocks, patterns, check, paths, paths-check");
        assert!(parse("--bbprof-include=(").is_err());
    }

    #[test]
    fn questions_are_plain() {
        for line in
            ["-E a.c", "-M a.c", "-v", "-O2 -v", "-### a.c", "--version", "-print-prog-name=ld", "-dumpmachine", "-dumpversion", ""]
        {
            assert!(parse(line).unwrap().is_plain, "{line}");
        }
        for line in [
            "-MD -MF x -c a.c",
            "a.o -o a",
            "-MMD -c a.c",
            "-v -c a.c",
            "a.o -v",
            "-Xlinker -v a.o",
            "-Xclang -v -c a.c",
            "-o --version a.o",
            "-dumpdir x/ a.c",
            "-v -xc -",
        ] {
            assert!(!parse(line).unwrap().is_plain, "{line}");
        }
    }

    #[test]
    fn assembly_is_told_by_its_name() {
        for line in ["-c a.S", "-O2 -c -o a.o -MD -MF a.d a.s", "a.s b.o -lm -o a"] {
            assert!(parse(line).unwrap().is_assembly, "{line}");
        }
        for line in ["-c a.c", "a.c b.S", "-S a.c -o a.s", "-S -x c - -o a.s", "a.o -o a", "-x assembler -c a.c"] {
            assert!(!parse(line).unwrap().is_assembly, "{line}");
        }
    }

    #[test]
    fn headers_are_read_by_what_compiles_or_preprocesses() {
        for (line, reads) in
            [("-E a.c", true), ("-MM a.c", true), ("-c a.c", true), ("-v", false), ("--version", false), ("", false)]
        {
            assert_eq!(parse(line).unwrap().reads_headers, reads, "{line}");
        }
    }

    #[test]
    fn code_for_other_machines_is_known() {
        for line in [
            "--target=bpf a.c",
            "-target aarch64-linux-gnu a.c",
            "-m32 a.c",
            "-m16 a.c",
            "-miamcu a.c",
            "--target=x86_64-apple-darwin a.c",
            "--target=x86_64-linux-gnux32 a.c",
        ] {
            assert!(parse(line).unwrap().foreign.is_some(), "{line}");
        }
        for line in
            ["a.c", "--target=x86_64-linux-gnu a.c", "-target x86_64-unknown-linux-musl a.c", "-m32 -m64 a.c", "-m16 -m64 a.c"]
        {
            assert_eq!(parse(line).unwrap().foreign, None, "{line}");
        }
    }

    #[test]
    fn the_users_linker_is_kept() {
        let got = parse("a.o -fuse-ld=lld --ld-path=/x/mold -flto=thin").unwrap();
        assert_eq!((got.ld_path, got.fuse_ld), (Some("/x/mold".into()), Some("lld".into())));
        assert_eq!(got.clang, ["a.o", "-fuse-ld=lld", "-flto=thin"].map(OsString::from));
        assert!(got.links && got.wants_lto);
        assert_eq!(parse("-v --ld-path=/x/mold").unwrap().clang.len(), 2);
        let ours = cache::root().unwrap().join("shim/0123");
        let got = parse(&format!("-B/x -B{} -B /y a.o", ours.display())).unwrap();
        assert_eq!((got.prefixes, got.clang.len()), (vec!["/x".into(), "/y".into()], 5));
        assert!(!parse("-flto -fno-lto a.o").unwrap().wants_lto);
        assert_eq!(
            parse("-flto -fsanitize=undefined,cfi-icall a.c").unwrap().needs_lto.as_deref(),
            Some("-fsanitize=undefined,cfi-icall")
        );
        assert_eq!(parse("-flto -fsanitize=undefined a.c").unwrap().needs_lto, None);
    }
}
