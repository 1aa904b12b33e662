//! The resolved world of one `cargo bbprof` command: cargo, rustc, target, directories, tools.

use super::args::{CargoOptions, CargoWords};
use super::packages::{Packages, is_of_many, package_in_view};
use super::{Subcommand, c_parts, configuration};
use crate::cache;
use crate::config::Settings;
use crate::exit::{CargoFailed, require};
use crate::installation::Installation;
use crate::messages::tell;
use crate::plugin::{INSTALL_RUST, PluginOptions, Rustc, plugin_with_options, refuse_odd_paths};
use crate::tools::{ToolSettings, Tools};
use anyhow::{Context as _, Result};
use cargo_config2::EnvConfigValue;
use cargo_metadata::{Metadata, MetadataCommand, Package};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Everything that is known before cargo starts.
pub(crate) struct Context {
    pub subcommand: Subcommand,
    pub cargo: OsString,
    pub words: CargoWords,
    /// Target triples; one, unless the user names several.
    pub targets: Vec<String>,
    /// What cargo's target directory would be without us.
    pub target_dir: PathBuf,
    /// The target directory of these options, within [`Context::target_dir`].
    pub our_dir: PathBuf,
    /// The user keeps intermediate files apart (`build.build-dir`).
    pub has_build_dir: bool,
    /// Those of the workspace's packages: their tests and benchmarks start there.
    pub package_folders: Vec<PathBuf>,
    pub tools: Tools,
    pub has_c_tools: bool,
    pub has_cxx_tools: bool,
    pub report: bool,
    /// Of cargo's configuration, for the programs that it runs.
    environment: BTreeMap<String, EnvConfigValue>,
}

impl Context {
    /// Looks at everything, and compiles the plugin if needed.
    pub(crate) fn resolve(subcommand: Subcommand, options: CargoOptions) -> Result<Self> {
        let installation = Installation::find()?;
        let mut words = CargoWords::new(options.cargo);
        let quiet = words.is_quiet();
        let say = |message: &str| {
            if !quiet {
                tell!("{message}");
            }
        };
        let cargo = cargo();
        let mut keys = if subcommand.runs_programs() { vec![configuration::OUT] } else { Vec::new() };
        configuration::refuse_words(&words, &keys)?;
        if words.values("--target", None).is_empty() {
            keys.push("build.target");
        }
        let config = configuration::load(&keys)?;
        let rustc_program: OsString =
            config.build.rustc.as_ref().map_or_else(|| "rustc".into(), |rustc| rustc.as_os_str().to_owned());
        if ToolSettings::beside(Path::new(&rustc_program))?.is_some() {
            require!("the variables of `bbprof env` are set in this shell: use plain cargo here, or cargo bbprof in another shell");
        }
        let rustc = Rustc::inspect(&rustc_program)?;
        let bootstrap = rustc.bootstrap_options(&rustc_program)?;
        let targets = targets(&words, &config, &rustc.host)?;

        let explicit_dir = words.take("--target-dir").map(PathBuf::from);
        let metadata = ask_metadata(&cargo, &words, &targets)?;
        let target_dir = match explicit_dir {
            Some(path) => std::path::absolute(path)?,
            None => metadata.target_directory.clone().into_std_path_buf(),
        };

        let asked = options.settings.asked();
        let settings = all_settings(options.settings, &metadata, &words)?;
        let deps = settings.deps();
        let packages = Packages::of(&metadata, &words, &deps, &settings.before_deps())?;
        let plugin_options = PluginOptions { tls: packages.tls(), ..settings.plugin_options()? };
        plugin_options.refuse_idle(&asked, "--")?;
        let rustc_plugin = plugin_with_options(&installation, rustc.llvm, &plugin_options, say)?.path;
        refuse_odd_paths(&rustc_plugin)?;
        let is_for_host = targets.iter().all(|target| *target == rustc.host);
        let c = match packages.has_c_parts() {
            true if is_for_host => c_parts::compilers(&installation, &targets[0], &plugin_options, say)?,
            true => {
                say(
                    "C and C++ parts of crates are not instrumented: the target is not the host, whose clang and headers are there",
                );
                None
            }
            false => None,
        };
        let selection = packages.selection(&metadata);
        let built_with = serde_json::to_string(&(&selection, &c, &bootstrap))?;
        let our_dir = own_dir(&target_dir, &installation, &rustc_plugin, &built_with)?;
        let user_wrapper =
            config.build.rustc_wrapper.as_ref().map(|wrapper| wrapper.as_os_str().to_owned()).filter(|w| !w.is_empty());
        let rustdoc = config.build.rustdoc.as_ref().map_or_else(|| "rustdoc".into(), |rustdoc| rustdoc.as_os_str().to_owned());
        let (has_c_tools, has_cxx_tools) = (c.is_some(), c.as_ref().is_some_and(|c| c.clangxx.is_some()));
        let tools = Tools::with(&ToolSettings {
            root: installation.root.clone().into(),
            rustc_plugin,
            rustc: rustc_program,
            rustdoc,
            user_wrapper,
            bootstrap,
            selection,
            doctest_maps: our_dir.join("doctest-maps"),
            c,
        })?;
        Ok(Self {
            subcommand,
            cargo,
            words,
            targets,
            target_dir,
            our_dir,
            has_build_dir: metadata.build_directory.as_ref().is_some_and(|dir| *dir != metadata.target_directory),
            package_folders: package_folders(&metadata),
            tools,
            has_c_tools,
            has_cxx_tools,
            report: !options.no_report,
            environment: config.env,
        })
    }

    /// What this variable is for programs that cargo runs; set, but empty, is not set, as for the program.
    pub(crate) fn variable(&self, name: &str) -> Option<OsString> {
        let configured = self.environment.get(name);
        let forced = configured.filter(|configured| configured.force).map(|forced| forced.value.clone());
        let found = forced.or_else(|| std::env::var_os(name)).or_else(|| Some(configured?.value.clone()));
        found.filter(|value| !value.is_empty())
    }
}

/// The target directory of what is built with this plugin, these settings and this shim.
fn own_dir(target_dir: &Path, installation: &Installation, plugin: &Path, built_with: &str) -> Result<PathBuf> {
    let shim = cache::content(&installation.shim()?)?.to_string();
    Ok(target_dir.join("bbprof").join(cache::name_of([plugin.as_os_str(), built_with.as_ref(), shim.as_ref()])))
}

/// The cargo that called us, or else the one in PATH.
pub(super) fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Command line, then files, then the manifests of the package in view and of the workspace.
fn all_settings(own: Settings, metadata: &Metadata, words: &CargoWords) -> Result<Settings> {
    let (package, is_of_many) = (package_in_view(metadata, words), is_of_many(metadata, words));
    let mut settings = own.or(Settings::from_file_here()?);
    if let Some(package) = package {
        let manifest = package.manifest_path.as_std_path();
        settings = settings.or(Settings::from_metadata(&package.metadata, manifest, "package.metadata.bbprof")?);
    }
    for member in metadata.workspace_packages().into_iter().filter(|member| package.is_none_or(|package| member.id != package.id)) {
        let manifest = member.manifest_path.as_std_path();
        let others = Settings::from_metadata(&member.metadata, manifest, "package.metadata.bbprof")?;
        if is_of_many && others != Settings::default() {
            tell!(
                "[package.metadata.bbprof] of {} does not hold: of several packages, settings are those of [workspace.metadata.bbprof] and of the workspace's own package",
                member.name
            );
        }
    }
    let manifest = metadata.workspace_root.join("Cargo.toml");
    Ok(settings.or(Settings::from_metadata(&metadata.workspace_metadata, manifest.as_std_path(), "workspace.metadata.bbprof")?))
}

/// The user's `--target`, else `--config`, else cargo's configuration, else the host. Refuses what the runtime is not there for.
fn targets(words: &CargoWords, config: &cargo_config2::Config, host: &str) -> Result<Vec<String>> {
    let mut targets: Vec<String> =
        words.values("--target", None).iter().map(|target| target.to_string_lossy().into_owned()).collect();
    if targets.is_empty() {
        targets = words
            .values("--config", None)
            .iter()
            .filter_map(|value| configuration::build_target(value))
            .next_back()
            .unwrap_or_default();
    }
    if targets.is_empty() {
        targets = config.build.target.iter().flatten().map(|target| target.triple().to_owned()).collect();
    }
    for target in &mut targets {
        if target == "host-tuple" {
            *target = host.to_owned();
        }
    }
    if targets.is_empty() {
        targets.push(host.to_owned());
    }
    for target in &targets {
        let architecture = |triple: &str| triple.split('-').next().map(str::to_owned);
        if !target.contains("-linux-") || architecture(target) != architecture(host) {
            require!("--target {target}: bbprof profiles Linux programs of the machine it runs on ({host})");
        }
    }
    Ok(targets)
}

fn package_folders(metadata: &Metadata) -> Vec<PathBuf> {
    let folder = |package: &Package| package.manifest_path.parent().map(|folder| folder.as_std_path().to_owned());
    metadata.workspace_packages().into_iter().filter_map(folder).collect()
}

fn ask_metadata(cargo: &OsString, words: &CargoWords, targets: &[String]) -> Result<Metadata> {
    let mut command = MetadataCommand::new();
    command.cargo_path(cargo);
    if let Some(path) = words.values("--manifest-path", Some('m')).pop() {
        command.manifest_path(PathBuf::from(path));
    }
    let mut other = Vec::new();
    for flag in ["--locked", "--offline", "--frozen", "--all-features", "--no-default-features"] {
        if words.has(flag) {
            other.push(flag.to_owned());
        }
    }
    for (long, short) in [("--features", Some('F')), ("--config", None), ("-Z", Some('Z'))] {
        for value in words.values(long, short) {
            other.extend([long.to_owned(), value.to_string_lossy().into_owned()]);
        }
    }
    for target in targets {
        other.extend(["--filter-platform".to_owned(), target.clone()]);
    }
    command.other_options(other);
    match command.exec() {
        Ok(metadata) => Ok(metadata),
        Err(cargo_metadata::Error::CargoMetadata { stderr }) => {
            Err(CargoFailed(stderr.trim_end().trim_start_matches("error: ").to_owned()).into())
        }
        Err(cargo_metadata::Error::Io(error)) => {
            require!("{}: cannot be run: {error}; {INSTALL_RUST}, or set CARGO", cargo.to_string_lossy())
        }
        Err(error) => Err(error).context("cargo metadata"),
    }
}
