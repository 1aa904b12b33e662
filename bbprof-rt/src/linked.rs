//! The only unsafe part: finds the runtime's functions by weak references, which are null when it is not linked in.
#![allow(unsafe_code)]

use super::{Call, Error};
use std::ffi::{c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{io, ptr, slice};

type Dump = unsafe extern "C" fn(*const c_char) -> c_int;
type Reset = unsafe extern "C" fn() -> c_int;
type Sink = unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> c_int;
type Write = unsafe extern "C" fn(Sink, *mut c_void) -> c_int;

/// Address of a function of the runtime, null if it is not linked in. Weak linkage is not stable in Rust.
macro_rules! weak_address {
    ($name:literal) => {{
        let address: *const ();
        // SAFETY: loads the symbol's entry of the global offset table, which the linker makes for a weak symbol, too.
        unsafe {
            std::arch::asm!(
                concat!(".weak ", $name),
                concat!("mov {}, qword ptr [rip + ", $name, "@GOTPCREL]"),
                out(reg) address,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        address
    }};
}

const ENOSYS: i32 = 38;
const EIO: i32 = 5;

fn result(code: c_int) -> Result<(), Error> {
    match -code {
        0 => Ok(()),
        ENOSYS => Err(Error::NotProfiled),
        code => Err(Error::Io(io::Error::from_raw_os_error(code))),
    }
}

/// What the callback of `bbprof_write` needs.
struct Target<'a> {
    write: &'a mut dyn FnMut(&[u8]) -> io::Result<()>,
    error: Option<io::Error>,
}

/// Hands bytes on; a panic must not pass through the runtime.
unsafe extern "C" fn sink(target: *mut c_void, bytes: *const c_void, num_bytes: usize) -> c_int {
    // SAFETY: `call` passes a `Target` that lives until `bbprof_write` returns, and nobody else uses it meanwhile.
    let target = unsafe { &mut *target.cast::<Target<'_>>() };
    // SAFETY: bbprof.h: `num_bytes` readable bytes, valid for this call.
    let bytes = unsafe { slice::from_raw_parts(bytes.cast::<u8>(), num_bytes) };
    match catch_unwind(AssertUnwindSafe(|| (target.write)(bytes))) {
        Ok(Ok(())) => 0,
        Ok(Err(error)) => {
            target.error = Some(error);
            -EIO
        }
        Err(_) => {
            target.error = Some(io::Error::other("the writer panicked"));
            -EIO
        }
    }
}

pub(crate) fn call(call: Call<'_>) -> Result<(), Error> {
    let address = match call {
        Call::Dump(_) => weak_address!("bbprof_dump"),
        Call::Reset => weak_address!("bbprof_reset"),
        Call::Write(_) => weak_address!("bbprof_write"),
    };
    if address.is_null() {
        return Err(Error::NotProfiled);
    }
    match call {
        Call::Dump(path) => {
            // SAFETY: bbprof.h declares bbprof_dump with this signature.
            let dump = unsafe { std::mem::transmute::<*const (), Dump>(address) };
            // SAFETY: a terminated path or null, as bbprof.h asks.
            result(unsafe { dump(path.map_or(ptr::null(), |path| path.as_ptr())) })
        }
        Call::Reset => {
            // SAFETY: bbprof.h declares bbprof_reset with this signature.
            let reset = unsafe { std::mem::transmute::<*const (), Reset>(address) };
            // SAFETY: it has no preconditions.
            result(unsafe { reset() })
        }
        Call::Write(write) => {
            // SAFETY: bbprof.h declares bbprof_write with this signature.
            let function = unsafe { std::mem::transmute::<*const (), Write>(address) };
            let mut target = Target { write, error: None };
            // SAFETY: `sink` takes what it is given here: `target`, which outlives the call.
            let code = unsafe { function(sink, (&raw mut target).cast()) };
            target.error.map_or_else(|| result(code), |error| Err(Error::Io(error)))
        }
    }
}
