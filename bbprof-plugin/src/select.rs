//! Which functions are instrumented, by the user's filters.

use crate::options::Options;
use bbprof_format::demangle;
use regex::Regex;

/// What the filters look at.
pub(crate) struct Candidate<'a> {
    /// Linker symbol, mangled.
    pub symbol: &'a str,
    /// Source file, when known.
    pub file: Option<&'a str>,
}

/// Why the filters leave the function out, or `None` to instrument it.
pub(crate) fn reason_to_skip(options: &Options, candidate: &Candidate<'_>) -> Option<String> {
    let file = candidate.file.unwrap_or("");
    // People name functions as they write them; scripts name them as the linker does.
    let by_name = !(options.exclude_fn.is_empty() && options.include_fn.is_empty());
    let name = by_name.then(|| demangle(candidate.symbol));
    let matches = |regex: &&Regex| regex.is_match(candidate.symbol) || name.as_deref().is_some_and(|name| regex.is_match(name));
    if let Some(regex) = options.exclude_fn.iter().find(matches) {
        return Some(format!("excluded by --exclude-fn {regex}"));
    }
    if let Some(glob) = options.exclude_file.iter().find(|glob| glob.is_match(file)) {
        return Some(format!("excluded by --exclude-file {}", glob.glob()));
    }
    let wanted = options.include_fn.is_empty() && options.include_file.is_empty()
        || options.include_fn.iter().any(|regex| matches(&regex))
        || options.include_file.iter().any(|glob| glob.is_match(file));
    (!wanted).then(|| "matched by no --include and no --include-file".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(options: &str, symbol: &str, file: Option<&str>) -> Option<String> {
        reason_to_skip(&Options::parse(options).unwrap(), &Candidate { symbol, file })
    }

    #[test]
    fn exclusion_wins_over_inclusion() {
        assert_eq!(reason("", "f", None), None);
        assert_eq!(reason("include=^f", "f", None), None);
        assert!(reason("include=^f", "g", None).is_some());
        assert!(reason("include=^f\nexclude-fn=f", "f", None).unwrap().contains("--exclude-fn f"));
        assert_eq!(reason("include-file=**/a.c", "g", Some("/x/a.c")), None);
        for glob in ["a.c", "./a.c", "x/a.c", "x/*.c", "x/**", "/y/x/a.c", "*.c"] {
            assert_eq!(reason(&format!("include-file={glob}"), "g", Some("/y/x/a.c")), None, "{glob}");
        }
        for glob in ["b/a.c", "/x/a.c", "y/a.c"] {
            assert!(reason(&format!("include-file={glob}"), "g", Some("/y/x/a.c")).is_some(), "{glob}");
        }
        assert!(reason("exclude-fn=^shapes::Square::area", "_ZNK6shapes6Square4areaEv", None).is_some());
        assert!(reason("exclude-fn=^demo::work$", "_ZN4demo4work17h0123456789abcdefE", None).is_some());
        assert!(reason("exclude-file=**/a.c", "g", Some("/x/a.c")).is_some());
    }
}
