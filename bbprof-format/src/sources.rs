//! Names of source files that no source has.

/// Whether rustc made this path up for a source of its own libraries: no file is there.
#[must_use]
pub fn is_made_up(path: &str) -> bool {
    path.starts_with("/rustc/") || path.starts_with("/rust/deps/")
}

/// Whether this is a source of Rust's own libraries: made up, or where rustup's component
/// rust-src puts it, or Debian's package of that name.
#[must_use]
pub fn is_of_toolchain(path: &str) -> bool {
    is_made_up(path) || path.contains("/lib/rustlib/src/rust/") || path.starts_with("/usr/src/rustc-")
}

/// Behind the path of a source: the file that rustdoc made of a doctest in it.
const DOCTEST: &str = " (doctest)";

/// What the file that rustdoc made of a doctest goes by, where its lines are not known in the source.
#[must_use]
pub fn of_doctest(source: &str) -> String {
    format!("{source}{DOCTEST}")
}

/// Whether rustdoc made this file of a doctest, or of those that it puts together (edition 2024), and removed it.
#[must_use]
pub fn is_of_doctests(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let (file, folder) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    let is_bundle = file.starts_with("doctest_bundle_") || file.starts_with("doctest_runner_");
    path.ends_with(DOCTEST) || (folder.starts_with("rustdoctest") && is_bundle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_that_are_nowhere() {
        for path in ["/tmp/rustdoctest1zQjth/doctest_bundle_2024.rs", "/tmp/rustdoctest1zQjth/doctest_runner_2024.rs"] {
            assert!(is_of_doctests(path) && !is_of_toolchain(path));
        }
        assert!(!is_of_doctests("/tmp/rustdoctest/src/lib.rs") && !is_of_doctests("/a/doctest_runner_2024.rs"));
        assert!(is_made_up("/rustc/1a2b/library/core/src/cmp.rs") && !is_of_toolchain("/my/rustc/a.rs"));
        for folder in ["/rustc/1a2b", "/home/me/.rustup/toolchains/stable/lib/rustlib/src/rust", "/usr/src/rustc-1.97.1"] {
            assert!(is_of_toolchain(&format!("{folder}/library/core/src/cmp.rs")), "{folder}");
        }
    }
}
