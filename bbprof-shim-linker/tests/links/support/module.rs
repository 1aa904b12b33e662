//! Instrumented objects, as the plugin emits them.

use super::{CLANG, Workshop, successful};
use bbprof_format::Digest;
use bbprof_format::manifest::{ArrayHeader, CounterMode, Manifest, Module, Storage};
use bbprof_format::names::{DELTA_SYMBOL, THREAD_BLOCK_SYMBOL, counter_array_symbol, marker_symbol};
use std::fmt::Write;
use std::fs;

/// A module whose functions each count their calls.
pub(crate) struct TestModule {
    /// Module, source and object (`NAME.o`) are called so.
    pub(crate) name: &'static str,
    pub(crate) storage: Storage,
    /// Its own functions, a counter each.
    pub(crate) functions: &'static [&'static str],
    /// Functions that other modules may define as well, an array of one counter each.
    pub(crate) comdat_functions: &'static [&'static str],
}

/// The array of a COMDAT function.
pub(crate) fn comdat_array(function: &str) -> Digest {
    Digest::of(format!("comdat {function}").as_bytes())
}

impl TestModule {
    pub(crate) fn new(name: &'static str, storage: Storage, functions: &'static [&'static str]) -> Self {
        Self { name, storage, functions, comdat_functions: &[] }
    }

    pub(crate) fn manifest(&self) -> Vec<u8> {
        let module = Module {
            producer: "test".to_owned(),
            source: self.name.to_owned(),
            directory: String::new(),
            mode: CounterMode::Edges,
            strings: Vec::new(),
            locations: Vec::new(),
            checksums: Vec::new(),
            functions: Vec::new(),
            skipped: Vec::new(),
            aliases: Vec::new(),
        };
        let arrays: Vec<ArrayHeader> =
            self.comdat_functions.iter().map(|function| ArrayHeader { name: comdat_array(function), len: 1 }).collect();
        Manifest::encode(&module, self.storage, self.functions.len() as u32, &arrays)
    }

    /// Name of its own array, which is its id.
    pub(crate) fn id(&self) -> Digest {
        Manifest::read(&self.manifest()).unwrap().header.module_id
    }

    pub(crate) fn ir(&self, manifest: &[u8]) -> String {
        let mut ir = String::from("target triple = \"x86_64-unknown-linux-gnu\"\n");
        let marker = marker_symbol(self.id());
        let _ = writeln!(ir, "@{marker} = weak hidden constant [0 x i8] zeroinitializer, section \".bbprof.marker\"");
        let text: String = manifest.iter().map(|byte| format!("\\{byte:02x}")).collect();
        let _ = writeln!(
            ir,
            "@manifest = private constant [{} x i8] c\"{text}\", section \".bbprof.manifest\", align 8, !exclude !0",
            manifest.len()
        );
        let _ = writeln!(
            ir,
            "@llvm.compiler.used = appending global [2 x ptr] [ptr @manifest, ptr @{marker}], section \"llvm.metadata\""
        );
        if self.storage == Storage::Delta {
            let _ = writeln!(ir, "${DELTA_SYMBOL} = comdat any");
            let _ = writeln!(ir, "@{DELTA_SYMBOL} = weak hidden thread_local(initialexec) global i64 0, comdat, align 8");
            let _ = writeln!(ir, "declare extern_weak dso_local hidden void @{THREAD_BLOCK_SYMBOL}()");
        }
        ir.push_str("declare ptr @llvm.threadlocal.address.p0(ptr)\n");
        self.array(&mut ir, &counter_array_symbol(self.id()), self.functions.len());
        for (counter, function) in self.functions.iter().enumerate() {
            self.function(&mut ir, &format!("void @{function}()"), &counter_array_symbol(self.id()), counter);
        }
        for function in self.comdat_functions {
            let array = counter_array_symbol(comdat_array(function));
            self.array(&mut ir, &array, 1);
            let _ = writeln!(ir, "${function} = comdat any");
            self.function(&mut ir, &format!("linkonce_odr hidden void @{function}() noinline comdat"), &array, 0);
            let _ = writeln!(ir, "define void @{}_calls_{function}() {{\n call void @{function}()\n ret void\n}}", self.name);
        }
        ir.push_str("!0 = !{}\n");
        ir
    }

    fn array(&self, ir: &mut String, symbol: &str, len: usize) {
        let (kind, section) = match self.storage {
            Storage::Tls => ("thread_local(localexec) ", ".tbss.bbprof"),
            _ => ("", ".bss.bbprof"),
        };
        let _ = writeln!(ir, "${symbol} = comdat any");
        let _ = writeln!(
            ir,
            "@{symbol} = weak hidden {kind}global [{len} x i64] zeroinitializer, section \"{section}\", comdat, align 8"
        );
    }

    fn function(&self, ir: &mut String, head: &str, array: &str, counter: usize) {
        let _ = writeln!(ir, "define {head} {{");
        match self.storage {
            Storage::Tls => {
                let _ = writeln!(ir, " %a = call ptr @llvm.threadlocal.address.p0(ptr @{array})");
            }
            Storage::Shared | Storage::Atomic => {
                let _ = writeln!(ir, " %a = getelementptr i64, ptr @{array}, i64 0");
            }
            Storage::Delta => {
                let _ = writeln!(
                    ir,
                    " %t = call ptr @llvm.threadlocal.address.p0(ptr @{DELTA_SYMBOL})\n %d0 = load i64, ptr %t\n \
                     %p = ptrtoint ptr @{array} to i64\n %s0 = add i64 %p, %d0\n\
                     %new = icmp slt i64 %s0, 0\n br i1 %new, label %get, label %old\n\
                     get:\n %s1 = call i64 asm sideeffect \"leaq 1f(%rip), %r11\\0Ajmp ${{1:P}}\\0A1: addq %rax, $0\", \
                     \"=r,i,0,~{{rax}},~{{r11}},~{{flags}},~{{memory}}\"(ptr @{THREAD_BLOCK_SYMBOL}, i64 %s0)\n br label %go\n\
                     old:\n br label %go\n\
                     go:\n %s = phi i64 [ %s1, %get ], [ %s0, %old ]\n %a = inttoptr i64 %s to ptr"
                );
            }
        }
        let _ = writeln!(
            ir,
            " %c = getelementptr i64, ptr %a, i64 {counter}\n %o = load i64, ptr %c\n %n = add i64 %o, 1\n \
             store i64 %n, ptr %c\n ret void\n}}"
        );
    }
}

impl Workshop {
    /// Compiles an instrumented module to `NAME.o`.
    pub(crate) fn object(&self, module: &TestModule) {
        self.object_with_manifest(module, &module.manifest(), &[]);
    }

    /// The same with another manifest, or more arguments.
    pub(crate) fn object_with_manifest(&self, module: &TestModule, manifest: &[u8], arguments: &[&str]) {
        let source = self.path(format!("{}.ll", module.name));
        fs::write(&source, module.ir(manifest)).unwrap();
        let model = if module.storage == Storage::Tls { "-fPIE" } else { "-fPIC" };
        let output = format!("{}.o", module.name);
        let mut command = self.command(CLANG);
        command.args(["-O1", "-ffunction-sections", "-Wno-override-module", model, "-c", "-o", &output]);
        successful(command.args(arguments).arg(&source));
    }
}
