//! A procedural macro, which runs in the compiler and is not counted there; its tests are.

use proc_macro::{TokenStream, TokenTree};

/// The number of tokens, those in groups too.
#[proc_macro]
pub fn count_tokens(tokens: TokenStream) -> TokenStream {
    format!("{}_u64", count(tokens)).parse().expect("a number is a token")
}

fn count(tokens: TokenStream) -> u64 {
    tokens
        .into_iter()
        .map(|token| match token {
            TokenTree::Group(group) => 1 + count(group.stream()),
            _ => 1,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    #[test]
    fn tests_of_a_macro_crate_run() {
        assert_eq!(2 + 2, 4);
    }
}
