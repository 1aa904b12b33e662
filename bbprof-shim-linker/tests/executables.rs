//! Executables of every kind, by every linker: one copy of each counter, in page-aligned banks, increments landing there.

mod support;

use bbprof_format::image::{FLAG_DELTA, FLAG_STATIC};
use bbprof_format::manifest::Storage;
use support::module::{TestModule, comdat_array};
use support::{LINKERS, Workshop, successful};

const MAIN: &str = "void a1(void); void a2(void); void b1(void); void a_calls_shared(void); void b_calls_shared(void);
    int main(void) { a1(); a2(); a2(); for (int i = 0; i < 5; i++) b1(); a_calls_shared(); b_calls_shared(); b_calls_shared(); return 0; }";

fn two_modules(storage: Storage) -> (TestModule, TestModule) {
    let a = TestModule { comdat_functions: &["shared"], ..TestModule::new("a", storage, &["a1", "a2"]) };
    let b = TestModule { comdat_functions: &["shared"], ..TestModule::new("b", storage, &["b1"]) };
    (a, b)
}

fn workshop(storage: Storage) -> (Workshop, TestModule, TestModule) {
    let workshop = Workshop::new();
    let (a, b) = two_modules(storage);
    workshop.object(&a);
    workshop.object(&b);
    workshop.plain("main.o", MAIN);
    (workshop, a, b)
}

#[test]
fn all_storages_and_linkers() {
    for storage in [Storage::Tls, Storage::Delta, Storage::Shared, Storage::Atomic] {
        let (workshop, a, b) = workshop(storage);
        for (linker, _) in LINKERS {
            for options in ["", "-no-pie", "-static", "-static-pie", "-Wl,--gc-sections", "-Wl,--icf=none -O2"] {
                // bfd folds no code; gold does not know `--no-dynamic-linker`, which clang says for -static-pie.
                if (linker, options) == ("gold", "-static-pie") || (linker == "bfd" && options.contains("icf")) {
                    continue;
                }
                println!("{storage:?} {linker} {options}");
                successful(&mut workshop.clang(linker, &format!("main.o a.o b.o -o app {options}")));
                let counted = workshop.counted("app");
                assert_eq!(counted.array(a.id()), [1, 2]);
                assert_eq!(counted.array(b.id()), [5]);
                assert_eq!(counted.array(comdat_array("shared")), [3]);
                assert_eq!(counted.modules(), [("a.o", true), ("b.o", true)]);
                assert_eq!(counted.flags & FLAG_STATIC != 0, options.contains("-static"));
                assert_eq!(counted.flags & FLAG_DELTA != 0, storage == Storage::Delta);
            }
        }
    }
}
