//! The Rust core of the LLVM plugin.
//!
//! The C++ glue flattens the IR of a module into a [`view`]; [`planner`] has its blocks cut into nodes ([`graph`]), described for
//! the manifest ([`describe`], `bbprof-format`) and counters placed (`bbprof-flow`), and says where in the IR they stand
//! ([`place`]); the glue then applies the plan. Only [`ffi`] sees raw pointers.

mod describe;
mod doctest;
mod ffi;
mod graph;
mod options;
mod paths;
mod place;
mod planner;
mod select;
mod strings;
mod view;

#[cfg(test)]
mod tests {
    use bbprof_format::{Digest, bitcode, names};

    /// The glue writes them out; shim and runtime know them from `bbprof-format`.
    #[test]
    fn names_in_the_glue_are_those_of_the_format() {
        let glue = concat!(include_str!("../glue/module_data.cpp"), include_str!("../glue/pass.cpp"));
        let digest = Digest::of(b"").to_string();
        let prefix = |name: String| name.strip_suffix(&digest).map(str::to_owned).expect("a name ends with its digest");
        for name in [
            names::MANIFEST_SECTION.to_owned(),
            names::MARKER_SECTION.to_owned(),
            format!("{}.", names::TLS_SECTION),
            format!("{}.", names::GLOBAL_SECTION),
            names::DELTA_SYMBOL.to_owned(),
            names::THREAD_BLOCK_SYMBOL.to_owned(),
            names::COUNT_PATH_TLS_SYMBOL.to_owned(),
            names::COUNT_PATH_DELTA_SYMBOL.to_owned(),
            bitcode::PLUGIN_MARK.to_owned(),
            prefix(names::counter_array_symbol(Digest::of(b""))),
            prefix(names::marker_symbol(Digest::of(b""))),
        ] {
            assert!(glue.contains(&format!("\"{name}\"")), "{name} is not in the glue");
        }
    }
}
