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

/// A long name with `<..>` for the arguments of its generics, and without its parameters' types, so that the rest can be read.
pub(crate) fn short_name(name: &str) -> String {
    // Fits beside the numbers in 80 columns with a place behind it; a guess.
    const LONG: usize = 24;
    if name.chars().count() <= LONG {
        return name.to_owned();
    }
    let mut short = String::new();
    let mut depth = 0_u32;
    for c in name.chars() {
        match c {
            '<' if depth > 0 => depth += 1,
            '<' if short.ends_with(|before: char| before.is_alphanumeric() || before == '_') && !short.ends_with("operator") => {
                short.push_str("<..>");
                depth = 1;
            }
            '<' if short.ends_with("::") => {
                short.push_str("<..>");
                depth = 1;
            }
            '>' if depth > 0 => depth -= 1,
            '(' if depth == 0 && !short.is_empty() && !short.ends_with("::") && !short.ends_with("operator") => break,
            c if depth == 0 => short.push(c),
            _ => {}
        }
    }
    short
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
            ("(anonymous namespace)::a_function_of_it(int)", "(anonymous namespace)::a_function_of_it"),
        ] {
            assert_eq!(short_name(name), short);
        }
    }
}
