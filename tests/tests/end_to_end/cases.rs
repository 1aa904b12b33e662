//! Every case of `tests/cases`, at every level, against its own tallies and a counter on every edge.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use bbprof_format::manifest::{Function, Manifest, Site};
use bbprof_format::map::BuildMap;
use bbprof_tests::{Case, Run, Sandbox, tool};
use std::collections::BTreeSet;

macro_rules! cases {
    ($($name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            Case::named(stringify!($name)).check(&[]);
        })*

        #[test]
        fn every_folder_is_listed() {
            let listed = [$(stringify!($name)),*];
            let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
            for entry in std::fs::read_dir(folder).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                assert!(listed.contains(&name.as_str()), "tests/cases/{name} is not run");
            }
        }
    };
}

cases!(
    builtin_setjmp,
    calls,
    exceptions,
    exit_inside,
    flags,
    gotos,
    ifuncs,
    longjmp,
    loops,
    only_called,
    switches,
    tail_calls,
    threads,
    turns,
    virtuals
);

#[test]
fn library_storage_counts_the_same() {
    for name in ["builtin_setjmp", "calls", "exceptions", "flags", "loops", "only_called", "tail_calls", "threads"] {
        Case::named(name).check(&["-fPIC"]);
        Case::named(name).check(&["--bbprof-storage=atomic"]);
    }
    for way in ["-flto", "--bbprof-counters=paths-check"] {
        Case::named("only_called").check(&["-fPIC", way]);
    }
}

/// What `bbprof-cc -S` makes of this case's source.
fn assembly(case: &str, options: &[&str]) -> String {
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("cases").join(case).join("main.c");
    let run = Run::new(tool("bbprof-cc")).args(["-S", "-o", "-"]).args(options).arg(source).ok();
    String::from_utf8_lossy(&run.stdout).into_owned()
}

/// A signal handler that counts there, too, would take away what another increment has
/// just added, if that were a load, an addition and a store.
#[test]
fn counters_are_one_instruction_without_a_lock() {
    let mut ways = vec![("loops", vec!["-O2", "-mcmodel=large", "--bbprof-without=bases"])];
    for level in ["-O0", "-O2"] {
        for case in ["loops", "gotos"] {
            ways.extend([(case, vec![level]), (case, vec![level, "--bbprof-counters=paths"])]);
        }
    }
    for (case, options) in ways {
        let assembly = assembly(case, &options);
        let mut touching =
            assembly.lines().map(str::trim_start).filter(|line| line.contains("__bbprof_c.") && line.contains("@TPOFF")).peekable();
        assert!(touching.peek().is_some(), "{case} {options:?}: {assembly}");
        let others: Vec<_> =
            touching.filter(|line| !["incq\t", "addq\t", "leaq\t"].iter().any(|one| line.starts_with(one))).collect();
        assert!(others.is_empty(), "{case} {options:?}: {others:#?}");
    }
}

/// While code is generated, marks stand for increments. In what leaves the process, they would be assembly that nobody can read.
#[test]
fn bitcode_has_the_counters_addresses() {
    let text = assembly("loops", &["-O2", "-emit-llvm"]);
    let additions: Vec<_> = text.lines().filter(|line| line.contains("atomicrmw add")).collect();
    assert!(!additions.is_empty(), "{text}");
    assert!(!text.contains("addrspace(") && !text.contains("bbprof.increment"), "{text}");
    let of_counters = additions.iter().filter(|line| line.contains("@__bbprof_c.")).count();
    // The rest have a register in their address.
    assert!(of_counters * 4 > additions.len() * 3, "{of_counters} of {}: {text}", additions.len());
}

/// The pass behind instruction selection takes each of these back, whatever is added, and zeroes that nothing needs.
#[test]
fn additions_get_their_addresses_back() {
    let sandbox = Sandbox::new("additions");
    let code = "target triple = \"x86_64-pc-linux-gnu\"
        @c = external hidden thread_local(localexec) global [8 x i64]
        define i64 @f(ptr %p) \"bbprof-done\" {
          %unneeded = call i64 asm \"xorl ${0:k}, ${0:k}\", \"=r,~{flags}\"()
          %zero = call i64 asm \"xorl ${0:k}, ${0:k}\", \"=r,~{flags}\"()
          %one = atomicrmw add ptr getelementptr (i8, ptr @c, i64 16), i64 1 syncscope(\"bbprof\") monotonic, align 8
          %unknown = atomicrmw add ptr getelementptr (i8, ptr @c, i64 24), i64 %zero syncscope(\"bbprof\") monotonic, align 8
          %five = atomicrmw add ptr getelementptr (i8, ptr @c, i64 32), i64 5 syncscope(\"bbprof\") monotonic, align 8
          %many = atomicrmw add ptr getelementptr (i8, ptr @c, i64 40), i64 1099511627776 syncscope(\"bbprof\") monotonic, align 8
          %elsewhere = atomicrmw add ptr %p, i64 3 syncscope(\"bbprof\") monotonic, align 8
          ret i64 %zero
        }";
    std::fs::write(sandbox.join("additions.ll"), code).unwrap();
    for level in ["-O0", "-O2"] {
        let run = Run::new(tool("bbprof-cc")).args([level, "-S", "-o", "-"]).arg(sandbox.join("additions.ll")).ok();
        let assembly = String::from_utf8_lossy(&run.stdout).into_owned();
        let lines: Vec<&str> = assembly.lines().map(str::trim).collect();
        for expected in ["incq\t%fs:c@TPOFF+16", "addq\t%rax, %fs:c@TPOFF+24", "addq\t$3, (%rdi)"] {
            assert!(lines.contains(&expected), "{level}: no {expected}: {assembly}");
        }
        for expected in ["addq\t$5, %fs:c@TPOFF+32", ", %fs:c@TPOFF+40"] {
            let is_there = lines.iter().any(|line| line.starts_with("addq") && line.ends_with(expected));
            assert!(is_there, "{level}: no {expected}: {assembly}");
        }
        assert!(!assembly.contains("lock"), "{level}: {assembly}");
        assert!(!assembly.contains("%fs:1"), "{level}: {assembly}");
    }
}

/// What `bbprof-cc -S` makes of a function with these instructions, as if bbprof had counted in it at `@c`.
fn assembly_of_counted(instructions: &str, level: &str) -> String {
    let sandbox = Sandbox::new("counted");
    let code = format!(
        "target triple = \"x86_64-pc-linux-gnu\"
        @c = external hidden thread_local(localexec) global [8 x i64]
        define void @f(i64 %a, i64 %b, double %x, double %y, ptr %p) \"bbprof-done\" {{
          {instructions}
          ret void
        }}"
    );
    std::fs::write(sandbox.join("counted.ll"), code).unwrap();
    let run = Run::new(tool("bbprof-cc")).args([level, "-S", "-o", "-"]).arg(sandbox.join("counted.ll")).ok();
    String::from_utf8_lossy(&run.stdout).into_owned()
}

/// Of each choice of a number that no instruction makes, code generation makes blocks, and the flags live on from one to the next.
#[test]
fn increments_go_in_front_of_comparisons_that_decide_again() {
    let instructions = "
          %less = icmp slt i64 %a, %b
          %first = select i1 %less, double %x, double %y
          store volatile double %first, ptr %p
          %one = atomicrmw add ptr getelementptr (i8, ptr @c, i64 8), i64 1 syncscope(\"bbprof\") monotonic, align 8
          %second = select i1 %less, double %y, double %x
          store volatile double %second, ptr %p
          %two = atomicrmw add ptr getelementptr (i8, ptr @c, i64 16), i64 2 syncscope(\"bbprof\") monotonic, align 8
          %third = select i1 %less, double %y, double 1.0
          store volatile double %third, ptr %p
        ";
    let assembly = assembly_of_counted(instructions, "-O2");
    let of_flags: Vec<&str> =
        assembly.lines().map(str::trim).filter(|line| line.contains("%fs") || line.starts_with("cmp")).collect();
    assert_eq!(of_flags, ["incq\t%fs:c@TPOFF+8", "addq\t$2, %fs:c@TPOFF+16", "cmpq\t%rsi, %rdi"], "{assembly}");
}

/// What a user's assembly does that leaves the flags alone, it does in front of the increments that stand behind it.
#[test]
fn increments_stay_behind_assembly_that_leaves_the_flags() {
    let instructions = "
          %less = icmp slt i64 %a, %b
          %first = select i1 %less, double %x, double %y
          store volatile double %first, ptr %p
          call void asm sideeffect \"nop\", \"\"()
          %one = atomicrmw add ptr getelementptr (i8, ptr @c, i64 8), i64 1 syncscope(\"bbprof\") monotonic, align 8
          %second = select i1 %less, double %y, double %x
          store volatile double %second, ptr %p
        ";
    for level in ["-O0", "-O2"] {
        let assembly = assembly_of_counted(instructions, level);
        let found: Vec<&str> = assembly.lines().map(str::trim).filter(|line| line.contains("%fs") || *line == "nop").collect();
        assert_eq!(found, ["nop", "incq\t%fs:c@TPOFF+8"], "{level}: {assembly}");
    }
}

/// Each piece of assembly costs a compilation as much as five increments.
#[test]
fn compiling_reads_no_assembly_of_ours() {
    let code = assembly("loops", &["-O2"]);
    assert!(code.contains("xorl"), "{code}");
    assert!(!code.contains("#APP"), "{code}");
}

/// The functions of this case, of one source, of which this is true.
pub(crate) fn functions_of(case: &str, options: &[&str], is_true: impl Fn(&Function) -> bool) -> BTreeSet<String> {
    let sandbox = Sandbox::new("in-front");
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("cases").join(case).join("main.c");
    Run::new(tool("bbprof-cc")).args(options).arg(source).arg("-o").arg(sandbox.join("case")).ok();
    let map = BuildMap::decode(&std::fs::read(sandbox.join("case.bbmap")).unwrap()).unwrap();
    let mut found = BTreeSet::new();
    for module in &map.body.modules {
        let module = Manifest::read(&module.manifest).unwrap().module().unwrap();
        let functions = module.functions.iter().filter(|function| is_true(function));
        found.extend(functions.map(|function| module.string(function.symbol).to_owned()));
    }
    found
}

/// Those in which a loop's turns are counted in front of it.
fn counted_in_front(options: &[&str]) -> BTreeSet<String> {
    functions_of("loops", options, |function| function.sites.iter().any(|site| matches!(site, Site::BeforeLoop(_))))
}

#[test]
fn turns_are_counted_in_front_of_loops_that_nobody_can_watch() {
    let found = counted_in_front(&["-O2"]);
    for known in ["up", "down", "triangle", "guarded", "from_switch", "narrow", "main"] {
        assert!(found.contains(known), "{known} is not among {found:?}");
    }
    for unknown in ["bits", "found", "watched", "wide"] {
        assert!(!found.contains(unknown), "{unknown} is among {found:?}");
    }
    assert!(counted_in_front(&["-O2", "--bbprof-without=loops"]).is_empty());
    assert!(counted_in_front(&["-O0"]).is_empty(), "nothing is known of variables in memory");
}

/// What a loop counts in registers equals what it counts in memory in the same run, on every edge of its own.
#[test]
fn registers_count_the_same() {
    for options in [&["--bbprof-with=registers"][..], &["--bbprof-with=registers", "--bbprof-without=loops"]] {
        for name in ["calls", "gotos", "loops", "switches", "virtuals"] {
            Case::named(name).check(options);
        }
    }
    for more in ["-fPIC", "--bbprof-storage=atomic"] {
        Case::named("loops").check(&["--bbprof-with=registers", "--bbprof-without=loops", more]);
    }
}

#[test]
fn counters_stand_in_registers_where_nobody_can_watch() {
    let in_registers = |options: &[&str]| functions_of("loops", options, |function| !function.register_blocks.is_empty());
    let found = in_registers(&["-O2", "--bbprof-with=registers"]);
    for known in ["bits", "found"] {
        assert!(found.contains(known), "{known} is not among {found:?}");
    }
    for unknown in ["watched", "up", "down"] {
        assert!(!found.contains(unknown), "{unknown} is among {found:?}");
    }
    assert!(in_registers(&["-O2", "--bbprof-with=registers", "--bbprof-without=loops"]).contains("up"));
    assert!(in_registers(&["-O2"]).is_empty(), "nobody asked for it");
    assert!(in_registers(&["-O0", "--bbprof-with=registers"]).is_empty(), "all variables are in memory");
}

/// How many counters have a register in their address.
fn counters_with_a_base(sandbox: &Sandbox, options: &[&str]) -> usize {
    let assembly = Run::new(tool("bbprof-cc"))
        .args(["-O2", "--bbprof-without=unrolling", "-S", "-o", "-"])
        .args(options)
        .arg(sandbox.join("tight.c"))
        .ok()
        .stdout;
    String::from_utf8_lossy(&assembly)
        .lines()
        .filter(|line| line.contains("%fs:") && line.contains("@TPOFF") && line.contains("(%r"))
        .count()
}

#[test]
fn counters_of_tight_loops_have_a_register_in_their_address() {
    let sandbox = Sandbox::new("bases");
    let program = "#include <stdlib.h>
        #include <string.h>
        struct node { struct node *next; long value; };
        __attribute__((noinline)) long sum(struct node *list) { long all = 0; for (; list; list = list->next) all ^= list->value + (all >> 3); return all; }
        __attribute__((noinline)) void clear(char *p, long i, long step) { for (; i > 0; i -= step) p[i] = 0; }
        __attribute__((noinline)) void mix(long *p, long i, long step) { for (; i > 0; i -= step) p[i] = (p[i] * 3 + (p[i] >> 5)) ^ i; }
        __attribute__((noinline)) void copy(char *to, const char *from, long i, long step) { for (; i > 0; i -= step) { long chunk; memcpy(&chunk, from + i, 8); memcpy(to + i, &chunk, 8); } }
        __attribute__((noinline)) char *back(char *p, char from, long *left) { for (; *p != from && *left > 0; p--) *left -= *p & 1; return p; }
        __attribute__((noinline)) long lines(const char *p, const char *end) { long all = 0; for (; p < end; p++) { while (p < end && *p < 5) p++; all++; } return all; }
        __attribute__((noinline)) long marks(const char *p, long left) { long all = 0; for (; left > 0; left--) if (p[left] == 7) all += rand(); return all; }
        int main(int count, char **words) {
            struct node nodes[100] = {0}; static char bytes[1001]; static long numbers[1000]; long left = 1000;
            for (int i = 0; i < 99; i++) nodes[i].next = nodes + i + 1;
            bytes[0] = 1; back(bytes + 1000, 1, &left); bytes[500] = 7; marks(bytes, 1000); lines(bytes, bytes + 1000);
            clear(bytes, 999, count); mix(numbers, 999, count); copy(bytes, (char *)numbers, 900, count); return (int)(sum(nodes) + left - 1000);
        }";
    std::fs::write(sandbox.join("tight.c"), program).unwrap();
    // Turns are a guess; `copy` goes by eight bytes a turn that need not be a number, as loops of few turns do. `marks` can turn
    // without a call. The three of `lines`, a loop in another, have one.
    assert_eq!(counters_with_a_base(&sandbox, &[]), 8);
    for without in ["--bbprof-without=bases", "-fPIC", "--bbprof-storage=shared", "--bbprof-counters=blocks", "-O0"] {
        assert_eq!(counters_with_a_base(&sandbox, &[without]), 0, "{without}");
    }
    let profile = sandbox.join("run.bbraw");
    let options = ["-O2", "--bbprof-counters=check", "-o"];
    Run::new(tool("bbprof-cc")).args(options).arg(sandbox.join("tight")).arg(sandbox.join("tight.c")).ok();
    Run::new(sandbox.join("tight")).env("BBPROF_OUT", &profile).ok();
    let weights = format!("--bbprof-weights={}", profile.display());
    assert_eq!(counters_with_a_base(&sandbox, &[&weights]), 9, "turns are known");
    Run::new(tool("bbprof-cc")).args(options).arg(sandbox.join("tight")).arg(&weights).arg(sandbox.join("tight.c")).ok();
    Run::new(sandbox.join("tight")).env("BBPROF_OUT", &profile).ok();
    Run::new(tool("bbprof")).arg("verify").arg(&profile).ok();
}

#[test]
fn unwind_edges_to_one_landing_pad_get_pads_of_their_own_that_meet_at_once() {
    let sandbox = Sandbox::new("pads");
    let calls = "all += step(at++);\n".repeat(40);
    let program = format!(
        "struct held {{ int &ends; ~held() {{ ends++; }} }};
        static int bad;
        __attribute__((noinline)) int step(int at) {{ if (at == bad) throw at; return at; }}
        __attribute__((noinline)) int many(int &ends) {{ held holds{{ends}}; int all = 0, at = 0; {calls} return all; }}
        int main() {{
            int ends = 0, thrown = 0, all = 0;
            for (bad = -2; bad < 43; bad++) try {{ all += many(ends); }} catch (int at) {{ thrown += at; }}
            return ends == 45 && thrown == 780 && all == 5 * 780 ? 0 : 1;
        }}"
    );
    std::fs::write(sandbox.join("pads.cpp"), program).unwrap();
    for level in ["-O0", "-O2"] {
        let compile = |options: &[&str]| {
            Run::new(tool("bbprof-c++"))
                .in_folder(sandbox.path())
                .args([level, "--bbprof-counters=check", "pads.cpp"])
                .args(options)
                .ok()
        };
        compile(&["-o", "pads"]);
        Run::new(sandbox.join("pads")).env("BBPROF_OUT", sandbox.join("run.bbraw")).ok();
        Run::new(tool("bbprof")).arg("verify").arg(sandbox.join("run.bbraw")).ok();
        compile(&["-S", "-emit-llvm", "-o", "pads.ll"]);
        let ir = std::fs::read_to_string(sandbox.join("pads.ll")).unwrap();
        let many = ir.split("\ndefine ").find(|function| function.lines().next().unwrap().contains("@_Z4many")).unwrap();
        let pads: Vec<&str> = many.split("\n\n").filter(|block| block.contains(" = landingpad ")).collect();
        let meet: BTreeSet<&str> = pads.iter().map(|pad| pad.lines().last().unwrap()).collect();
        assert_eq!((pads.len(), meet.len()), (40, 1), "{level}: {meet:?}");
    }
}

#[test]
fn parts_of_the_placement_can_be_left_away() {
    for part in ["costs", "loops", "bases", "closing", "guesses"] {
        Case::named("loops").check(&[&format!("--bbprof-without={part}")]);
    }
    Case::named("gotos").check(&["--bbprof-without=dispatches"]);
    Case::named("turns").check(&["--bbprof-without=unrolling"]);
    for part in ["handing", "closing"] {
        Case::named("only_called").check(&["-fPIC", &format!("--bbprof-without={part}")]);
    }
}

/// Who looks for an object's type has mostly found it: no counter stands on that way, which equal pointers would seldom go.
#[test]
fn objects_have_the_expected_type() {
    let sandbox = Sandbox::new("types");
    let text = "struct type { int size; } a, b;
        struct object { struct type *type; };
        int size(const struct object *), other(const struct object *, const struct object *);
        int both(const struct object *x, const struct object *y) {
            if (x->type == &a && y->type == &a) return size(x) + size(y);
            return other(x, y);
        }";
    let source = sandbox.write("types.c", text);
    let counters = |options: &[&str]| {
        let object = sandbox.join("types.o");
        Run::new(tool("bbprof-cc")).args(["-O2", "-c", "-o"]).arg(&object).args(options).arg(&source).ok();
        let text = Run::new(tool("bbprof")).args(["dump", "--full"]).arg(&object).ok().text();
        let weight_of = |edge: &str| -> u64 {
            let line = text.lines().find(|line| line.contains(edge)).unwrap_or_else(|| panic!("{edge}: {text}"));
            line.rsplit(' ').next().unwrap().parse().unwrap()
        };
        (weight_of("edge 1: node 0 -> node 1 Branch"), weight_of("edge 2: node 0 -> "))
    };
    let (expected, others) = counters(&[]);
    assert!(expected / 8 > others, "{expected} {others}");
    let (expected, others) = counters(&["--bbprof-without=guesses"]);
    assert!(expected < others, "{expected} {others}");
}

/// In code for shared libraries, what only its own file calls, and always by its name, need not ask where its thread's counters
/// are.
#[test]
fn functions_of_libraries_are_handed_their_counters() {
    let sandbox = Sandbox::new("handing");
    let text = "struct list { struct list *next; long value; };
        long outside(long);
        #define KEPT static __attribute__((noinline))
        KEPT long handed(long value) { return value & 1 ? value * 3 : outside(value) + 1; }
        KEPT long also(struct list *list) { long all = 0; for (; list; list = list->next) all += handed(list->value); return all; }
        KEPT long jumps(long value) { return value > 7 ? handed(value) : outside(value) - 1; }
        KEPT long jumped_to(long value) { return value > 7 ? outside(value) - 1 : 2; }
        KEPT long pointed_to(long value) { return value > 9 ? outside(value) - 1 : 3; }
        long (*pointer)(long) = pointed_to;
        KEPT long by_unprofiled(long value) { return value > 4 ? outside(value) - 1 : 5; }
        __attribute__((no_profile_instrument_function)) long unprofiled(long value) { return by_unprofiled(value) + 1; }
        long first(struct list *list) { return also(list) + jumps(list->value) + 1; }
        long second(long value) { return value > 5 ? jumped_to(value) : pointed_to(value) + 1; }";
    let source = sandbox.write("handing.c", text);
    let told = |options: &[&str]| -> BTreeSet<String> {
        let assembly = Run::new(tool("bbprof-cc")).args(["-O2", "-fPIC", "-S", "-o", "-"]).args(options).arg(&source).ok().text();
        let mut function = "";
        let mut told = BTreeSet::new();
        for line in assembly.lines() {
            if let Some((name, _)) = line.split_once(':').filter(|(name, _)| line.contains("# @") && !name.starts_with('.')) {
                function = name;
            }
            if line.contains("__bbprof_delta.tls@GOTTPOFF") {
                told.insert(format!("{function} asks"));
            }
            if let Some(target) = line.strip_suffix("# TAILCALL").and_then(|jump| jump.trim().strip_prefix("jmp\t")) {
                told.insert(format!("{function} jumps to {}", target.trim()));
            }
        }
        told
    };
    let jumps = ["jumps jumps to handed", "second jumps to jumped_to"];
    let expected = |asking: &[&str]| jumps.iter().chain(asking).map(|&told| told.to_owned()).collect::<BTreeSet<_>>();
    let by_themselves = ["by_unprofiled asks", "first asks", "jumped_to asks", "pointed_to asks", "second asks"];
    assert_eq!(told(&[]), expected(&by_themselves));
    let others = ["also asks", "handed asks", "jumps asks"];
    for option in ["--bbprof-without=handing", "--bbprof-exclude-fn=another"] {
        assert_eq!(told(&[option]), expected(&[&by_themselves[..], &others].concat()), "{option}");
    }
}

/// What a loop makes and what is used of it behind the loop need not share a register: the loop has fewer instructions.
#[test]
fn values_leave_loops_by_phis() {
    let sandbox = Sandbox::new("closing");
    let text = "struct local { const char *name; int from, to; };
        const char *name_of(const struct local *locals, int size, int number, int at) {
            for (int i = 0; i < size && locals[i].from <= at; i++)
                if (at < locals[i].to && --number == 0) return locals[i].name;
            return 0;
        }";
    let source = sandbox.write("closing.c", text);
    let instructions_beside_counters = |options: &[&str]| {
        let assembly = Run::new(tool("bbprof-cc")).args(["-O2", "-S", "-o", "-"]).args(options).arg(&source).ok().text();
        assembly.lines().filter(|line| line.starts_with("\t") && !line.starts_with("\t.") && !line.contains("%fs:")).count()
    };
    assert!(instructions_beside_counters(&[]) < instructions_beside_counters(&["--bbprof-without=closing"]));
}

/// Of an interpreter's instructions none jumps to where it is decided which comes next: each ends in a jump of its own.
#[test]
fn each_instruction_of_an_interpreter_jumps_to_the_next() {
    let sandbox = Sandbox::new("dispatches");
    let steps = "a += b,a ^= *pc,b -= a,a *= 3,b = a >> 3,a = b & 255,b |= a,a -= *pc * b,b += *pc,a = -a,b = ~b,a <<= 1";
    let steps: Vec<&str> = steps.split(',').collect();
    let labels: String = (0..24).map(|code| format!("&&op{code}, ")).collect();
    let step = |code: usize| {
        let test = if code.is_multiple_of(3) { format!("b == {code}") } else { "a > b".to_owned() };
        format!("op{code}: if ({test}) seen[{code}]++; {}; pc += 2; NEXT\n", steps[code % 12])
    };
    let text = format!(
        "extern long seen[24];
        #define NEXT {{ unsigned word = *pc; b += word >> 8; goto *table[(word & 255) ^ trace]; }}
        long run(const unsigned *pc, unsigned trace, long a, long b) {{
            static const void *const table[256] = {{ {labels}&&end }};
            NEXT
            {}
            end: return a + b;
        }}",
        (0..24).map(step).collect::<String>()
    );
    let source = sandbox.write("dispatches.c", &text);
    let indirect_jumps = |options: &[&str]| {
        let assembly = Run::new(tool("bbprof-cc")).args(["-O2", "-S", "-o", "-"]).args(options).arg(&source).ok().text();
        assembly.lines().filter(|line| line.trim_start().starts_with("jmpq\t*")).count()
    };
    let (repeated, joined) = (indirect_jumps(&[]), indirect_jumps(&["--bbprof-without=dispatches"]));
    assert!(repeated >= 25 && joined < 25, "{repeated} {joined}");
}

/// What follows from a comparison compares the same again: as in plain code, it is done once.
#[test]
fn counters_stand_behind_what_needs_the_flags() {
    let sandbox = Sandbox::new("flags");
    let text = "_Bool above(const unsigned char *a, const unsigned char *b) {
            if (a[0] != b[0]) return a[0] > b[0];
            if (a[1] != b[1]) return a[1] > b[1];
            if (a[2] != b[2]) return a[2] > b[2];
            return a[3] > b[3];
        }
        long step(long a, long b) { if (a == b) return 7; return a < b ? -1 : 1; }";
    let source = sandbox.write("flags.c", text);
    let comparisons = |compiler: &std::path::Path, options: &[&str]| {
        let assembly = Run::new(compiler).args(["-O2", "-S", "-o", "-"]).args(options).arg(&source).ok().text();
        assembly.lines().filter(|line| line.trim_start().starts_with("cmp")).count()
    };
    assert_eq!(comparisons(&tool("bbprof-cc"), &[]), comparisons("clang-22".as_ref(), &[]));
}

/// LLVM trusts `mktime` to return, and so what calls it; but out of its system calls a signal handler may jump.
#[test]
fn calls_that_make_system_calls_end_their_node() {
    let sandbox = Sandbox::new("system-calls");
    let text = "#include <time.h>
        volatile long sink;
        __attribute__((noinline)) static long seconds(struct tm *time) { return mktime(time) + sink; }
        long twice(struct tm *time) { long first = seconds(time); sink = first; return first; }";
    let (source, object) = (sandbox.write("calls.c", text), sandbox.join("calls.o"));
    Run::new(tool("bbprof-cc")).args(["-O2", "-c", "-o"]).arg(&object).arg(&source).ok();
    let dump = Run::new(tool("bbprof")).args(["dump", "--full"]).arg(&object).ok().text();
    for function in ["seconds", "twice"] {
        let nodes = dump
            .split_once(&format!("function {function} "))
            .and_then(|(_, rest)| rest.lines().find(|line| line.contains(" nodes, ")));
        assert!(nodes.is_some_and(|line| line.contains("1 blocks, 2 nodes, ")), "{function}: {nodes:?}\n{dump}");
    }
}
