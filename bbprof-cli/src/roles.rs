//! One binary, several roles: the name it is called by decides.
//!
//! `bbprof` and `cargo-bbprof` are typed by users, `bbprof-cc` and `bbprof-c++` stand in for clang. The others are links in
//! a tool folder ([`crate::tools`]) that cargo is pointed at; what they need to know stands in that folder, not in the
//! environment, so that neither programs nor compiler caches see it.

use std::ffi::OsStr;
use std::path::Path;

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

impl Role {
    /// The role that `argv0` names; anything unknown is `bbprof`.
    pub(crate) fn of(argv0: &OsStr) -> Self {
        let name = Path::new(argv0).file_name().unwrap_or(argv0).to_string_lossy();
        match &*name {
            "cargo-bbprof" => Self::CargoBbprof,
            RUSTC_WRAPPER => Self::RustcWrapper,
            "rustc" => Self::Rustc,
            "rustdoc" => Self::Rustdoc,
            name if name.starts_with("bbprof-c++") => Self::Compiler(Language::Cxx),
            name if name.starts_with("bbprof-cc") => Self::Compiler(Language::C),
            _ => Self::Bbprof,
        }
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
}
