//! The name that all instantiations of a function share.

use std::borrow::Cow;

/// A demangled name (Rust, C++) without generic arguments, parameters and return type: instantiations of one function have one.
/// What is inside of a function (lambdas, closures, local types) has a name of its own, and operators keep theirs.
#[must_use]
pub fn without_generics(name: &str) -> String {
    name_proper(name, false)
}

/// Likewise with the arguments of generics: `id<int>`.
#[must_use]
pub fn without_parameters(name: &str) -> String {
    name_proper(name, true)
}

/// What all instantiations of one function of the source are called, and no other function of the same line (overloads; what a
/// class has by itself): with the types of parameters where the name tells no arguments of generics, which these may depend on.
#[must_use]
pub fn source_name(name: &str) -> String {
    let plain = without_generics(name);
    if without_parameters(name) == plain { name.split(" [clone ").next().unwrap_or(name).to_owned() } else { plain }
}

/// A demangled name as the source has it: without the tags that GNU's C++ library gives to
/// functions that return strings or lists, `name[abi:cxx11](int)`.
#[must_use]
pub fn without_abi_tags(name: &str) -> Cow<'_, str> {
    let mut plain = Cow::Borrowed(name);
    while let Some(begin) = plain.find("[abi:")
        && let Some(length) = plain[begin..].find(']')
    {
        plain.to_mut().replace_range(begin..=begin + length, "");
    }
    plain
}

/// A demangled name of Rust without the arguments of functions, `::<u8>`, which its newer symbols tell; those of types stay.
#[must_use]
pub fn without_turbofish(name: &str) -> String {
    let mut plain = String::new();
    let mut rest = name;
    while let Some(at) = rest.find("::<") {
        plain.push_str(&rest[..at]);
        let arguments = &rest[at + 2..];
        rest = &arguments[group(arguments, '<', '>')..];
    }
    plain + rest
}

fn name_proper(name: &str, with_arguments: bool) -> String {
    // As C's names are, of which a program has many.
    if !name.contains(['<', '(', '{', ' ']) {
        return name.to_owned();
    }
    let mut plain = String::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        if let Some(length) = operator(&plain, rest) {
            plain.push_str(&rest[..length]);
            rest = &rest[length..];
            // Arguments stand apart from `operator<`.
            rest = rest.strip_prefix(' ').filter(|rest| rest.starts_with('<')).unwrap_or(rest);
            continue;
        }
        match first {
            '<' if !with_arguments => {
                // Rust's newer names have `::` before arguments, too.
                plain.truncate(plain.strip_suffix("::").map_or(plain.len(), str::len));
                rest = &rest[group(rest, '<', '>')..];
            }
            '<' | '{' => {
                let length = group(rest, first, if first == '<' { '>' } else { '}' });
                plain.push_str(&rest[..length]);
                rest = &rest[length..];
            }
            '(' if rest.starts_with(ANONYMOUS) => {
                plain.push_str(ANONYMOUS);
                rest = &rest[ANONYMOUS.len()..];
            }
            '(' => {
                rest = &rest[group(rest, '(', ')')..];
                if !plain.is_empty() {
                    // Parameters. The function is named, unless this is the outer one of what is meant.
                    match inside(rest) {
                        Some(inner) => rest = inner,
                        None => break,
                    }
                }
            }
            // What came was a return type.
            ' ' if !["operator", "operator\"\""].iter().any(|word| plain.ends_with(word)) && !is_conversion(&plain) => {
                plain.clear();
                rest = &rest[1..];
            }
            first => {
                plain.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    if plain.is_empty() { name.to_owned() } else { plain }
}

const ANONYMOUS: &str = "(anonymous namespace)";

/// The length of the symbol behind `operator`, of those that look like brackets.
fn operator(plain: &str, rest: &str) -> Option<usize> {
    let is_behind =
        |word: &str| plain.strip_suffix(word).is_some_and(|front| !front.ends_with(|c: char| c.is_alphanumeric() || c == '_'));
    if is_behind("operator-") {
        return rest.starts_with('>').then_some(1);
    }
    let symbols = ["()", "<=>", "<<=", ">>=", "<<", ">>", "<=", ">=", "<", ">"];
    symbols.iter().find(|symbol| is_behind("operator") && rest.starts_with(**symbol)).map(|symbol| symbol.len())
}

/// `operator unsigned`: the type has spaces.
fn is_conversion(plain: &str) -> bool {
    plain.rsplit("::").next().is_some_and(|last| last.starts_with("operator "))
}

/// The length of the group in brackets that this starts with; all of it where they do not match. Arrows are no brackets.
fn group(text: &str, open: char, close: char) -> usize {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (position, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close && !(close == '>' && before == '-') {
            depth -= 1;
            if depth == 0 {
                return position + c.len_utf8();
            }
        }
        before = c;
    }
    text.len()
}

/// Behind parameters and qualifiers: the rest of a name that goes on inside of the function.
fn inside(mut rest: &str) -> Option<&str> {
    for qualifier in [" const", " volatile", " &&", " &"] {
        rest = rest.strip_prefix(qualifier).unwrap_or(rest);
    }
    rest.starts_with("::").then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::{source_name, without_generics, without_parameters};

    #[test]
    fn overloads_have_names_of_their_own() {
        for (name, plain) in [
            ("main", "main"),
            ("f(double)", "f(double)"),
            ("S::S(S const&)", "S::S(S const&)"),
            ("f(std::vector<int>) const", "f(std::vector<int>) const"),
            ("f(int) [clone .part.0]", "f(int)"),
            ("double twice<double>(double)", "twice"),
            ("std::vector<int>::push_back(int const&)", "std::vector::push_back"),
            ("a::f::{{closure}}", "a::f::{{closure}}"),
        ] {
            assert_eq!(source_name(name), plain);
        }
    }

    #[test]
    fn instantiations_have_one_name() {
        for (name, plain) in [
            ("main", "main"),
            ("core::ptr::drop_in_place<alloc::vec::Vec<u8>>", "core::ptr::drop_in_place"),
            ("core::ops::function::FnOnce::call_once<fn(u8) -> u8, (u8,)>", "core::ops::function::FnOnce::call_once"),
            ("std::vector<int, std::allocator<int> >::push_back(int const&)", "std::vector::push_back"),
            ("<a::B as core::clone::Clone>::clone", "::clone"),
            ("a::f::{{closure}}", "a::f::{{closure}}"),
            ("void add<int>(int)", "add"),
            ("std::vector<int> make<int>(int)", "make"),
            ("decltype (({parm#1}.a)+({parm#1}.b)) sum1<P>(P const&)", "sum1"),
            ("(anonymous namespace)::f(int)", "(anonymous namespace)::f"),
            ("a::(anonymous namespace)::S::get() const", "a::(anonymous namespace)::S::get"),
            ("f[abi:cxx11](int)", "f[abi:cxx11]"),
            ("v0::gen::<f64, 4>", "v0::gen"),
            ("<v0::S<u8>>::get::<u32>", "::get"),
            ("v0::apply::<v0::main::{closure#0}>::{closure#1}", "v0::apply::{closure#1}"),
        ] {
            assert_eq!(without_generics(name), plain);
        }
    }

    #[test]
    fn arguments_of_functions_can_go() {
        for (name, plain) in [
            ("v0::gen::<f64, 4>", "v0::gen"),
            ("<v0::S<u8> as v0::T>::apply::<v0::main::{closure#0}>::{closure#1}", "<v0::S<u8> as v0::T>::apply::{closure#1}"),
            ("std::vector<int>::push_back(int const&)", "std::vector<int>::push_back(int const&)"),
        ] {
            assert_eq!(super::without_turbofish(name), plain);
        }
    }

    #[test]
    fn arguments_can_stay() {
        for (name, with_arguments) in [
            ("main", "main"),
            ("std::vector<int> make<int>(int)", "make<int>"),
            ("std::vector<int, std::allocator<int> >::push_back(int const&)", "std::vector<int, std::allocator<int> >::push_back"),
            ("<a::B as core::clone::Clone>::clone", "<a::B as core::clone::Clone>::clone"),
            ("core::ptr::drop_in_place<fn(u8) -> u8>", "core::ptr::drop_in_place<fn(u8) -> u8>"),
            ("f(int) const::{lambda(int, char)#1}::operator()(int) const", "f::{lambda(int, char)#1}::operator()"),
            ("Op::operator<(Op const&) const", "Op::operator<"),
        ] {
            assert_eq!(without_parameters(name), with_arguments);
        }
    }

    #[test]
    fn what_is_inside_of_a_function_is_not_the_function() {
        for (name, plain) in [
            ("by_a(std::vector<P>&)::$_0::operator()(P const&, P const&) const", "by_a::$_0::operator()"),
            ("f(int) const::{lambda(int, char)#1}::operator()(int) const", "f::{lambda(int, char)#1}::operator()"),
            ("plain(int)::Local::dbl(int)", "plain::Local::dbl"),
        ] {
            assert_eq!(without_generics(name), plain);
        }
    }

    #[test]
    fn operators_keep_their_names() {
        for (name, plain) in [
            ("Op::operator<(Op const&) const", "Op::operator<"),
            ("Op::operator<<(int)", "Op::operator<<"),
            ("bool operator< <int>(A<int> const&, A<int> const&)", "operator<"),
            ("std::ostream& std::operator<< <char>(std::ostream&, char)", "std::operator<<"),
            ("Op::operator>(int)", "Op::operator>"),
            ("Op::operator->()", "Op::operator->"),
            ("Op::operator->*(int)", "Op::operator->*"),
            ("Op::operator()(int)", "Op::operator()"),
            ("Op::operator[](int)", "Op::operator[]"),
            ("Op::operator unsigned int() const", "Op::operator unsigned int"),
            ("operator new(unsigned long)", "operator new"),
            ("lit::operator\"\" _km(unsigned long long)", "lit::operator\"\" _km"),
            ("int operator\"\" _k<(char)49>()", "operator\"\" _k"),
            ("my_operator<int>(int)", "my_operator"),
        ] {
            assert_eq!(without_generics(name), plain);
        }
    }
}
