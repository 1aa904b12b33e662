//! Linker symbols as people write them: Rust (legacy and v0) and C++ names demangled, C names as they are.

/// The name of a linker symbol. Hashes that tell copies apart are left out; what is not mangled comes back unchanged.
#[must_use]
pub fn demangle(symbol: &str) -> String {
    if let Ok(name) = rustc_demangle::try_demangle(symbol) {
        return format!("{name:#}");
    }
    let plain = without_llvm_suffix(symbol);
    if plain.starts_with("_Z")
        && let Ok(parsed) = cpp_demangle::Symbol::new(plain)
        && let Ok(name) = parsed.demangle()
    {
        return name;
    }
    plain.to_owned()
}

/// ThinLTO renames local functions `name.llvm.<hash>`.
fn without_llvm_suffix(symbol: &str) -> &str {
    match symbol.rsplit_once(".llvm.") {
        Some((plain, hash)) if !hash.is_empty() && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => plain,
        _ => symbol,
    }
}

#[cfg(test)]
mod tests {
    use super::demangle;

    #[test]
    fn names() {
        for (symbol, name) in [
            ("main", "main"),
            ("luaV_execute.llvm.1234567890", "luaV_execute"),
            ("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"),
            ("_RNvC6_123foo3bar", "123foo::bar"),
            ("_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back(int const&)"),
            ("_Znope", "_Znope"),
            ("", ""),
        ] {
            assert_eq!(demangle(symbol), name);
        }
    }
}
