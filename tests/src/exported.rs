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
    /// Whether this is its symbol, its name, or the end of its path.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        let plain = self.name().split("::h").next().unwrap_or_default().to_owned();
        self.value["symbol"] == name || plain == name || plain.ends_with(&format!("::{name}"))
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
