//! Executed instructions by stack of inlined functions: what flame graphs draw. The outermost frame is a function of the program.

use crate::names::Demangled;
use bbprof_profile::{FileId, FunctionView, Profile};
use std::collections::BTreeMap;

/// One frame of a stack.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct StackFrame {
    /// Demangled.
    pub(crate) name: String,
    pub(crate) file: Option<FileId>,
    /// Where the function begins; 0 = unknown.
    pub(crate) line: u32,
}

/// The stacks of the functions of one image, outermost frame first, each once, with executed instructions.
pub(crate) type Stacks = BTreeMap<Vec<StackFrame>, u128>;

/// Stacks by image, in the order of the profile.
pub(crate) fn stacks(profile: &Profile) -> Vec<(&str, Stacks)> {
    let mut names = Demangled::default();
    let mut images: Vec<(&str, Stacks)> = profile.image_paths().map(|path| (path, Stacks::new())).collect();
    let builds: Vec<_> = profile.image_builds().map(|(_, build_id, _)| build_id).collect();
    let mut image = 0;
    for function in profile.functions().filter(|function| function.is_executed()) {
        // Functions come by image; two images may have one path.
        while builds[image] != function.build_id() {
            image += 1;
        }
        for (location, instructions) in function.instructions_by_location() {
            let stack = stack_of(function, location, &mut names);
            *images[image].1.entry(stack).or_default() += instructions;
        }
    }
    images
}

fn stack_of<'p>(
    function: FunctionView<'p>,
    location: Option<bbprof_profile::LocationId>,
    names: &mut Demangled<'p>,
) -> Vec<StackFrame> {
    let mut stack = vec![StackFrame { name: function.name().to_owned(), file: function.file(), line: function.line() }];
    let frames = location.map_or_else(Vec::new, |location| function.frames(location));
    // The last frame is the function itself.
    for frame in frames.iter().rev().skip(1) {
        stack.push(StackFrame {
            name: names.name(frame.function).to_owned(),
            file: frame.function_file,
            line: frame.function_line,
        });
    }
    stack
}
