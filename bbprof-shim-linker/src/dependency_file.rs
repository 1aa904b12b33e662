//! `--dependency-file`: the linker lists what it read, in the language of make. That
//! tells of inputs which the command line does not.
//!
//! The linker always writes to a file of the shim's, as the user's may be a pipe or `/dev/null`. Where the
//! user wants a listing, it is written from that, without the shim's own files: they are gone after the
//! link, and a build tool would link again and again for them.

use bstr::ByteSlice;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The files that are listed, once or more; those that are gone are left out.
pub(crate) fn listed(contents: &[u8], is_file: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    // Each linker writes an empty rule for each file, which has a line to itself.
    let names = contents.split(|byte| *byte == b'\n').filter_map(|line| line.strip_suffix(b":"));
    // lld escapes what make would misread, others do not.
    let unescaped =
        |name: &[u8]| PathBuf::from(OsString::from_vec(name.replace("\\ ", " ").replace("\\#", "#").replace("$$", "$")));
    let found = |name: &[u8]| {
        let as_written = PathBuf::from(OsStr::from_bytes(name));
        if is_file(&as_written) { Some(as_written) } else { Some(unescaped(name)).filter(|path| is_file(path)) }
    };
    names.filter_map(found).collect()
}

/// The dependency file without what lies in `folder`.
pub(crate) fn without(contents: &[u8], folder: &Path) -> Vec<u8> {
    // The folder's own name may have spaces, the names of the files in it have none.
    const OURS: &[u8] = b"\0";
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
    let folder = folder.as_os_str().as_bytes();
    let escaped = folder.replace(" ", "\\ ").replace("#", "\\#").replace("$", "$$");
    let contents = contents.replace(escaped, OURS).replace(folder, OURS);
    let mut kept = Vec::with_capacity(contents.len());
    for line in contents.split_inclusive(|byte| *byte == b'\n') {
        let text = line.trim_ascii();
        if !text.split(is_space).any(|word| word.starts_with(OURS)) {
            kept.extend_from_slice(line);
            continue;
        }
        let others: Vec<&[u8]> = text.split(is_space).filter(|word| !word.starts_with(OURS)).collect();
        if others.iter().any(|word| *word != b"\\") {
            kept.extend(others.join(&b' '));
            kept.push(b'\n');
        } else if !text.ends_with(b"\\") && !text.ends_with(b":") && kept.ends_with(b"\\\n") {
            // The last dependency of a rule: the line before must not go on.
            kept.truncate(kept.len() - 2);
            kept.push(b'\n');
        }
    }
    kept
}

/// Another rule: the target has these dependencies, too.
pub(crate) fn rule<'a>(target: &Path, files: impl Iterator<Item = &'a PathBuf> + Clone) -> Vec<u8> {
    let escaped = |path: &Path| path.as_os_str().as_bytes().replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ");
    if files.clone().next().is_none() {
        return Vec::new();
    }
    let mut rule = b"\n".to_vec();
    rule.extend(escaped(target));
    rule.push(b':');
    files.clone().for_each(|file| rule.extend([b" \\\n  ".as_slice(), &escaped(file)].concat()));
    rule.push(b'\n');
    files.for_each(|file| rule.extend([b"\n".as_slice(), &escaped(file), b":\n"].concat()));
    rule
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_as_linkers_list_them() {
        let bfd = "d e/out: \\\n  a.o \\\n  d e/b$#.o \\\n  gone.o\n\na.o:\n\nd e/b$#.o:\n\ngone.o:\n";
        let lld = "d e/out: \\\n a.o \\\n d\\ e/b$$\\#.o\n\na.o:\n\nd\\ e/b$$\\#.o:\n";
        let mold = "d e/out: a.o d e/b$#.o\n\na.o:\n\nd e/b$#.o:\n";
        let files = ["a.o", "d e/b$#.o"].map(PathBuf::from);
        for listing in [bfd, lld, mold] {
            assert_eq!(listed(listing.as_bytes(), |path| files.iter().any(|file| file == path)), files, "{listing}");
        }
        assert!(listed(b"", |_| true).is_empty());
    }

    fn without(contents: &str, folder: &str) -> String {
        String::from_utf8(super::without(contents.as_bytes(), Path::new(folder))).unwrap()
    }

    #[test]
    fn names_that_are_not_text() {
        let folder = Path::new(OsStr::from_bytes(b"/t \xff"));
        let written = b"out: \\\n /t\\ \xff/bbprof.o \\\n d\\ \xe9/a.o\n\n/t\\ \xff/bbprof.o:\n\nd\\ \xe9/a.o:\n";
        assert_eq!(super::without(written, folder), b"out: \\\n d\\ \xe9/a.o\n\n\nd\\ \xe9/a.o:\n");
        let object = Path::new(OsStr::from_bytes(b"d \xe9/a.o"));
        assert_eq!(listed(written, |path| path == object), [object]);
    }

    #[test]
    fn one_a_line_as_bfd_and_lld_write() {
        let written = "out: \\\n  /tmp/bb/bbprof.o \\\n  a.o \\\n  /tmp/bb/rt.a\n\n/tmp/bb/bbprof.o:\n\na.o:\n\n/tmp/bb/rt.a:\n";
        assert_eq!(without(written, "/tmp/bb/"), "out: \\\n  a.o \n\n\na.o:\n\n");
    }

    #[test]
    fn folders_with_spaces() {
        let folder = "/tmp/b $b/x";
        for ours in [folder, "/tmp/b\\ $$b/x"] {
            let written =
                format!("out: \\\n  {ours}/bbprof.o \\\n  a.o \\\n  {ours}/rt.a\n\n{ours}/bbprof.o:\n\na.o:\n\n{ours}/rt.a:\n");
            assert_eq!(without(&written, folder), "out: \\\n  a.o \n\n\na.o:\n\n", "{ours}");
            assert_eq!(without(&format!("out: {ours}/bbprof.o a.o b.o\n"), folder), "out: a.o b.o\n", "{ours}");
        }
    }

    #[test]
    fn all_on_one_line() {
        assert_eq!(without("out: /tmp/bb/bbprof.o a.o b.o\n", "/tmp/bb/"), "out: a.o b.o\n");
        assert_eq!(without("out: a.o b.o\n", "/tmp/bb/"), "out: a.o b.o\n");
    }
}
