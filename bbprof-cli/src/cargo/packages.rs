//! Which packages are built, which of them are instrumented, and what follows from that.

use super::args::CargoWords;
use crate::config::Deps;
use crate::exit::require;
use crate::plugin::Tls;
use crate::tools::Selection;
use anyhow::Result;
use cargo_metadata::{CrateType, DependencyKind, Metadata, Node, Package, PackageId};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;

/// The packages that this command line builds, with all they depend on.
pub(crate) struct Packages<'a> {
    built: Vec<&'a Package>,
    members: HashSet<&'a PackageId>,
    deps: &'a Deps,
    by_id: HashMap<&'a PackageId, &'a Package>,
    nodes: HashMap<&'a PackageId, &'a Node>,
}

/// Crates by which build scripts compile C and C++.
const C_BUILDERS: [&str; 5] = ["cc", "cmake", "autotools", "cxx-build", "meson"];

impl<'a> Packages<'a> {
    /// Follows the dependencies of the packages that cargo's options name (`-p`, `--workspace`, or cargo's default).
    /// What stands before `deps` says where they came from.
    pub(crate) fn of(metadata: &'a Metadata, words: &CargoWords, deps: &'a Deps, before_deps: &str) -> Result<Self> {
        if let Deps::Named(names) = deps {
            for name in names {
                // One that no feature or platform asks for now is a dependency, too.
                let is_declared = |package: &Package| package.dependencies.iter().any(|dependency| dependency.name == *name);
                if !metadata.packages.iter().any(|package| package.name.as_str() == name || is_declared(package)) {
                    require!("{before_deps}deps {name}: no dependency of this name");
                }
            }
        }
        let by_id: HashMap<&PackageId, &Package> = metadata.packages.iter().map(|package| (&package.id, package)).collect();
        let nodes: HashMap<&PackageId, &Node> =
            metadata.resolve.iter().flat_map(|resolve| &resolve.nodes).map(|node| (&node.id, node)).collect();
        let mut pending = roots(metadata, words);
        let mut seen: HashSet<&PackageId> = pending.iter().copied().collect();
        while let Some(id) = pending.pop() {
            pending.extend(nodes.get(id).into_iter().flat_map(|node| &node.dependencies).filter(|id| seen.insert(id)));
        }
        let mut built: Vec<&Package> = seen.into_iter().filter_map(|id| by_id.get(id).copied()).collect();
        built.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(Self { built, members: metadata.workspace_members.iter().collect(), deps, by_id, nodes })
    }

    fn is_instrumented(&self, package: &Package) -> bool {
        self.members.contains(&package.id)
            || match self.deps {
                Deps::None => false,
                Deps::All => true,
                Deps::Named(names) => names.iter().any(|name| package.name.as_str() == name),
            }
    }

    /// The selection, by folders. It does not depend on which members are built, so that cargo's cache serves all.
    pub(crate) fn selection(&self, metadata: &Metadata) -> Selection {
        if *self.deps == Deps::All {
            return Selection::All;
        }
        let folders: BTreeSet<PathBuf> = metadata
            .packages
            .iter()
            .filter(|package| self.is_instrumented(package))
            .filter_map(|package| Some(package.manifest_path.parent()?.as_std_path().to_owned()))
            .collect();
        Selection::Packages(folders.into_iter().collect())
    }

    /// How counters are reached: if a library that others load is built, all code may end up in it.
    pub(crate) fn tls(&self) -> Tls {
        let goes_elsewhere = |kind: &CrateType| matches!(kind, CrateType::CDyLib | CrateType::DyLib | CrateType::StaticLib);
        let library =
            self.built.iter().flat_map(|package| &package.targets).any(|target| target.crate_types.iter().any(goes_elsewhere));
        if library { Tls::Library } else { Tls::Exec }
    }

    /// Whether an instrumented package compiles C or C++, as far as the build dependencies tell, or what these depend on.
    pub(crate) fn has_c_parts(&self) -> bool {
        let mut pending: Vec<&PackageId> = Vec::new();
        for package in self.built.iter().filter(|package| self.is_instrumented(package)) {
            let deps = self.nodes.get(&package.id).into_iter().flat_map(|node| &node.deps);
            let of_build_script = deps.filter(|dep| dep.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Build));
            pending.extend(of_build_script.map(|dep| &dep.pkg));
        }
        let mut seen: HashSet<&PackageId> = pending.iter().copied().collect();
        while let Some(id) = pending.pop() {
            if self.by_id.get(id).is_some_and(|package| C_BUILDERS.contains(&package.name.as_str())) {
                return true;
            }
            let deps = self.nodes.get(id).into_iter().flat_map(|node| &node.deps);
            let linked = deps.filter(|dep| dep.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Normal));
            pending.extend(linked.map(|dep| &dep.pkg).filter(|id| seen.insert(id)));
        }
        false
    }
}

/// The packages that cargo would start from without `-p`, and those that `-p` names. So `-p` with a default member does not
/// change how counters are reached, and both use the same target directory.
fn roots<'a>(metadata: &'a Metadata, words: &CargoWords) -> Vec<&'a PackageId> {
    let defaults = if words.has("--workspace") || words.has("--all") || !metadata.workspace_default_members.is_available() {
        metadata.workspace_members.iter()
    } else {
        metadata.workspace_default_members.iter()
    };
    let named: Vec<String> =
        words.values("--package", Some('p')).iter().map(|spec| name_of_spec(&spec.to_string_lossy()).to_owned()).collect();
    let is_known = |name: &String| metadata.packages.iter().any(|package| package.name.as_str() == name);
    if !named.iter().all(is_known) {
        // Patterns are cargo's; one that we cannot match makes us take every member, which is safe.
        return metadata.workspace_members.iter().collect();
    }
    let named = metadata.packages.iter().filter(|package| named.iter().any(|name| name == package.name.as_str()));
    defaults.chain(named.map(|package| &package.id)).collect()
}

/// The package that cargo's options name, if they name one, else that of the working directory, if there is one.
pub(crate) fn package_in_view<'a>(metadata: &'a Metadata, words: &CargoWords) -> Option<&'a Package> {
    match words.values("--package", Some('p')).as_slice() {
        [spec] => {
            let spec = spec.to_string_lossy();
            metadata.packages.iter().find(|package| package.name.as_str() == name_of_spec(&spec))
        }
        _ => metadata.root_package(),
    }
}

/// Whether the command is for several packages.
pub(crate) fn is_of_many(metadata: &Metadata, words: &CargoWords) -> bool {
    match words.values("--package", Some('p')).len() {
        0 => words.has("--workspace") || words.has("--all") || metadata.root_package().is_none(),
        // A pattern may be for several.
        1 => package_in_view(metadata, words).is_none(),
        _ => true,
    }
}

/// The package's name in a package id specification: `name`, `name@1.0`, `name:1.0`,
/// `file:///x#name@1.0`, `file:///name#1.0`, `file:///name`.
fn name_of_spec(spec: &str) -> &str {
    let (url, after) = spec.rsplit_once('#').unwrap_or(if spec.contains("://") { (spec, "") } else { ("", spec) });
    if after.is_empty() || !url.is_empty() && after.starts_with(|c: char| c.is_ascii_digit()) {
        // Where the URL ends in the package's name, cargo leaves it out.
        return url.rsplit('/').next().unwrap_or(url);
    }
    after.split(['@', ':']).next().unwrap_or(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specifications_name_packages() {
        for spec in [
            "regex",
            "regex@1.10",
            "regex:1.10",
            "https://github.com/rust-lang/crates.io-index#regex@1.4.3",
            "path+file:///src/regex#1.4.3",
            "path+file:///src/re#regex@1.4.3",
            "https://github.com/rust-lang/regex",
        ] {
            assert_eq!(name_of_spec(spec), "regex");
        }
    }
}
