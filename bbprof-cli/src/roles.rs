//! One binary, several roles: the name it is called by decides.
//!
//! `bbprof` and `cargo-bbprof` are typed by users, `bbprof-cc` and `bbprof-c++` stand in for clang. The others are links in
//! a tool folder ([`crate::tools`]) that cargo is pointed at; what they need to know stands in that folder, not in the
//! environment, so that neither programs nor compiler caches see it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Which language a compiler driver compiles and links for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Language {
    /// `bbprof-cc`.
    C,
    /// `bbprof-c++`.
    Cxx,
}

/// What this process is asked to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// `bbprof ...`
    Bbprof,
    /// `cargo bbprof ...`, which cargo calls as `cargo-bbprof bbprof ...`.
    CargoBbprof,
    /// A compiler driver.
    Compiler(Language),
    /// Called by cargo as `bbprof-rustc-wrapper RUSTC ARGS...`.
    RustcWrapper,
    /// Stands in for rustc itself (`bbprof env`).
    Rustc,
    /// Stands in for rustdoc, so that doctests link with the shim.
    Rustdoc,
}

/// Name of the link that is cargo's `build.rustc-wrapper`.
pub(crate) const RUSTC_WRAPPER: &str = "bbprof-rustc-wrapper";

/// How many links are followed to a name that is known, as the kernel does.
const MAX_LINKS: usize = 40;

impl Role {
    /// The role that `argv0` names, or else what it is a link to (`cc`, in a folder for builds
    /// that insist on that name); anything unknown is `bbprof`.
    pub(crate) fn of(argv0: &OsStr) -> Self {
        Self::of_name(Path::new(argv0)).or_else(|| Self::of_link(which::which(argv0).ok()?)).unwrap_or(Self::Bbprof)
    }

    fn of_name(path: &Path) -> Option<Self> {
        Some(match &*path.file_name()?.to_string_lossy() {
            "bbprof" => Self::Bbprof,
            "cargo-bbprof" => Self::CargoBbprof,
            RUSTC_WRAPPER => Self::RustcWrapper,
            "rustc" => Self::Rustc,
            "rustdoc" => Self::Rustdoc,
            name if name.starts_with("bbprof-c++") => Self::Compiler(Language::Cxx),
            name if name.starts_with("bbprof-cc") => Self::Compiler(Language::C),
            _ => return None,
        })
    }

    fn of_link(mut link: PathBuf) -> Option<Self> {
        for _ in 0..MAX_LINKS {
            let target = std::fs::read_link(&link).ok()?;
            link = link.parent()?.join(target);
            if let Some(role) = Self::of_name(&link) {
                return Some(role);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_decides() {
        assert_eq!(Role::of("/x/cargo-bbprof".as_ref()), Role::CargoBbprof);
        assert_eq!(Role::of("bbprof".as_ref()), Role::Bbprof);
        assert_eq!(Role::of("/a/bbprof-cc-0123".as_ref()), Role::Compiler(Language::C));
        assert_eq!(Role::of("bbprof-c++".as_ref()), Role::Compiler(Language::Cxx));
        assert_eq!(Role::of("/t/bbprof-rustc-wrapper".as_ref()), Role::RustcWrapper);
        assert_eq!(Role::of("/t/rustdoc".as_ref()), Role::Rustdoc);
    }

    #[test]
    fn so_does_that_of_what_it_is_a_link_to() {
        let folder = tempfile::tempdir().expect("a folder");
        let link = |target: &str, name: &str| {
            let path = folder.path().join(name);
            std::os::unix::fs::symlink(target, &path).expect("a link");
            path
        };
        std::fs::copy("/bin/true", folder.path().join("bbprof")).expect("a copy");
        link("bbprof", "bbprof-cc");
        link("./bbprof-cc", "again");
        assert_eq!(Role::of(link("again", "cc").as_ref()), Role::Compiler(Language::C));
        assert_eq!(Role::of(link("bbprof", "else").as_ref()), Role::Bbprof);
        assert_eq!(Role::of(link("round", "round").as_ref()), Role::Bbprof);
    }
}
