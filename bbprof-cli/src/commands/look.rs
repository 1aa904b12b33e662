//! How text looks on the output: columns and colour, by options, environment and what the output is.

use bbprof_report::Style;
use std::ffi::OsStr;
use std::io::IsTerminal;

/// `--width` and `--color`.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub(crate) struct LookArgs {
    /// Columns of the output (tables take what their numbers need, and 20 for names); without it, those of the terminal, else 80
    #[arg(long, value_name = "COLUMNS")]
    width: Option<usize>,
    #[command(flatten)]
    colour: ColourArgs,
}

/// `--color`.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub(crate) struct ColourArgs {
    /// Colours; auto: on a terminal, unless CARGO_TERM_COLOR or else NO_COLOR says otherwise
    #[arg(long, value_enum, default_value_t, value_name = "WHEN", global = true)]
    color: Color,
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

impl LookArgs {
    /// As cargo's `--color` has it, which cargo itself has checked.
    pub(crate) fn of_cargo(colour: Option<&OsStr>) -> Self {
        let color = colour.and_then(|word| <Color as clap::ValueEnum>::from_str(word.to_str()?, false).ok()).unwrap_or_default();
        Self { width: None, colour: ColourArgs { color } }
    }

    /// The style of text on this output.
    pub(crate) fn style(self, out: &impl IsTerminal) -> Style {
        Style { width: self.width.unwrap_or_else(terminal_width), colour: self.colour.shows(out) }
    }
}

impl ColourArgs {
    /// Whether this output gets colours.
    pub(crate) fn shows(self, out: &impl IsTerminal) -> bool {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let by_cargo = std::env::var("CARGO_TERM_COLOR").unwrap_or_default();
        match self.color {
            Color::Always => true,
            Color::Never => false,
            // The one that is said to cargo programs alone goes before what is said to all.
            Color::Auto if by_cargo == "always" => true,
            Color::Auto if is_set("NO_COLOR") || by_cargo == "never" => false,
            Color::Auto => out.is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb"),
        }
    }
}

/// Columns of the terminal; 80 where there is none.
fn terminal_width() -> usize {
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)).or_else(columns).unwrap_or(80)
}
