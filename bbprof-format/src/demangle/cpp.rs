//! C++ names, demangled by `cpp_demangle`, and put right where that (0.5) prints another function's.

use cpp_demangle::Symbol;

/// The name of a C++ symbol, as `c++filt` prints it; none if it is not one, or has what the crate does not know.
pub(super) fn demangle_cpp(symbol: &str) -> Option<String> {
    let with_result = with_result_of_constructor(symbol);
    let name = plainly(with_result.as_deref().unwrap_or(symbol))?;
    Some(with_suffixes_of_literals(name))
}

fn plainly(symbol: &str) -> Option<String> {
    if !symbol.starts_with("_Z") {
        return None;
    }
    Symbol::new(symbol).ok()?.demangle().ok()
}

/// Templates tell the type of their result in front of their parameters', but constructors, which have none.
/// The crate passes by the first type all the same, so that `S<int>(int*)` and `S<int>(long*)` were both
/// `S<int>()`: this is the symbol with a type to be passed by.
fn with_result_of_constructor(symbol: &str) -> Option<String> {
    // What is local to a function has that function's symbol in front.
    let encoding = symbol.strip_prefix("_Z")?.trim_start_matches('Z');
    let templates = ["C1I", "C2I", "C3I", "C4I", "C5I"];
    let first = templates.iter().filter_map(|template| encoding.find(template)).min()?;
    // A name in `N..E` ends where it is whole for the first time.
    let ends = encoding[first..].match_indices('E').map(|(at, _)| first + at + 1).filter(|end| encoding[..*end].ends_with("EE"));
    let taking = |types: &str, end: usize| plainly(&format!("_Z{}{types}", &encoding[..end]));
    let (end, taking_nothing) = ends.filter_map(|end| Some((end, taking("v", end)?))).next()?;
    let is_constructor = taking("iv", end)? == taking_nothing;
    let (name, parameters) = encoding.split_at(end);
    let before = &symbol[..symbol.len() - encoding.len()];
    is_constructor.then(|| format!("{before}{name}v{parameters}"))
}

/// `operator"" _km` for the crate's `operator_km::operator ""`.
fn with_suffixes_of_literals(mut name: String) -> String {
    const BEHIND: &str = "::operator \"\"";
    const BEFORE: &str = "operator";
    while let Some(end) = name.find(BEHIND)
        && let Some(begin) = name[..end].rfind(BEFORE)
    {
        let suffix = &name[begin + BEFORE.len()..end];
        name = format!("{}{BEFORE}\"\" {suffix}{}", &name[..begin], &name[end + BEHIND.len()..]);
    }
    name
}

#[cfg(test)]
mod tests {
    use super::demangle_cpp;

    #[test]
    fn constructors_that_are_templates_keep_their_first_parameter() {
        for (symbol, name) in [
            ("_ZN1SC2IiEEPiT_", "S::S<int>(int*, int)"),
            ("_ZN1SC1IiEEPlT_", "S::S<int>(long*, int)"),
            ("_ZN1SC2IiEET_", "S::S<int>(int)"),
            ("_ZN1SC2IJEEEDpT_", "S::S<>()"),
            ("_ZN1BI1AIiEEC2IS1_EEONS_IT_EE", "B<A<int> >::B<A<int> >(B<A<int> >&&)"),
            ("_ZZN1SC1IiEEPiT_ENKUlvE_clEv", "S::S<int>(int*, int)::{lambda()#1}::operator()() const"),
            (
                "_ZNSt10unique_ptrI4BaseSt14default_deleteIS0_EEC2IS2_vEEPS0_",
                "std::unique_ptr<Base, std::default_delete<Base> >::unique_ptr<std::default_delete<Base>, void>(Base*)",
            ),
            // These are none, or no templates.
            ("_ZN1SC2Ei", "S::S(int)"),
            ("_ZN1TIiEC2Ei", "T<int>::T(int)"),
            ("_ZN1A3C1IIiEEvT_S1_", "void A::C1I<int>(int, int)"),
            ("_ZN1A1fIN1SC1IiEEE", "_"),
            ("_ZN3C1I4takeEPi", "C1I::take(int*)"),
        ] {
            assert_eq!(demangle_cpp(symbol).as_deref().unwrap_or("_"), name, "{symbol}");
        }
    }

    #[test]
    fn literals_have_their_suffix_behind_the_quotes() {
        for (symbol, name) in [
            ("_Zli2_ky", "operator\"\" _k(unsigned long long)"),
            ("_ZN3litli3_kmEy", "lit::operator\"\" _km(unsigned long long)"),
            ("_Zli2_kIJLc49EEEiv", "int operator\"\" _k<(char)49>()"),
        ] {
            assert_eq!(demangle_cpp(symbol).as_deref(), Some(name), "{symbol}");
        }
    }
}
