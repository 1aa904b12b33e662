//! Random programs of computed `goto`s into blocks that others reach directly: what they print stays, and every edge that follows
//! from the plan equals the edge's own counter of the same run.

use bbprof_tests::{LEVELS, Run, Sandbox, is_long, tool};
use std::fmt::Write;

/// A generator after Marsaglia 2003.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % bound
    }

    fn one_of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len() as u64) as usize]
    }
}

const VARIABLES: &[&str] = &["a", "b", "c"];

/// What a label's code does before it goes on.
fn statement(random: &mut Random) -> String {
    let (to, from, n) = (random.one_of(VARIABLES), random.one_of(VARIABLES), random.below(5) + 1);
    match random.below(6) {
        0 => format!("{to} += {from} * {n} + 1;"),
        1 => format!("{to} ^= {from} >> {n};"),
        2 => format!("touch({to});"),
        3 => format!("if ({to} & {n}) {from}++;"),
        _ => format!("for (unsigned i = 0; i < ({to} & 7); i++) {from} += i * {to};"),
    }
}

/// How it goes on; it may also fall into the next label.
fn way_on(random: &mut Random, labels: u64) -> String {
    let (variable, n, label) = (random.one_of(VARIABLES), random.below(4) + 2, random.below(labels));
    let computed = format!("goto *table{}[({variable} >> {n}) % 4];", random.below(2));
    match random.below(10) {
        0..=3 => computed,
        4..=5 => format!("if ({variable} & {n}) {computed} else goto l{label};"),
        6..=7 => format!("if ({variable} % {n}) goto l{label};"),
        8 => format!("switch ({variable} & 3) {{ case 0: {computed} case 1: goto l{label}; }}"),
        _ => "goto done;".to_owned(),
    }
}

fn program(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let labels = random.below(11) + 3;
    let mut source = "#include <stdio.h>\n#include <stdlib.h>\nstatic unsigned fuel, sum;\n\
        __attribute__((noinline)) static void touch(unsigned x) { if ((sum = sum * 31 + x) == 123456789) exit(9); }\n\
        __attribute__((noinline)) static unsigned walk(unsigned x) {\n"
        .to_owned();
    for table in 0..2 {
        let targets: Vec<String> = (0..4).map(|_| format!("&&l{}", random.below(labels))).collect();
        let _ = writeln!(source, "  static void *const table{table}[] = {{{}}};", targets.join(", "));
    }
    source += "  unsigned a = x, b = x * 7, c = x * 31;\n";
    for label in 0..labels {
        let _ = writeln!(source, "l{label}:\n  if (fuel-- == 0) goto done;");
        for _ in 0..random.below(4) {
            let _ = writeln!(source, "  {}", statement(&mut random));
        }
        let _ = writeln!(source, "  {}", way_on(&mut random, labels));
    }
    source += "done:\n  return a ^ b ^ c;\n}\n\
        int main(void) {\n  unsigned all = 0;\n  for (unsigned i = 0; i < 200; i++) { fuel = 300; all = all * 7 + walk(i + all % 3); }\n  \
        printf(\"%u %u\\n\", all, sum);\n}\n";
    source
}

const MODES: &[&[&str]] = &[
    &["--bbprof-counters=check"],
    &["--bbprof-counters=check", "--bbprof-with=registers"],
    &["--bbprof-counters=check", "-fPIC"],
    &["--bbprof-counters=paths-check"],
    &["--bbprof-counters=paths-check", "--bbprof-path-array=0"],
];

#[test]
fn count_what_each_edge_counts() {
    let (seeds, levels) = if is_long() { (1..=200, &LEVELS[..]) } else { (1..=12, &["-O2"][..]) };
    let mut crashes = 0;
    for seed in seeds.clone() {
        let sandbox = Sandbox::new("gotos");
        let source = sandbox.write("walk.c", program(seed));
        for level in levels {
            // clang 22.1.8 crashes on a few of them by itself.
            if Run::new("clang-22").args(["-w", level, "-c"]).arg(&source).arg("-o").arg(sandbox.join("walk.o")).outcome().code != 0
            {
                eprintln!("program {seed}, {level}: clang itself does not compile it");
                crashes += 1;
                continue;
            }
            Run::new("cc").args(["-w", level]).arg(&source).arg("-o").arg(sandbox.join("plain")).ok();
            let expected = Run::new(sandbox.join("plain")).ok().stdout;
            for mode in MODES {
                let what = format!("program {seed}, {level} {mode:?}");
                let raw = sandbox.join("walk.bbraw");
                Run::new(tool("bbprof-cc")).args(["-w", level]).args(*mode).arg(&source).arg("-o").arg(sandbox.join("walk")).ok();
                assert_eq!(Run::new(sandbox.join("walk")).env("BBPROF_OUT", &raw).ok().stdout, expected, "{what}");
                let verified = Run::new(tool("bbprof")).arg("verify").arg(&raw).outcome();
                assert_eq!(verified.code, 0, "{what}: {}", verified.text());
                assert!(verified.text().contains("edges compared with counters of their own"), "{what}: {}", verified.text());
            }
        }
    }
    assert!(crashes * 50 <= seeds.count() * levels.len(), "{crashes} crashes of clang");
}
