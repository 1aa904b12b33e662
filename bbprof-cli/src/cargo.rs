//! `cargo bbprof build|run|test|bench|nextest`: cargo itself, in its own target directory, with ourselves as rustc's wrapper.

mod args;
mod c_parts;
mod configuration;
mod context;
mod elsewhere;
mod kept_maps;
mod killed;
mod packages;
mod run;
mod signals;
mod tried_out;
mod wrapper;

pub(crate) use args::{CargoOptions, split};
pub(crate) use configuration::load as load_configuration;
pub(crate) use run::run;
pub(crate) use wrapper::{rustc, rustc_wrapper, rustdoc};

/// Cargo's subcommands that we drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Subcommand {
    Build,
    Run,
    Test,
    Bench,
    Nextest,
}

impl Subcommand {
    /// All of them.
    pub(crate) const ALL: [Self; 5] = [Self::Build, Self::Run, Self::Test, Self::Bench, Self::Nextest];

    /// As cargo calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Build => "build",
            Self::Run => "run",
            Self::Test => "test",
            Self::Bench => "bench",
            Self::Nextest => "nextest",
        }
    }

    /// Cargo's own abbreviations.
    pub(crate) fn of(word: &str) -> Option<Self> {
        let word = match word {
            "b" => "build",
            "r" => "run",
            "t" => "test",
            word => word,
        };
        Self::ALL.into_iter().find(|subcommand| subcommand.name() == word)
    }

    /// Whether it runs what it built.
    fn runs_programs(self) -> bool {
        self != Self::Build
    }
}
