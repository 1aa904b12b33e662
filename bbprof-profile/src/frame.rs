//! Where code comes from: places in the source, with the chain of calls by which inlining brought it in.

use crate::view::FunctionView;
use crate::{FileId, LocationId};

/// One function of the source at one place in it: the code itself, or where what is inside was inlined.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Frame<'p> {
    /// Linker symbol of the source function (in C its name).
    pub function: &'p str,
    /// The file in which that function begins.
    pub function_file: Option<FileId>,
    /// Line where that function begins; 0 = unknown.
    pub function_line: u32,
    /// The file of the line.
    pub file: Option<FileId>,
    /// The line; 0 = unknown.
    pub line: u32,
    /// The column; 0 = unknown.
    pub column: u32,
    /// DWARF discriminator of the line.
    pub discriminator: u32,
    /// The call that brought it in, when it is inlined.
    pub inlined_at: Option<LocationId>,
}

impl<'p> FunctionView<'p> {
    /// What a location of its module says.
    #[must_use]
    pub fn frame(self, location: LocationId) -> Frame<'p> {
        let location = self.module.location(location);
        Frame {
            function: self.module.string(location.function),
            function_file: self.file_of(location.function_file),
            function_line: location.function_line,
            file: self.file_of(location.file),
            line: location.line,
            column: location.column,
            discriminator: location.discriminator,
            inlined_at: location.inlined_at,
        }
    }

    /// The frames of a location, the innermost first; the last one is this function's own.
    #[must_use]
    pub fn frames(self, location: LocationId) -> Vec<Frame<'p>> {
        // Chains are finite: manifests with circular ones are refused when they are read.
        std::iter::successors(Some(self.frame(location)), |frame| frame.inlined_at.map(|call| self.frame(call))).collect()
    }

    /// File and line of a location.
    #[must_use]
    pub fn file_and_line(self, location: LocationId) -> Option<(FileId, u32)> {
        let frame = self.frame(location);
        frame.file.map(|file| (file, frame.line))
    }
}
