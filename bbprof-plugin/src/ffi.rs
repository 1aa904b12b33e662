//! The boundary to the glue: raw structures in, raw structures out, no unwinding across.
#![allow(unsafe_code)]
// The C ABI functions are reached from the glue alone, never from a Rust crate.
#![allow(unreachable_pub)]

use crate::doctest::Doctest;
use crate::options::Options;
use crate::planner::{ModulePlan, plan_module};
use crate::view::{self, Alias, Block, Call, Checksum, IrPathStep, IrPlace, IrSite, Location, Loop, Successor, TightLoop};
use bbprof_format::frequencies::Frequencies;
use bbprof_format::manifest::Storage;
use std::borrow::Cow;
use std::ffi::{CStr, CString, OsStr, c_char};
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::OnceLock;

#[repr(C)]
#[derive(Clone, Copy)]
struct Text {
    data: *const u8,
    size_bytes: u64,
}

#[repr(C)]
struct FunctionView {
    symbol: u32,
    linkage: u32,
    unit: u32,
    file: u32,
    line: u32,
    skip_reason: u32,
    exact: u32,
    reserved: u32,
    blocks: *const Block,
    num_blocks: u64,
    opcodes: *const u8,
    instruction_locations: *const u32,
    ir: *const u32,
    num_instructions: u64,
    calls: *const Call,
    num_calls: u64,
    successors: *const Successor,
    num_successors: u64,
    loops: *const Loop,
    num_loops: u64,
    tight_loops: *const TightLoop,
    num_tight_loops: u64,
    loop_blocks: *const u32,
    num_loop_blocks: u64,
}

/// `BbprofModuleView`.
#[repr(C)]
pub struct ModuleView {
    source: Text,
    directory: Text,
    llvm_version: Text,
    pic_without_pie: u32,
    reserved: u32,
    strings: *const Text,
    num_strings: u64,
    locations: *const Location,
    num_locations: u64,
    checksums: *const Checksum,
    num_checksums: u64,
    opcode_names: *const u32,
    num_opcodes: u64,
    functions: *const FunctionView,
    num_functions: u64,
    aliases: *const Alias,
    num_aliases: u64,
}

#[repr(C)]
struct ArrayOut {
    symbol: Text,
    num_counters: u32,
    reserved: u32,
}

#[repr(C)]
struct FunctionPlanOut {
    array: u32,
    first_counter: u32,
    sites: *const IrSite,
    num_sites: u64,
    path_steps: *const IrPathStep,
    num_path_steps: u64,
    branch_weights: *const u32,
    num_branch_weights: u64,
    hashes_paths: u32,
    holds_addresses: u32,
}

/// `BbprofModulePlan`.
#[repr(C)]
pub struct ModulePlanOut {
    error: Text,
    storage: u32,
    closes_loops: u32,
    repeats_dispatches: u32,
    reserved: u32,
    marker_symbol: Text,
    manifest: Text,
    arrays: *const ArrayOut,
    num_arrays: u64,
    functions: *const FunctionPlanOut,
    num_functions: u64,
    owner: *mut Owner,
}

/// What the pointers of a [`ModulePlanOut`] point into.
struct Owner {
    plan: Result<ModulePlan, String>,
    arrays: Vec<ArrayOut>,
    functions: Vec<FunctionPlanOut>,
}

const _: () = {
    assert!(size_of::<Text>() == 16 && size_of::<Location>() == 32 && size_of::<Call>() == 20);
    assert!(
        size_of::<Successor>() == 16
            && size_of::<Block>() == 48
            && size_of::<FunctionView>() == 160
            && size_of::<Loop>() == 24
            && size_of::<TightLoop>() == 32
    );
    assert!(
        size_of::<ModuleView>() == 152
            && size_of::<Alias>() == 12
            && size_of::<Checksum>() == 8
            && size_of::<IrPlace>() == 12
            && size_of::<IrSite>() == 24
    );
    assert!(
        size_of::<ArrayOut>() == 24
            && size_of::<FunctionPlanOut>() == 64
            && size_of::<IrPathStep>() == 24
            && size_of::<ModulePlanOut>() == 104
    );
};

static OPTIONS: OnceLock<Result<Options, CString>> = OnceLock::new();

/// Reads the file `options` beside the plugin. Null on success, else a message.
///
/// # Safety
/// `plugin_path` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bbprof_load_options(plugin_path: *const c_char) -> *const c_char {
    // SAFETY: the caller passes a C string that lives during the call.
    let path = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(plugin_path) }.to_bytes()));
    let loaded = OPTIONS.get_or_init(|| read_options(path).map_err(|e| message(&format!("bbprof: {e}"))));
    match loaded {
        Ok(_) => std::ptr::null(),
        Err(message) => message.as_ptr(),
    }
}

fn read_options(plugin: &Path) -> Result<Options, String> {
    let file = plugin.with_file_name("options");
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(e) => return Err(format!("{}: {e}", file.display())),
    };
    let mut options = Options::parse(&text).map_err(|e| format!("{}: {e}", file.display()))?;
    if let Some(file) = &options.weights {
        let bytes = std::fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?;
        let frequencies = Frequencies::decode(&bytes).map_err(|e| format!("{}: {e}", file.display()))?;
        options.frequencies = Some(frequencies);
    }
    options.doctest = Doctest::from_environment();
    options.is_incremental = std::env::var_os("BBPROF_INCREMENTAL").is_some();
    Ok(options)
}

fn message(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).expect("zero bytes were replaced")
}

fn options() -> Result<&'static Options, String> {
    match OPTIONS.get() {
        Some(Ok(options)) => Ok(options),
        Some(Err(message)) => Err(message.to_string_lossy().into_owned()),
        None => Err("the options were never loaded".to_owned()),
    }
}

/// Whether the IR text is wanted in the manifest: 1 or 0.
#[unsafe(no_mangle)]
pub extern "C" fn bbprof_wants_ir() -> u32 {
    u32::from(options().is_ok_and(|options| options.ir))
}

/// Whether counters are placed by more than what LLVM guesses: 1 or 0.
#[unsafe(no_mangle)]
pub extern "C" fn bbprof_wants_guesses() -> u32 {
    u32::from(options().is_ok_and(|options| !options.without.guesses))
}

/// Whether functions of a module hand each other where their thread's counters are: 1 or 0.
#[unsafe(no_mangle)]
pub extern "C" fn bbprof_hands_counters(pic_without_pie: u32) -> u32 {
    // What the user leaves out gets no code of ours, not even what asks.
    let hands = |options: &Options| {
        options.storage_of(pic_without_pie != 0) == Storage::Delta && !options.without.handing && !options.selects_functions()
    };
    u32::from(options().is_ok_and(hands))
}

/// The slice behind a pointer and a length.
///
/// # Safety
/// `data` points to `len` initialised values that live for `'a`; null is allowed when `len` is 0.
unsafe fn slice<'a, T>(data: *const T, len: u64) -> &'a [T] {
    if len == 0 || data.is_null() {
        return &[];
    }
    // SAFETY: promised by the caller.
    unsafe { std::slice::from_raw_parts(data, len as usize) }
}

/// # Safety
/// As for [`slice`].
unsafe fn text<'a>(text: Text) -> Cow<'a, str> {
    // SAFETY: promised by the caller.
    readable(unsafe { slice(text.data, text.size_bytes) })
}

/// Names of symbols and files need not be UTF-8: what is not stands there as
/// [`char::REPLACEMENT_CHARACTER`] and the byte, so that different names stay different.
fn readable(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let part = |chunk: std::str::Utf8Chunk<'_>| {
        let rest: String = chunk.invalid().iter().map(|byte| format!("{}{byte:02x}", char::REPLACEMENT_CHARACTER)).collect();
        chunk.valid().to_owned() + &rest
    };
    Cow::Owned(bytes.utf8_chunks().map(part).collect())
}

/// Plans a module. Never null; to be freed with [`bbprof_free_plan`].
///
/// # Safety
/// `raw` and everything it points to is as `glue/plan_abi.h` says and lives during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bbprof_plan_module(raw: *const ModuleView) -> *const ModulePlanOut {
    let planned = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: promised by the caller; the lengths belong to the pointers.
        let module = unsafe {
            let raw = &*raw;
            let functions = slice(raw.functions, raw.num_functions);
            view::Module {
                source: text(raw.source),
                directory: text(raw.directory),
                llvm_version: text(raw.llvm_version),
                pic_without_pie: raw.pic_without_pie != 0,
                strings: slice(raw.strings, raw.num_strings).iter().map(|t| text(*t).into_owned()).collect(),
                locations: slice(raw.locations, raw.num_locations),
                checksums: slice(raw.checksums, raw.num_checksums),
                aliases: slice(raw.aliases, raw.num_aliases),
                opcode_names: slice(raw.opcode_names, raw.num_opcodes),
                functions: functions
                    .iter()
                    .map(|f| view::Function {
                        symbol: f.symbol,
                        linkage: f.linkage,
                        unit: f.unit,
                        file: f.file,
                        line: f.line,
                        skip_reason: f.skip_reason,
                        exact: f.exact != 0,
                        blocks: slice(f.blocks, f.num_blocks),
                        opcodes: slice(f.opcodes, f.num_instructions),
                        instruction_locations: slice(f.instruction_locations, f.num_instructions),
                        ir: slice(f.ir, if f.ir.is_null() { 0 } else { f.num_instructions }),
                        calls: slice(f.calls, f.num_calls),
                        successors: slice(f.successors, f.num_successors),
                        loops: slice(f.loops, f.num_loops),
                        tight_loops: slice(f.tight_loops, f.num_tight_loops),
                        loop_blocks: slice(f.loop_blocks, f.num_loop_blocks),
                    })
                    .collect(),
            }
        };
        plan_module(&module, options()?)
    }));
    let plan = planned.unwrap_or_else(|_| Err("the planner panicked; this is a bug in bbprof".to_owned()));
    Box::into_raw(Box::new(export(plan)))
}

fn as_text(bytes: &[u8]) -> Text {
    Text { data: bytes.as_ptr(), size_bytes: bytes.len() as u64 }
}

fn export(plan: Result<ModulePlan, String>) -> ModulePlanOut {
    let mut owner = Box::new(Owner { plan, arrays: Vec::new(), functions: Vec::new() });
    let empty = as_text(&[]);
    let mut out = ModulePlanOut {
        error: empty,
        storage: 0,
        closes_loops: 0,
        repeats_dispatches: 0,
        reserved: 0,
        marker_symbol: empty,
        manifest: empty,
        arrays: std::ptr::null(),
        num_arrays: 0,
        functions: std::ptr::null(),
        num_functions: 0,
        owner: std::ptr::null_mut(),
    };
    match &owner.plan {
        Err(error) => out.error = as_text(error.as_bytes()),
        Ok(plan) => {
            owner.arrays = plan
                .arrays
                .iter()
                .map(|(name, len)| ArrayOut { symbol: as_text(name.as_bytes()), num_counters: *len, reserved: 0 })
                .collect();
            owner.functions = plan
                .functions
                .iter()
                .map(|f| FunctionPlanOut {
                    array: f.array,
                    first_counter: f.first_counter,
                    sites: f.sites.as_ptr(),
                    num_sites: f.sites.len() as u64,
                    path_steps: f.path_steps.as_ptr(),
                    num_path_steps: f.path_steps.len() as u64,
                    branch_weights: f.branch_weights.as_ptr(),
                    num_branch_weights: f.branch_weights.len() as u64,
                    hashes_paths: u32::from(f.hashes_paths),
                    holds_addresses: u32::from(f.holds_addresses),
                })
                .collect();
            out.storage = plan.storage as u32;
            out.closes_loops = u32::from(plan.closes_loops);
            out.repeats_dispatches = u32::from(plan.repeats_dispatches);
            out.marker_symbol = as_text(plan.marker_symbol.as_bytes());
            out.manifest = as_text(&plan.manifest);
        }
    }
    out.arrays = owner.arrays.as_ptr();
    out.num_arrays = owner.arrays.len() as u64;
    out.functions = owner.functions.as_ptr();
    out.num_functions = owner.functions.len() as u64;
    out.owner = Box::into_raw(owner);
    out
}

/// Frees a plan.
///
/// # Safety
/// `plan` comes from [`bbprof_plan_module`] and was not freed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bbprof_free_plan(plan: *const ModulePlanOut) {
    // SAFETY: both were made by Box::into_raw, and the caller frees once.
    unsafe {
        let plan = Box::from_raw(plan.cast_mut());
        drop(Box::from_raw(plan.owner));
    }
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn names_that_are_no_text_stay_apart() {
        assert_eq!(readable("größe".as_bytes()), "größe");
        assert_eq!(readable(b"f\xfe\xffg"), "f\u{fffd}fe\u{fffd}ffg");
        assert_eq!(readable(b"\xc3"), "\u{fffd}c3");
    }
}
