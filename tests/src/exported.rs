//! A profile read back through `bbprof export json=-`, the way a user's own tools would read it.

use crate::command::Run;
use crate::tools::tool;
use serde_json::Value;
use std::path::PathBuf;

/// An exported profile.
#[derive(Debug, Clone)]
pub struct Exported {
    /// The JSON document.
    pub document: Value,
}

/// One function of it.
#[derive(Debug, Clone)]
pub struct Function {
    /// The JSON object.
    pub value: Value,
}

impl Exported {
    /// Exports these profiles.
    ///
    /// # Panics
    /// When the export fails or is not JSON.
    #[must_use]
    pub fn of(profiles: &[PathBuf]) -> Self {
        assert!(!profiles.is_empty(), "no raw profile was written");
        let outcome = Run::new(tool("bbprof")).args(["export", "json=-"]).args(profiles).ok();
        let document = serde_json::from_slice(&outcome.stdout).unwrap_or_else(|e| panic!("{}: not JSON: {e}", outcome.what));
        Self { document }
    }

    /// All functions.
    ///
    /// # Panics
    /// When the document has none.
    #[must_use]
    pub fn functions(&self) -> Vec<Function> {
        let list = self.document["functions"].as_array().expect("functions is an array");
        list.iter().map(|value| Function { value: value.clone() }).collect()
    }

    /// The sum of entries of the functions whose symbol, or demangled name without its hash, is this one.
    #[must_use]
    pub fn entries(&self, name: &str) -> Option<u64> {
        let found: Vec<u64> = self.functions().iter().filter(|f| f.is_called(name)).map(Function::entries).collect();
        (!found.is_empty()).then(|| found.iter().sum())
    }

    /// Whether the document says that all counts are exact.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.document["exact"] == Value::Bool(true)
    }

    /// A number of `totals`.
    ///
    /// # Panics
    /// When it is not there.
    #[must_use]
    pub fn total(&self, name: &str) -> u64 {
        self.document["totals"][name].as_u64().unwrap_or_else(|| panic!("totals.{name} is missing"))
    }
}

impl Function {
    /// Whether this is its symbol, its name, or the end of its path; the generic arguments may be left out.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        let ends = |path: &str| path.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with("::"));
        let path = without_hash(self.name());
        self.value["symbol"] == name || ends(path) || ends(without_arguments(path))
    }

    /// Its demangled name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.value["name"].as_str().unwrap_or_default()
    }

    /// How often it was entered.
    ///
    /// # Panics
    /// When the number is missing.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.value["entries"].as_u64().unwrap_or_else(|| panic!("{}: entries is missing", self.name()))
    }
}

/// The path without the hash that legacy mangling puts at its end.
fn without_hash(path: &str) -> &str {
    match path.rsplit_once("::h") {
        Some((path, hash)) if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => path,
        _ => path,
    }
}

/// The path without the generic arguments at its end: `a::b::<c<d>>` is `a::b`.
fn without_arguments(path: &str) -> &str {
    if !path.ends_with('>') {
        return path;
    }
    let mut depth = 0;
    let start = path.rmatch_indices(['<', '>']).find(|(at, found)| {
        // An arrow in a function's type is no bracket.
        if !path[..*at].ends_with('-') {
            depth += if *found == ">" { 1 } else { -1 };
        }
        depth == 0
    });
    start.and_then(|(at, _)| path[..at].strip_suffix("::")).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_called(path: &str, name: &str) -> bool {
        Function { value: serde_json::json!({ "symbol": "_S", "name": path }) }.is_called(name)
    }

    #[test]
    fn functions_are_found_by_the_end_of_their_path() {
        assert!(is_called("mill::fold", "fold") && is_called("fold", "fold") && is_called("fold", "_S"));
        assert!(!is_called("mill::unfold", "fold") && !is_called("mill::fold::deep", "fold"));
        assert!(is_called("core::hash::sip", "sip") && is_called("mill::fold::h0123456789abcdef", "fold"));
        assert!(is_called("mill::fold::<fn(u8) -> Vec<u8>>", "fold") && is_called("<A<u8> as B>::area", "area"));
        assert!(is_called("<a::Guard as core::Drop>::drop", "Guard as core::Drop>::drop"));
    }
}
