//! Functions without counts: those that were not instrumented, and those whose counters are none to rely on.
//!
//! A call by name reaches a function of the caller's module, else one of its image, else whichever the dynamic linker finds. One
//! without counts is as good as any: then no other of its name is called.

use crate::profile::ProfiledImage;
use crate::{Inexact, Profile};
use bbprof_format::manifest::Linkage;
use std::collections::HashSet;

/// From where a function is called by its name: from one module of an image, from all of one (by position), from everywhere.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Visibility {
    Module(usize, u32),
    Image(usize),
    Everywhere,
}

impl Visibility {
    /// That of a function in this module of this image.
    pub(crate) fn of(linkage: Linkage, image: usize, module: u32) -> Self {
        match linkage {
            Linkage::Internal => Self::Module(image, module),
            Linkage::Hidden => Self::Image(image),
            Linkage::External | Linkage::Comdat => Self::Everywhere,
        }
    }
}

/// The functions of a profile that have no counts, by name.
#[derive(Default)]
pub(crate) struct Uncounted<'p> {
    /// Those that not all images see.
    local: HashSet<(Visibility, &'p str)>,
    /// The others, by the position of their image.
    of_images: HashSet<(usize, &'p str)>,
}

impl<'p> Uncounted<'p> {
    /// `is_inexact` gives those functions of an image whose counts are none, or not to be relied on.
    pub(crate) fn of(profile: &'p Profile, inexact: impl Fn(&'p ProfiledImage) -> Vec<&'p Inexact>) -> Self {
        let mut uncounted = Self::default();
        for (image, profiled) in profile.images.iter().enumerate() {
            for (position, linked) in profiled.modules() {
                for skipped in &linked.module.skipped {
                    // What another module holds is looked for there.
                    if let Some(linkage) = skipped.linkage {
                        uncounted.add(linkage, image, position, linked.module.string(skipped.symbol));
                    }
                }
            }
            for inexact in inexact(profiled) {
                let module = &profiled.image.modules[inexact.module as usize].module;
                let function = &module.functions[inexact.function as usize];
                uncounted.add(function.linkage, image, inexact.module, module.string(function.symbol));
            }
        }
        uncounted
    }

    fn add(&mut self, linkage: Linkage, image: usize, module: u32, symbol: &'p str) {
        match Visibility::of(linkage, image, module) {
            Visibility::Everywhere => self.of_images.insert((image, symbol)),
            visibility => self.local.insert((visibility, symbol)),
        };
    }

    /// Whether there is one of this name that only a module or an image sees.
    pub(crate) fn has(&self, visibility: Visibility, symbol: &str) -> bool {
        self.local.contains(&(visibility, symbol))
    }

    /// Whether this image has one of this name that all see.
    pub(crate) fn has_image(&self, image: usize, symbol: &str) -> bool {
        self.of_images.contains(&(image, symbol))
    }
}
