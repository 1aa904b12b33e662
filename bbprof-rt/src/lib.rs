//! What a Rust program may ask of the bbprof runtime (`bbprof-rt/c`) it is linked with.
//!
//! Each call covers the whole process: the program and every profiled shared library. In a program that is not profiled they
//! do nothing and return [`Error::NotProfiled`], so calls may stay in the code:
//!
//! ```
//! # fn handle_requests() {}
//! let _ = bbprof_rt::reset();
//! handle_requests();
//! match bbprof_rt::dump("requests.bbraw") {
//!     Ok(()) | Err(bbprof_rt::Error::NotProfiled) => {}
//!     Err(error) => eprintln!("requests.bbraw: {error}"),
//! }
//! ```

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod linked;
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
mod linked {
    //! There is no runtime for this target.
    use super::{Call, Error};
    pub(crate) fn call(_: Call<'_>) -> Result<(), Error> {
        Err(Error::NotProfiled)
    }
}

use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::{fmt, io};

/// Why nothing was written.
#[derive(Debug)]
pub enum Error {
    /// The program is not profiled, or `BBPROF_OFF` is set.
    NotProfiled,
    /// The system refused.
    Io(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotProfiled => write!(f, "this process is not profiled (built without bbprof, or BBPROF_OFF is set)"),
            Self::Io(error) => write!(f, "cannot write the profile: {error}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NotProfiled => None,
            Self::Io(error) => Some(error),
        }
    }
}

/// One of the runtime's functions with its argument.
enum Call<'a> {
    /// `bbprof_dump`.
    Dump(Option<&'a CStr>),
    /// `bbprof_reset`.
    Reset,
    /// `bbprof_write`.
    Write(&'a mut dyn FnMut(&[u8]) -> io::Result<()>),
}

/// Writes the counts so far, complete with length and checksum.
///
/// # Errors
/// The program is not profiled, the file cannot be written, or it is the process's own raw profile, which has all counts anyway.
pub fn dump(path: impl AsRef<Path>) -> Result<(), Error> {
    let path = CString::new(path.as_ref().as_os_str().as_bytes());
    let path = path.map_err(|error| Error::Io(io::Error::new(io::ErrorKind::InvalidInput, error)))?;
    linked::call(Call::Dump(Some(&path)))
}

/// As [`dump`], beside the raw profile of the process, with a running number in its name.
///
/// # Errors
/// The program is not profiled, or the file cannot be written.
pub fn dump_numbered() -> Result<(), Error> {
    linked::call(Call::Dump(None))
}

/// As [`dump`], to a writer.
///
/// # Errors
/// The program is not profiled, or the writer fails.
pub fn write(mut writer: impl io::Write) -> Result<(), Error> {
    linked::call(Call::Write(&mut |bytes| writer.write_all(bytes)))
}

/// From now on all dumps and the raw profile count from here.
///
/// # Errors
/// The program is not profiled, there is no memory left, or the counts up to here find no place
/// in the raw profile; see `bbprof.h`. Nothing changes then.
pub fn reset() -> Result<(), Error> {
    linked::call(Call::Reset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_the_runtime_nothing_happens() {
        assert!(matches!(dump("/nonexistent/x"), Err(Error::NotProfiled)));
        assert!(matches!(dump_numbered(), Err(Error::NotProfiled)));
        assert!(matches!(reset(), Err(Error::NotProfiled)));
        let mut bytes = Vec::new();
        assert!(matches!(write(&mut bytes), Err(Error::NotProfiled)));
        assert!(bytes.is_empty());
        assert!(matches!(dump("a\0b"), Err(Error::Io(_))));
    }
}
