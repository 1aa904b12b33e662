//! LLVM's bitcode, which gets counters and manifests where it is linked.

/// Before the path of the plugin that is to place counters in it, and a line's end.
pub const PLUGIN_MARK: &str = "__bbprof_plugin=";

/// By LLVM's magic numbers: of bitcode, and of a wrapper around it.
#[must_use]
pub fn is_bitcode(bytes: &[u8]) -> bool {
    bytes.starts_with(b"BC\xc0\xde") || bytes.starts_with(b"\xde\xc0\x17\x0b")
}
