//! Names and places of functions, blocks and branches, short enough for a table.

use bbprof_profile::{FileId, FunctionView, Profile};

/// `  file.c:12`, or nothing.
pub(crate) fn place(profile: &Profile, at: Option<(FileId, u32)>) -> String {
    match at {
        Some((file, line)) if line > 0 => format!("  {}:{line}", file_name(profile.files.path(file))),
        _ => String::new(),
    }
}

/// The last part of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A function with the place of its definition.
pub(crate) fn placed(profile: &Profile, function: FunctionView<'_>) -> String {
    let at = function.file().map(|file| (file, function.line()));
    format!("{}{}", short_name(function.name()), place(profile, at))
}

/// A long name with `<..>` for the arguments of its generics, and without the types of its
/// parameters and its result, so that the rest can be read.
pub(crate) fn short_name(name: &str) -> String {
    // Fits beside the numbers in 80 columns with a place behind it; a guess.
    const LONG: usize = 24;
    if name.chars().count() <= LONG {
        return name.to_owned();
    }
    let mut short = String::new();
    // Brackets that are left out, and those of the name itself: `<(u8, u8) as Trait>::method`.
    let (mut depth, mut kept) = (0_u32, 0_u32);
    let mut rest = name.chars().peekable();
    while let Some(c) = rest.next() {
        let is_operator = short.rsplit("::").next().is_some_and(|last| last.starts_with("operator"));
        let is_behind_name = short.ends_with(|before: char| before.is_alphanumeric() || "_>])".contains(before));
        match c {
            '<' if depth > 0 => depth += 1,
            '<' if short.ends_with("::")
                || short.ends_with(|before: char| before.is_alphanumeric() || before == '_') && !short.ends_with("operator") =>
            {
                short.push_str("<..>");
                depth = 1;
            }
            '>' if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            // What came is the type that a function returns a pointer to: `void (*pick<int>(int))(int)`.
            '(' if kept == 0
                && !is_operator
                && short.ends_with(' ')
                && rest.next_if(|next| ['*', '&'].contains(next)).is_some() =>
            {
                short.clear()
            }
            '(' if kept == 0 && (is_behind_name || is_operator) && !short.ends_with("operator") => break,
            _ => {
                match c {
                    '<' if !is_operator => kept += 1,
                    '>' if !is_operator && !short.ends_with('-') => kept = kept.saturating_sub(1),
                    _ => {}
                }
                short.push(c);
            }
        }
    }
    without_result(&short).to_owned()
}

/// Without the type in front of a C++ template's name, which ends in its arguments: `unsigned long f<..>`.
fn without_result(short: &str) -> &str {
    let (mut depth, mut behind) = (0_u32, 0);
    for (at, c) in short.char_indices() {
        match c {
            '(' | '<' | '[' | '{' => depth += 1,
            ')' | '>' | ']' | '}' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 => behind = at + 1,
            _ => {}
        }
    }
    let (result, name) = short.split_at(behind);
    let is_other = result.contains("operator") || result.ends_with(" to ") || result.ends_with(" for ");
    if name.ends_with("<..>") && !is_other { name } else { short }
}

#[cfg(test)]
mod tests {
    use super::short_name;

    #[test]
    fn long_names_lose_their_arguments() {
        for (name, short) in [
            ("std::vector<int>", "std::vector<int>"),
            ("std::map<std::string, int>::operator[](std::string const&)", "std::map<..>::operator[]"),
            ("<hashbrown::map::HashMap<K, V>>::rustc_entry", "<hashbrown::map::HashMap<..>>::rustc_entry"),
            ("<alloc::vec::Vec<u8> as core::clone::Clone>::clone", "<alloc::vec::Vec<..> as core::clone::Clone>::clone"),
            ("core::ptr::drop_in_place::<alloc::vec::Vec<u8>>", "core::ptr::drop_in_place::<..>"),
            ("a_long_namespace::operator<(int, int)", "a_long_namespace::operator<"),
            ("<(u64, u64) as a_module::Score>::score", "<(u64, u64) as a_module::Score>::score"),
            ("<fn(u64) -> u64 as a_module::Score>::score", "<fn(u64) -> u64 as a_module::Score>::score"),
            ("void (*a_function<int>(int, char const*))(int)", "a_function<..>"),
            ("int (&an_array_of_three<int>(int))[3]", "an_array_of_three<..>"),
            ("unsigned long a_namespace::a_function<int>(int)", "a_namespace::a_function<..>"),
            ("std::map<int, int>& (anonymous namespace)::f<int>(int)", "(anonymous namespace)::f<..>"),
            ("non-virtual thunk to a_namespace::M<int>", "non-virtual thunk to a_namespace::M<..>"),
            ("core::ptr::drop_in_place::<[a::B; 3]> as usual", "core::ptr::drop_in_place::<..> as usual"),
            ("main::$_0::operator int (*)(int)() const", "main::$_0::operator int "),
            ("a_namespace::operator<<(std::ostream&, a::B)", "a_namespace::operator<<"),
            ("a_namespace::operator\"\" _km(unsigned long long)", "a_namespace::operator\"\" _km"),
            ("a_namespace::S::operator()(int, int) const", "a_namespace::S::operator()"),
            ("non-virtual thunk to a_namespace::M::g()", "non-virtual thunk to a_namespace::M::g"),
            ("(anonymous namespace)::a_function_of_it(int)", "(anonymous namespace)::a_function_of_it"),
        ] {
            assert_eq!(short_name(name), short);
        }
    }
}
