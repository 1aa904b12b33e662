//! `--dependency-file`: the linker lists what it read, in the language of make. The shim's own files are taken out of it; they
//! are gone after the link, and a build tool would link again and again for them.

/// The dependency file without what lies in `folder`.
pub(crate) fn without(contents: &str, folder: &str) -> String {
    let mut kept = String::with_capacity(contents.len());
    for line in contents.split_inclusive('\n') {
        let text = line.trim();
        let ours = text.split([' ', '\t']).any(|word| word.trim_end_matches([':', '\\']).starts_with(folder));
        if !ours {
            kept.push_str(line);
            continue;
        }
        let others: Vec<&str> = text.split([' ', '\t']).filter(|word| !word.trim_end_matches(':').starts_with(folder)).collect();
        if others.iter().any(|word| *word != "\\") {
            kept.push_str(&others.join(" "));
            kept.push('\n');
        } else if !text.ends_with('\\') && !text.ends_with(':') && kept.ends_with("\\\n") {
            // The last dependency of a rule: the line before must not go on.
            kept.truncate(kept.len() - 2);
            kept.push('\n');
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_a_line_as_bfd_and_lld_write() {
        let written = "out: \\\n  /tmp/bb/bbprof.o \\\n  a.o \\\n  /tmp/bb/rt.a\n\n/tmp/bb/bbprof.o:\n\na.o:\n\n/tmp/bb/rt.a:\n";
        assert_eq!(without(written, "/tmp/bb/"), "out: \\\n  a.o \n\n\na.o:\n\n");
    }

    #[test]
    fn all_on_one_line() {
        assert_eq!(without("out: /tmp/bb/bbprof.o a.o b.o\n", "/tmp/bb/"), "out: a.o b.o\n");
        assert_eq!(without("out: a.o b.o\n", "/tmp/bb/"), "out: a.o b.o\n");
    }
}
