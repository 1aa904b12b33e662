//! Linker symbols as people write them: Rust (legacy and v0) and C++ names demangled, C names as they are.

mod cpp;

use cpp::demangle_cpp;

/// The name of a linker symbol. Hashes that tell copies apart are left out; what is not mangled comes back unchanged.
#[must_use]
pub fn demangle(symbol: &str) -> String {
    if let Ok(name) = rustc_demangle::try_demangle(symbol) {
        return format!("{name:#}");
    }
    let plain = without_llvm_suffix(symbol);
    if let Some((what, function)) = thunk(plain) {
        return format!("{what} to {}", demangle(&format!("_Z{function}")));
    }
    demangle_cpp(plain).unwrap_or_else(|| plain.to_owned())
}

/// Whether a symbol is that of a thunk: code without source that adjusts `this`, or what is returned, and calls the function.
#[must_use]
pub fn is_thunk(symbol: &str) -> bool {
    thunk(without_llvm_suffix(symbol)).is_some()
}

/// Whether a symbol is that of what a lambda becomes as a pointer to a function, which calls
/// it (clang, `CodeGenFunction::EmitLambdaStaticInvokeBody`).
#[must_use]
pub fn is_lambda_invoker(symbol: &str) -> bool {
    symbol.starts_with("_Z") && symbol.contains("8__invokeE")
}

/// What a thunk does, and the rest of the symbol, which is its function's (Itanium C++
/// ABI, 5.1.4.4: `T` with one or two call offsets).
fn thunk(symbol: &str) -> Option<(&'static str, &str)> {
    let rest = symbol.strip_prefix("_ZT")?;
    match rest.as_bytes().first()? {
        b'h' => Some(("non-virtual thunk", without_call_offset(rest)?)),
        b'v' => Some(("virtual thunk", without_call_offset(rest)?)),
        b'c' => Some(("covariant return thunk", without_call_offset(without_call_offset(&rest[1..])?)?)),
        _ => None,
    }
}

/// Without `h <number> _`, or `v <number> _ <number> _`.
fn without_call_offset(text: &str) -> Option<&str> {
    let number = |text: &'_ str| -> Option<usize> {
        let digits = text.strip_prefix('n').unwrap_or(text);
        let end = digits.find('_').filter(|end| *end > 0 && digits[..*end].bytes().all(|byte| byte.is_ascii_digit()))?;
        Some(text.len() - digits.len() + end + 1)
    };
    let (is_virtual, rest) = (text.starts_with('v'), text.strip_prefix(['h', 'v'])?);
    let rest = &rest[number(rest)?..];
    if is_virtual { Some(&rest[number(rest)?..]) } else { Some(rest) }
}

/// The symbol that a function has in its module: to let other modules call local functions, LLVM renames them
/// `name.llvm.<hash>` (ThinLTO, and rustc where it has several codegen units); the hash is of the module's code.
#[must_use]
pub fn without_llvm_suffix(symbol: &str) -> &str {
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
            ("_ZN1SC2IiEEPiT_", "S::S<int>(int*, int)"),
            ("_ZN1SC2IiEEPlT_.llvm.1234567890", "S::S<int>(long*, int)"),
            ("_ZThn8_N1M1gEv", "non-virtual thunk to M::g()"),
            ("_ZTv0_n24_N1W1hEi", "virtual thunk to W::h(int)"),
            ("_ZTch0_h16_N1D5cloneEv", "covariant return thunk to D::clone()"),
            ("_ZTV1M", "{vtable(M)}"),
            ("_ZThx_1f", "_ZThx_1f"),
            ("_Znope", "_Znope"),
            ("", ""),
        ] {
            assert_eq!(demangle(symbol), name);
        }
    }
}
