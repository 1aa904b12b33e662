//! Tells our options from cargo's on one command line.
//!
//! Everything that is not ours goes to cargo as it is and in its order, so that options of future cargos work too.

use super::Subcommand;
use crate::config::Settings;
use clap::{Args, CommandFactory, Parser};
use std::ffi::{OsStr, OsString};

/// Our own options of `cargo bbprof build|run|test|bench|nextest`.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct CargoOptions {
    #[command(flatten)]
    pub settings: Settings,
    /// Leave out the summary of the run's profile
    #[arg(long)]
    pub no_report: bool,
    /// Cargo's own options
    #[arg(last = true, hide = true)]
    pub cargo: Vec<OsString>,
}

/// Only to ask clap for the names of our options.
#[derive(Parser)]
struct Names {
    #[command(flatten)]
    options: CargoOptions,
}

/// A command line after the subcommand, told apart.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Split {
    /// Ours, to be parsed by clap.
    pub own: Vec<OsString>,
    /// Cargo's and the program's, `--` included.
    pub cargo: Vec<OsString>,
}

/// Options of `cargo run` whose value is the next word.
const NEXT_IS_VALUE: [&str; 13] = [
    "--package",
    "--bin",
    "--example",
    "--features",
    "--jobs",
    "--profile",
    "--target",
    "--target-dir",
    "--manifest-path",
    "--lockfile-path",
    "--message-format",
    "--color",
    "--config",
];
/// Those of one letter, which may stand behind others (`-vp NAME`).
const LETTERS_WITH_VALUE: [char; 5] = ['p', 'F', 'j', 'm', 'Z'];
/// Those that may stand before others.
const LETTERS_WITHOUT_VALUE: [char; 5] = ['q', 'v', 'r', 'h', 'V'];

/// Nextest's own subcommands, of those that we drive or pass on.
const OF_NEXTEST: [&str; 5] = ["run", "r", "list", "archive", "show-config"];
/// Options that nextest takes before its subcommand: those whose value is the next word, and those without one.
const BEFORE_OF_NEXTEST: [&str; 5] = ["--color", "--manifest-path", "--config-file", "--user-config-file", "--tool-config-file"];
const FLAGS_BEFORE_OF_NEXTEST: [&str; 4] = ["--no-pager", "--verbose", "-v", "-vv"];

/// Splits the words that follow the subcommand; nextest's own subcommand comes to the front of its words. Ours end at `--`, and
/// `cargo run`'s at the first word that is no option: the program's arguments may do without `--`.
pub(crate) fn split(subcommand: Subcommand, words: impl IntoIterator<Item = OsString>) -> Split {
    let command = Names::command();
    // (long name, whether a value follows as its own word)
    let mut own: Vec<(String, bool)> = command
        .get_arguments()
        .filter_map(|arg| {
            let takes = arg.get_action().takes_values() && !arg.is_require_equals_set();
            Some((format!("--{}", arg.get_long()?), takes))
        })
        .collect();
    own.push(("--help".into(), false));
    own.push(("-h".into(), false));
    let mut split = Split::default();
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        if word == "--" {
            split.cargo.push(word);
            split.cargo.extend(words);
            break;
        }
        let text = word.to_string_lossy().into_owned();
        if subcommand == Subcommand::Run && (text == "-" || !text.starts_with('-')) {
            split.cargo.extend(["--".into(), word]);
            split.cargo.extend(words);
            break;
        }
        let (name, has_value) = text.split_once('=').map_or((&*text, false), |(name, _)| (name, true));
        match own.iter().find(|(own, _)| own == name) {
            Some((_, takes)) => {
                split.own.push(word);
                if *takes && !has_value {
                    let Some(value) = words.next_if(|value| value != "--") else {
                        // For clap to refuse: nothing may follow that it could take for the value.
                        return Split { cargo: Vec::new(), ..split };
                    };
                    split.own.push(value);
                }
            }
            None => {
                split.cargo.push(word);
                if subcommand == Subcommand::Run && is_before_value(&text) {
                    split.cargo.extend(words.next());
                }
            }
        }
    }
    if subcommand == Subcommand::Nextest {
        bring_forward_of_nextest(&mut split.cargo);
    }
    split
}

fn bring_forward_of_nextest(words: &mut [OsString]) {
    let mut at = 0;
    while let Some(word) = words.get(at).and_then(|word| word.to_str()) {
        let has_value_within = || word.split_once('=').is_some_and(|(name, _)| BEFORE_OF_NEXTEST.contains(&name));
        at += match word {
            word if OF_NEXTEST.contains(&word) => return words[..=at].rotate_right(1),
            word if BEFORE_OF_NEXTEST.contains(&word) => 2,
            word if FLAGS_BEFORE_OF_NEXTEST.contains(&word) || has_value_within() => 1,
            _ => return,
        };
    }
}

/// Whether the value of this option of `cargo run` is the next word.
fn is_before_value(option: &str) -> bool {
    let is_letter_last = || {
        let letters = option.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
        Some(letters.find(LETTERS_WITH_VALUE)? + 1 == letters.len())
    };
    NEXT_IS_VALUE.contains(&option) || is_letter_last() == Some(true)
}

/// Cargo's options, to be looked at.
#[derive(Clone, Debug)]
pub(crate) struct CargoWords {
    /// Before `--`.
    pub options: Vec<OsString>,
    /// From `--` on.
    pub rest: Vec<OsString>,
}

impl CargoWords {
    /// Parts a command line at `--`.
    pub(crate) fn new(words: Vec<OsString>) -> Self {
        let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
        Self { options: words[..end].to_vec(), rest: words[end..].to_vec() }
    }

    /// All values of an option, as `--name V`, `--name=V`, `-n V` or `-nV`, also behind other letters.
    pub(crate) fn values(&self, long: &str, short: Option<char>) -> Vec<OsString> {
        let mut values = Vec::new();
        let mut words = self.options.iter();
        while let Some(word) = words.next() {
            if word == long || short.is_some_and(|short| behind_letter(word, short) == Some("")) {
                values.extend(words.next().cloned());
            } else if let Some(value) = value_within(word, long, short) {
                values.push(value);
            }
        }
        values
    }

    /// Removes an option with a value, and gives its last value.
    pub(crate) fn take(&mut self, long: &str) -> Option<OsString> {
        let value = self.values(long, None).pop();
        let mut kept = Vec::new();
        let mut words = std::mem::take(&mut self.options).into_iter();
        while let Some(word) = words.next() {
            // One without a value is for cargo to refuse.
            if word == long && words.len() > 0 {
                words.next();
            } else if value_within(&word, long, None).is_none() {
                kept.push(word);
            }
        }
        self.options = kept;
        value
    }

    /// Whether a flag stands there.
    pub(crate) fn has(&self, flag: &str) -> bool {
        self.options.iter().any(|word| word == flag)
    }

    /// Nextest's own subcommand, if they begin with one.
    pub(crate) fn of_nextest(&self) -> Option<&str> {
        self.options.first()?.to_str().filter(|word| OF_NEXTEST.contains(word))
    }

    /// Whether cargo is asked to be quiet.
    pub(crate) fn is_quiet(&self) -> bool {
        let has_letter = |word: &OsString| letters(word).is_some_and(|letters| without_value(letters).contains('q'));
        self.has("--quiet") || self.options.iter().any(has_letter)
    }
}

/// The letters of a word of options of one letter, and what stands behind them.
fn letters(word: &OsStr) -> Option<&str> {
    word.to_str()?.strip_prefix('-').filter(|letters| !letters.starts_with('-'))
}

/// Those at the start that take no value.
fn without_value(letters: &str) -> &str {
    &letters[..letters.find(|letter| !LETTERS_WITHOUT_VALUE.contains(&letter)).unwrap_or(letters.len())]
}

/// What stands behind an option of one letter that takes a value: nothing, where the next word is the value.
fn behind_letter(word: &OsStr, letter: char) -> Option<&str> {
    let letters = letters(word)?;
    letters[without_value(letters).len()..].strip_prefix(letter)
}

fn value_within(word: &OsStr, long: &str, short: Option<char>) -> Option<OsString> {
    if let Some(value) = word.to_str()?.strip_prefix(long).and_then(|rest| rest.strip_prefix('=')) {
        return Some(value.into());
    }
    let value = behind_letter(word, short?)?;
    (!value.is_empty()).then(|| value.strip_prefix('=').unwrap_or(value).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn ours_and_cargos_are_told_apart() {
        let got = split(
            Subcommand::Build,
            words("--release --counters check -p a --deps=all --no-report --ir --bin x -- --counters blocks"),
        );
        assert_eq!(got.own, words("--counters check --deps=all --no-report --ir"));
        assert_eq!(got.cargo, words("--release -p a --bin x -- --counters blocks"));
    }

    #[test]
    fn patterns_may_start_with_a_hyphen() {
        let got = split(Subcommand::Test, words("--exclude-fn -x --exclude pkg"));
        assert_eq!((got.own, got.cargo), (words("--exclude-fn -x"), words("--exclude pkg")));
    }

    #[test]
    fn a_value_that_is_missing_is_not_what_parts_the_line() {
        for line in ["--release --include", "--release --include -- x", "--release --include -- --ir"] {
            let got = split(Subcommand::Run, words(line));
            assert_eq!((got.own, got.cargo), (words("--include"), words("")), "{line}");
        }
    }

    #[test]
    fn arguments_of_programs_do_without_dashes() {
        for (line, own, cargo) in [
            ("--ir serve --config app.toml -h", "--ir", "-- serve --config app.toml -h"),
            ("-p a --bin b -vj 2 -Fx --counters check x -- --ir", "--counters check", "-p a --bin b -vj 2 -Fx -- x -- --ir"),
            ("-m a/Cargo.toml -qrm b x -m c", "", "-m a/Cargo.toml -qrm b -- x -m c"),
            ("--target=t --config a=b --deps all - --ir", "--deps all", "--target=t --config a=b -- - --ir"),
        ] {
            let got = split(Subcommand::Run, words(line));
            assert_eq!((got.own, got.cargo), (words(own), words(cargo)), "{line}");
        }
        // What is no option of `cargo test` is the name of tests, and options may follow.
        let got = split(Subcommand::Test, words("name --ir -- --ir"));
        assert_eq!((got.own, got.cargo), (words("--ir"), words("name -- --ir")));
    }

    #[test]
    fn options_of_nextest_may_stand_before_its_subcommand() {
        for (line, cargo) in [
            ("list -p a", "list -p a"),
            ("--color never list -p a", "list --color never -p a"),
            ("--color never show-config version", "show-config --color never version"),
            (
                "--ir -v --manifest-path=a --config-file run --no-pager run run",
                "run -v --manifest-path=a --config-file run --no-pager run",
            ),
            // These are filters.
            ("--workspace list", "--workspace list"),
            ("--color never name list", "--color never name list"),
            ("--color never -- list", "--color never -- list"),
            ("--color", "--color"),
        ] {
            assert_eq!(split(Subcommand::Nextest, words(line)).cargo, words(cargo), "{line}");
        }
    }

    #[test]
    fn values_are_found_in_every_spelling() {
        let mut line = CargoWords::new(words("-p a -pb --package=c --target-dir=d --target t --target-dir e -q -- -p z"));
        assert_eq!(line.values("--package", Some('p')), words("a b c"));
        assert_eq!(line.values("--target", None), words("t"));
        assert_eq!(line.take("--target-dir"), Some("e".into()));
        assert_eq!(line.options, words("-p a -pb --package=c --target t -q"));
        assert!(line.is_quiet());
        assert_eq!(line.rest, words("-- -p z"));
    }

    #[test]
    fn letters_share_a_word() {
        let line = CargoWords::new(words("-vp a -rvpb -p=c -rq -Fquick -Zscript -Z unstable -vvm d -Epackage(e)"));
        assert_eq!(line.values("--package", Some('p')), words("a b c"));
        assert_eq!(line.values("--features", Some('F')), words("quick"));
        assert_eq!(line.values("-Z", Some('Z')), words("script unstable"));
        assert_eq!(line.values("--manifest-path", Some('m')), words("d"));
        assert!(line.is_quiet() && !CargoWords::new(words("-v -Fquick -pq --q")).is_quiet());
    }

    #[test]
    fn values_that_are_missing_are_left_to_cargo() {
        let mut line = CargoWords::new(words("--release --target-dir"));
        assert_eq!((line.take("--target-dir"), line.options), (None, words("--release --target-dir")));
    }
}
