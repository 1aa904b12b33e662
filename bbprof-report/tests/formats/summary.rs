//! The text summary and the verdict.

use crate::example::{PLAIN, profile, run, text};
use bbprof_profile::Profile;
use bbprof_report::{GroupBy, SortBy, Style, SummaryOptions, Verdict, write_copies, write_skipped, write_summary};

const OPTIONS: SummaryOptions = SummaryOptions { top: 2, sort: SortBy::Instructions, by: GroupBy::Function, style: PLAIN };

#[test]
fn summary() {
    let expected = "\
/bin/app: exit 0
counts            exact
functions         2 of 3 executed (66.7 %)
blocks            8 of 9 executed (88.9 %)
block executions  45
instructions      137 (LLVM IR), 100.0 % with a source line
not instrumented  1 function, see bbprof verify --skipped

Hottest functions by instructions (% of these)
instructions     %          calls  blocks  function
         105  76.6  ██████      3      37  f  a.c:1
          32  23.4  █▊          8       8  g  a.c:7

Hottest blocks by instructions
instructions     %          count  block
          32  23.4  ██████      8  g #0  a.c:8
          30  21.9  █████▋     10  f #1  a.c:2

Hottest lines by instructions
instructions     %          count  line
          57  41.6  ██████     10  /src/a.c:2
          32  23.4  ███▎        8  /src/a.c:8
";
    assert_eq!(text(|out| write_summary(&profile(), &OPTIONS, out)), expected);
}

/// A file that is compiled into two programs has the same functions, blocks and lines in both.
#[test]
fn blocks_of_one_source_in_two_programs_name_these() {
    let (first, mut second) = (run(), run());
    second.counters.path = "/bin/other".into();
    let parts = [first, second].map(|run| (run.map, run.counters));
    let both = Profile::new(run().processes, parts.into()).expect("they fit");
    let summary = text(|out| write_summary(&both, &OPTIONS, out));
    let blocks: Vec<&str> = summary.lines().skip_while(|line| !line.starts_with("Hottest blocks")).skip(2).take(2).collect();
    assert!(blocks[0].ends_with("  g #0 in app  a.c:8") && blocks[1].ends_with("  g #0 in other  a.c:8"), "{summary}");
    assert_eq!(summary.matches(" in app").count(), 1, "{summary}");
    assert!(summary.contains("  g  a.c:7 (2 copies)\n"), "{summary}");
    let copies = text(|out| write_copies(&both, "g", 9, PLAIN, &|_| None, out).map(drop));
    assert!(copies.contains("  own (app)  g\n") && copies.contains("  own (other)  g\n"), "{copies}");
}

#[test]
fn every_order_and_grouping_fits_the_width() {
    for sort in [SortBy::Instructions, SortBy::Calls, SortBy::Blocks] {
        for by in [GroupBy::Function, GroupBy::Instantiation, GroupBy::File, GroupBy::Module] {
            let summary = text(|out| write_summary(&profile(), &SummaryOptions { sort, by, top: 5, style: PLAIN }, out));
            assert!(summary.lines().all(|line| line.len() <= 80), "{summary}");
            let first = summary.lines().nth(10).unwrap_or_default();
            let expected = match by {
                GroupBy::File => "/src/a.c",
                GroupBy::Module => "a.c",
                _ if sort == SortBy::Calls => "g  a.c:7",
                _ => "f  a.c:1",
            };
            assert!(first.ends_with(expected), "{first}");
        }
    }
}

#[test]
fn verdicts() {
    let mut run = run();
    let exact = run.profile().expect("it fits");
    assert_eq!(text(|out| write_skipped(&exact, out)), "not instrumented: naked_one (a.c): it is naked\n");
    let mut verdict = Verdict::new(PLAIN);
    assert_eq!(text(|out| verdict.add(&exact, out)), "process 7 /bin/app: exit 0\n");
    assert!(verdict.is_exact());
    assert_eq!(text(|out| verdict.finish(out)), "exact: 3 functions, 9 blocks\n");

    run.processes[0].caveat = Some("killed".into());
    let inexact = run.profile().expect("it fits");
    let expected = "process 7 /bin/app: exit 0\nnot exact: /bin/app (pid 7): killed\n";
    assert_eq!(text(|out| verdict.add(&inexact, out)), expected);
    assert!(!verdict.is_exact());
    let expected = "not exact: 1 exception, process 7; otherwise exact: 6 functions, 18 blocks, in 2 processes\n";
    assert_eq!(text(|out| verdict.finish(out)), expected);
    // Whoever reads left before it was said.
    struct Gone;
    impl std::io::Write for Gone {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut unread = Verdict::new(PLAIN);
    assert!(unread.add(&inexact, &mut Gone).is_err() && !unread.is_exact());
    let mut coloured = Verdict::new(Style { colour: true, ..PLAIN });
    let said = text(|out| coloured.add(&inexact, out).and_then(|()| coloured.finish(out)));
    assert_eq!(said.matches("\u{1b}[1;31mnot exact:\u{1b}[0m ").count(), 2, "{said:?}");
    assert_eq!(
        text(|out| Verdict::new(Style { colour: true, ..PLAIN }).finish(out)),
        "\u{1b}[32mexact:\u{1b}[0m 0 functions, 0 blocks\n"
    );
}
