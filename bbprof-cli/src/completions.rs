//! `bbprof completions SHELL`.

use clap_complete::Shell as Common;
use clap_complete_nushell::Nushell;

/// The language of a shell.
#[derive(Clone, Copy, clap::ValueEnum, Debug)]
pub(crate) enum Dialect {
    Bash,
    Elvish,
    Fish,
    #[value(alias = "nu")]
    Nushell,
    #[value(name = "powershell", alias = "pwsh")]
    PowerShell,
    Zsh,
}

/// The script by which a shell of this dialect completes the words of `command`, which is typed as `name`.
pub(crate) fn script(dialect: Dialect, command: &mut clap::Command, name: &str) -> Vec<u8> {
    let mut script = Vec::new();
    let mut of = |common| clap_complete::generate(common, command, name, &mut script);
    match dialect {
        Dialect::Bash => of(Common::Bash),
        Dialect::Elvish => of(Common::Elvish),
        Dialect::Fish => of(Common::Fish),
        Dialect::PowerShell => of(Common::PowerShell),
        Dialect::Zsh => of(Common::Zsh),
        Dialect::Nushell => clap_complete::generate(Nushell, command, name, &mut script),
    }
    script
}
