//! What users may call a function.

use crate::place::short_name;
use bbprof_profile::{demangle, without_abi_tags, without_generics, without_parameters};

/// Whether this word calls the function with this linker symbol and demangled name.
pub(crate) type IsCalled = fn(word: &str, symbol: &str, name: &str) -> bool;

/// How a function was asked for.
#[derive(Clone, Debug)]
pub struct Called {
    pub(crate) word: String,
    pub(crate) is_called: IsCalled,
}

impl Called {
    /// Whether the function with this linker symbol was.
    pub(crate) fn is(&self, symbol: &str) -> bool {
        (self.is_called)(&self.word, symbol, &demangle(symbol))
    }
}

/// The ways of calling a function, the closest first: who is called so in one way is meant by none of the later ones.
pub(crate) const WAYS: [IsCalled; 6] = [
    |word, symbol, name| symbol == word || name == word,
    |word, _, name| is_end(word, name),
    // C++ puts the result's type in front of a template's name, and parameters behind all.
    |word, _, name| is_end(word, &without_parameters(name)),
    // As the report prints it.
    |word, _, name| short_name(name) == word,
    |word, _, name| is_end(word, &without_generics(name)),
    |word, _, name| of_type(name).is_some_and(|name| is_end(word, &without_generics(&name))),
];

/// What Rust's users call a method of an `impl` of a trait: `S::next` for `<a::S as Iterator>::next`.
fn of_type(name: &str) -> Option<String> {
    let (of, method) = name.strip_prefix('<')?.rsplit_once(">::")?;
    let (of, _) = of.split_once(" as ")?;
    Some(format!("{of}::{method}"))
}

/// Whether the word calls a function of this name in any way.
pub(crate) fn is_name(word: &str, name: &str) -> bool {
    WAYS.iter().any(|is_called| is_called(word, name, name))
}

/// What calls all instantiations of the function with this demangled name: without the arguments
/// of generics, but with the type that a method belongs to.
pub(crate) fn source_word(name: &str) -> String {
    let plain = without_generics(name);
    if plain.starts_with("::") { of_type(name).map_or(plain, |of_type| without_generics(&of_type)) } else { plain }
}

/// Whether a name is this word, or ends in it, with its ABI tags or without.
fn is_end(word: &str, name: &str) -> bool {
    let ends = |name: &str| name.strip_suffix(word).is_some_and(|before| before.is_empty() || before.ends_with("::"));
    ends(name) || ends(&without_abi_tags(name))
}

/// A word of a command line, quoted if a shell would take it for something else.
pub(crate) fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:,+@%=".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::{WAYS, is_name, shell_word, source_word};

    #[test]
    fn the_closest_way_to_call_a_function() {
        let template = ("_Z2idIiET_S0_", "int id<int>(int)");
        let member = ("_ZN1a1S3getEi", "a::S::get(int)");
        let lambda = ("_ZZ4mainENK3$_0clEi", "main::$_0::operator()(int) const");
        let tagged = ("_ZN1S4nameB5cxx11Ei", "S::name[abi:cxx11](int)");
        let less = ("_ZNK2OpltERKS_", "Op::operator<(Op const&) const");
        for (word, (symbol, name), way) in [
            ("_Z2idIiET_S0_", template, Some(0)),
            ("int id<int>(int)", template, Some(0)),
            ("id<int>", template, Some(2)),
            ("id", template, Some(4)),
            ("d", template, None),
            ("id<long>", template, None),
            ("int", template, None),
            ("a::S::get(int)", member, Some(0)),
            ("get(int)", member, Some(1)),
            ("S::get", member, Some(2)),
            ("get", member, Some(2)),
            ("get(double)", member, None),
            ("main::$_0::operator()", lambda, Some(2)),
            ("operator()", lambda, Some(2)),
            ("main", lambda, None),
            ("Op::operator<", less, Some(2)),
            ("Op::operator<<", less, None),
            ("S::name", tagged, Some(2)),
            ("name(int)", tagged, Some(1)),
            ("name[abi:cxx11]", tagged, Some(2)),
            ("ame", tagged, None),
            ("std::vector<..>::push_back", ("v", "std::vector<int, std::allocator<int> >::push_back(int const&)"), Some(3)),
            ("vector::push_back", ("v", "std::vector<int, std::allocator<int> >::push_back(int const&)"), Some(4)),
            ("clone", ("c", "<a::B as core::clone::Clone>::clone"), Some(1)),
            ("B::clone", ("c", "<a::B as core::clone::Clone>::clone"), Some(5)),
            ("a::V::clone", ("c", "<a::V<T> as core::clone::Clone>::clone"), Some(5)),
            ("C::clone", ("c", "<a::B as core::clone::Clone>::clone"), None),
        ] {
            assert_eq!(WAYS.iter().position(|is_called| is_called(word, symbol, name)), way, "{word}");
        }
    }

    #[test]
    fn one_word_for_all_instantiations() {
        for (name, word) in
            [("int id<int>(int)", "id"), ("<a::V<u8> as core::cmp::PartialOrd>::lt", "a::V::lt"), ("a::f::<u8>", "a::f")]
        {
            assert_eq!(source_word(name), word);
            assert!(is_name(word, name), "{name}");
        }
    }

    #[test]
    fn words_that_a_shell_takes_as_they_are() {
        for (word, quoted) in [("a::f", "a::f"), ("get(int)", "'get(int)'"), ("/a b/it's.c", r"'/a b/it'\''s.c'"), ("", "''")] {
            assert_eq!(shell_word(word), quoted);
        }
    }
}
