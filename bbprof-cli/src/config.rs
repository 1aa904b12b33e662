//! Settings that stand in files: `bbprof.toml`, `[package.metadata.bbprof]`, `[workspace.metadata.bbprof]`.
//!
//! Single values of a nearer place win: command line, `bbprof.toml`, package, workspace. Patterns add up. Unknown keys are errors.

use crate::exit::require;
use crate::plugin::{Counters, Extra, Filters, Part, PluginOptions, Storage, path_array, path_limit};
use crate::weights::frequencies_file;
use anyhow::{Context, Result};
use clap::Args;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Error, IntoDeserializer, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use std::io::ErrorKind;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// Settings as the command line has them; files have the same keys.
#[derive(Args, Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default, expecting = "a table of settings")]
pub(crate) struct Settings {
    /// Where counters stand
    #[arg(long, value_enum, value_name = "KIND")]
    #[serde(deserialize_with = "word")]
    pub counters: Option<Counters>,
    /// Where the counters' memory is
    #[arg(long, value_enum, value_name = "KIND")]
    #[serde(deserialize_with = "word")]
    pub storage: Option<Storage>,
    /// With --counters paths: most paths of a function; where there are more, paths also
    /// end where that costs least [default: 100000000]
    #[arg(long, value_name = "N")]
    #[serde(deserialize_with = "number_of_paths")]
    pub path_limit: Option<u64>,
    /// With --counters paths: most paths of a function that an array counts. More are counted in a hash table: in all
    /// functions when this or --path-limit is given, else where that is cheap, and elsewhere paths also end where that
    /// costs least; without these options also around tight loops, and where they would be dear [default: 256, or 2 for
    /// each edge; with --path-limit 1024, or 4 for each edge]
    #[arg(long, value_name = "N")]
    #[serde(deserialize_with = "number_of_paths")]
    pub path_array: Option<u64>,
    /// Leave out a part of the placement, to see what it gains; the counts are the same (repeatable)
    #[arg(long, value_enum, value_name = "PART")]
    #[serde(deserialize_with = "one_or_more")]
    pub without: Vec<Part>,
    /// Ask for a part of the placement that is not there by default; the counts are the same (repeatable)
    #[arg(long, value_enum, value_name = "PART")]
    #[serde(deserialize_with = "one_or_more")]
    pub with: Vec<Extra>,
    /// Instrument only functions whose symbol matches (repeatable)
    #[arg(long, value_name = "REGEX", allow_hyphen_values = true)]
    #[serde(deserialize_with = "one_or_more")]
    pub include: Vec<String>,
    /// Leave out functions whose symbol matches (repeatable)
    #[arg(long, value_name = "REGEX", allow_hyphen_values = true)]
    #[serde(deserialize_with = "one_or_more")]
    pub exclude_fn: Vec<String>,
    /// Instrument only functions whose source file matches, by its whole path or the end of it (repeatable)
    #[arg(long, value_name = "GLOB")]
    #[serde(deserialize_with = "one_or_more")]
    pub include_file: Vec<String>,
    /// Leave out functions whose source file matches, by its whole path or the end of it (repeatable)
    #[arg(long, value_name = "GLOB")]
    #[serde(deserialize_with = "one_or_more")]
    pub exclude_file: Vec<String>,
    /// Dependencies to instrument besides the workspace's members: none, all, or names [default: none]
    #[arg(long, value_name = "none|all|NAME,...")]
    #[serde(deserialize_with = "word_or_list")]
    pub deps: Option<String>,
    /// Where these stand, if in a file.
    #[arg(skip)]
    #[serde(skip)]
    deps_place: Option<String>,
    /// Keep the IR text of each block, for `bbprof annotate`
    #[arg(long = "ir", num_args = 0..=1, default_missing_value = "true", require_equals = true, value_name = "BOOL")]
    pub ir: Option<bool>,
    /// Place counters by what an earlier profile (raw, merged, or a folder of them) says is hot
    #[arg(long, value_name = "PROFILE")]
    pub weights: Option<PathBuf>,
    /// Where it stands, if in a file.
    #[arg(skip)]
    #[serde(skip)]
    weights_place: Option<String>,
}

/// One of a list of words. (Toml's own reader says of other types that it wants a table, too.)
fn word<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(String::deserialize(deserializer)?.into_deserializer()).map(Some)
}

/// A number that [`path_limit`] or [`path_array`] checks.
fn number_of_paths<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    struct Number;
    impl Visitor<'_> for Number {
        type Value = u64;

        fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("a number of paths")
        }

        fn visit_u64<E: Error>(self, number: u64) -> Result<u64, E> {
            Ok(number)
        }

        fn visit_i64<E: Error>(self, number: i64) -> Result<u64, E> {
            u64::try_from(number).map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
        }
    }
    deserializer.deserialize_any(Number).map(Some)
}

/// Of an option that is repeatable: `include = "a"` or `include = ["a", "b"]`.
fn one_or_more<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    struct Values<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for Values<T> {
        type Value = Vec<T>;

        fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("a string or a list of strings")
        }

        fn visit_str<E: Error>(self, word: &str) -> Result<Vec<T>, E> {
            Ok(vec![T::deserialize(word.into_deserializer())?])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Vec<T>, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(list))
        }
    }
    deserializer.deserialize_any(Values(PhantomData))
}

/// `deps = "a,b"` or `deps = ["a", "b"]`.
fn word_or_list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "deps: expected \"none\", \"all\", names with commas, or a list of names")]
    enum Either {
        Word(String),
        List(Vec<String>),
    }
    Ok(Some(match Either::deserialize(deserializer)? {
        Either::Word(word) => word,
        Either::List(names) => names.join(","),
    }))
}

/// Which dependencies are instrumented.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Deps {
    None,
    All,
    Named(Vec<String>),
}

impl Settings {
    /// These settings, with `other` where they say nothing.
    #[must_use]
    pub(crate) fn or(mut self, other: Self) -> Self {
        self.counters = self.counters.or(other.counters);
        self.storage = self.storage.or(other.storage);
        self.path_limit = self.path_limit.or(other.path_limit);
        self.path_array = self.path_array.or(other.path_array);
        if self.deps.is_none() {
            (self.deps, self.deps_place) = (other.deps, other.deps_place);
        }
        self.ir = self.ir.or(other.ir);
        if self.weights.is_none() {
            (self.weights, self.weights_place) = (other.weights, other.weights_place);
        }
        self.without.extend(other.without);
        self.with.extend(other.with);
        self.include.extend(other.include);
        self.exclude_fn.extend(other.exclude_fn);
        self.include_file.extend(other.include_file);
        self.exclude_file.extend(other.exclude_file);
        self
    }

    /// Reads `bbprof.toml` in the working directory or, going up, in a folder above it.
    pub(crate) fn from_file_here() -> Result<Self> {
        match std::env::current_dir() {
            Ok(folder) => Self::from_file_above(&folder),
            // Removed, with what stood in it; compilers work there, too.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error).context("working directory"),
        }
    }

    /// Reads `bbprof.toml` in `folder` or, going up, in a folder above it.
    fn from_file_above(folder: &Path) -> Result<Self> {
        for folder in folder.ancestors() {
            let path = folder.join("bbprof.toml");
            // What cannot be read, as a folder or a link to nothing, is not passed over.
            if path.symlink_metadata().is_ok() {
                let text = std::fs::read(&path).with_context(|| format!("{}: settings", path.display()))?;
                return match toml::from_slice::<Self>(&text) {
                    Ok(settings) => settings.checked(&path.display().to_string()).map(|settings| settings.relative_to(folder)),
                    Err(error) => require!("{}: {}", path.display(), error.to_string().trim_end()),
                };
            }
        }
        Ok(Self::default())
    }

    /// Reads the `bbprof` table of a `metadata` value of this manifest; `table` names it in errors.
    pub(crate) fn from_metadata(metadata: &serde_json::Value, manifest: &Path, table: &str) -> Result<Self> {
        match metadata.get("bbprof") {
            None => Ok(Self::default()),
            Some(value) => match serde_json::from_value::<Self>(value.clone()) {
                Ok(settings) => {
                    let settings = settings.checked(&format!("{} [{table}]", manifest.display()))?;
                    Ok(settings.relative_to(manifest.parent().unwrap_or(manifest)))
                }
                Err(error) => require!("{} [{table}]: {error}", manifest.display()),
            },
        }
    }

    /// Refuses, by the name of the place that they were read from, patterns and numbers that cannot be.
    fn checked(mut self, place: &str) -> Result<Self> {
        self.filters().check(&format!("{place}: "))?;
        if let Err(error) = self.path_limit().and_then(|_| self.path_array()) {
            require!("{place}: {error}");
        }
        self.deps_place = self.deps.is_some().then(|| place.to_owned());
        self.weights_place = self.weights.is_some().then(|| place.to_owned());
        Ok(self)
    }

    /// Those of the plugin's options that may do nothing beside others, as they stand here.
    pub(crate) fn asked(&self) -> PluginOptions {
        let (path_limit, path_array) = (self.path_limit, self.path_array);
        PluginOptions { path_limit, path_array, with: self.with.clone(), ..PluginOptions::default() }
    }

    /// What the plugin is told of them.
    pub(crate) fn plugin_options(&self) -> Result<PluginOptions> {
        Ok(PluginOptions {
            counters: self.counters.unwrap_or_default(),
            storage: self.storage.unwrap_or_default(),
            path_limit: self.path_limit()?,
            path_array: self.path_array()?,
            without: self.without.clone(),
            with: self.with.clone(),
            ir: self.ir.unwrap_or_default(),
            filters: self.filters_checked()?,
            weights: self.frequencies()?,
            ..PluginOptions::default()
        })
    }

    /// The dependencies to instrument.
    pub(crate) fn deps(&self) -> Deps {
        match self.deps.as_deref() {
            None | Some("none" | "") => Deps::None,
            Some("all") => Deps::All,
            Some(names) => Deps::Named(names.split(',').map(|name| name.trim().to_owned()).collect()),
        }
    }

    /// What stands before the option's name in errors about them.
    pub(crate) fn before_deps(&self) -> String {
        before(self.deps_place.as_deref())
    }

    /// The limit of paths, checked.
    fn path_limit(&self) -> Result<Option<u64>> {
        self.path_limit.map(|limit| path_limit(&limit.to_string())).transpose()
    }

    /// The most paths that are counted in an array, checked.
    fn path_array(&self) -> Result<Option<u64>> {
        self.path_array.map(|array| path_array(&array.to_string())).transpose()
    }

    fn filters(&self) -> Filters {
        Filters {
            include_fn: self.include.clone(),
            exclude_fn: self.exclude_fn.clone(),
            include_file: self.include_file.clone(),
            exclude_file: self.exclude_file.clone(),
        }
    }

    /// The filters, checked: those that were read from files have been before.
    fn filters_checked(&self) -> Result<Filters> {
        let filters = self.filters();
        filters.check("--")?;
        Ok(filters)
    }

    /// The frequencies to place counters by, as the plugin reads them.
    fn frequencies(&self) -> Result<Option<PathBuf>> {
        let asked = before(self.weights_place.as_deref()) + "weights";
        self.weights.as_deref().map(|profile| frequencies_file(profile, &asked)).transpose()
    }

    /// With relative paths taken from `folder`.
    fn relative_to(mut self, folder: &Path) -> Self {
        self.weights = self.weights.map(|profile| folder.join(profile));
        self
    }
}

/// What stands before an option's name in errors: the place that it was read from, if that is a file.
fn before(place: Option<&str>) -> String {
    place.map_or_else(|| "--".to_owned(), |place| format!("{place}: "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;

    #[test]
    fn the_nearer_place_wins_and_patterns_add_up() {
        let near = Settings { counters: Some(Counters::Check), exclude_fn: vec!["a".into()], ..Default::default() };
        let far = Settings {
            counters: Some(Counters::Blocks),
            exclude_fn: vec!["b".into()],
            deps: Some("all".into()),
            ..Default::default()
        };
        let both = near.or(far);
        assert_eq!((both.counters, both.deps()), (Some(Counters::Check), Deps::All));
        assert_eq!(both.exclude_fn, ["a", "b"]);
    }

    #[test]
    fn files_are_read_and_unknown_keys_refused() {
        let place = tempfile::tempdir().unwrap();
        let below = place.path().join("a/b");
        std::fs::create_dir_all(&below).unwrap();
        std::fs::write(place.path().join("bbprof.toml"), "counters = \"blocks\"\nexclude-file = [\"x/**\"]\n").unwrap();
        let settings = Settings::from_file_above(&below).unwrap();
        assert_eq!((settings.counters, settings.exclude_file), (Some(Counters::Blocks), vec!["x/**".to_owned()]));
        std::fs::write(below.join("bbprof.toml"), "include = \"add\"\nwith = \"registers\"\n").unwrap();
        let settings = Settings::from_file_above(&below).unwrap();
        assert_eq!((settings.include, settings.with), (vec!["add".to_owned()], vec![Extra::Registers]));
        for (wrong, said) in [
            ("with = \"register\"", "unknown variant `register`"),
            ("include = 1", "a string or a list of strings"),
            ("counters = 3", "expected a string"),
            ("storage = {}", "expected a string"),
            ("path-limit = \"x\"", "expected a number of paths"),
            ("path-array = -1", "invalid value: integer `-1`, expected a number of paths"),
        ] {
            std::fs::write(below.join("bbprof.toml"), wrong).unwrap();
            let error = Settings::from_file_above(&below).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        for (wrong, said) in [
            (&b"include = \"caf\xe9\""[..], "bbprof.toml: invalid utf-8"),
            (b"path-limit = 0", "bbprof.toml: path-limit 0: expected a number of paths"),
            (b"path-array = 1048577", "bbprof.toml: path-array 1048577: expected a number of paths"),
        ] {
            std::fs::write(below.join("bbprof.toml"), wrong).unwrap();
            let error = Settings::from_file_above(&below).unwrap_err();
            assert!(error.to_string().contains(said) && Exit::of(&error) == Exit::Usage, "{error:#}");
        }
        std::fs::write(below.join("bbprof.toml"), "colour = 1\n").unwrap();
        let error = Settings::from_file_above(&below).unwrap_err().to_string();
        assert!(error.contains("bbprof.toml") && error.contains("unknown field `colour`"), "{error}");
    }

    #[test]
    fn settings_that_cannot_be_read_are_not_passed_over() {
        let place = tempfile::tempdir().unwrap();
        let settings = place.path().join("bbprof.toml");
        std::fs::create_dir(&settings).unwrap();
        let error = Settings::from_file_above(place.path()).unwrap_err();
        assert!(format!("{error:#}").contains("bbprof.toml: settings: Is a directory"), "{error:#}");
        std::fs::remove_dir(&settings).unwrap();
        std::os::unix::fs::symlink("nowhere", &settings).unwrap();
        let error = Settings::from_file_above(place.path()).unwrap_err();
        assert!(format!("{error:#}").contains("bbprof.toml: settings: No such file"), "{error:#}");
    }

    #[test]
    fn metadata_is_read_and_unknown_keys_refused() {
        let value = serde_json::json!({"bbprof": {"deps": "regex,serde", "storage": "atomic"}});
        let settings = Settings::from_metadata(&value, Path::new("p"), "t").unwrap();
        assert_eq!(settings.deps(), Deps::Named(vec!["regex".into(), "serde".into()]));
        let value = serde_json::json!({"bbprof": {"deps": ["regex", "serde"]}});
        assert_eq!(Settings::from_metadata(&value, Path::new("p"), "t").unwrap().deps, settings.deps);
        let value = serde_json::json!({"bbprof": {"dep": "all"}});
        assert!(Settings::from_metadata(&value, Path::new("p"), "package").unwrap_err().to_string().starts_with("p [package]"));
        let value = serde_json::json!({"bbprof": "all"});
        let error = Settings::from_metadata(&value, Path::new("p"), "t").unwrap_err().to_string();
        assert!(error.ends_with("expected a table of settings"), "{error}");
        assert_eq!(Settings::from_metadata(&serde_json::Value::Null, Path::new("p"), "").unwrap(), Settings::default());
    }
}
