//! Whether sources may have changed since a program was built, by when it was linked.

use super::sizes::is_build;
use bbprof_profile::Profile;
use bbprof_report::Doubt;
use std::collections::HashSet;
use std::fs;
use std::time::SystemTime;

/// What the images tell of their age.
#[derive(Debug)]
pub(super) struct Linked<'p> {
    /// Of those that are still there: the sources of each, and when it was linked; `None` = another build is in its place.
    images: Vec<(HashSet<&'p str>, Option<SystemTime>)>,
}

impl<'p> Linked<'p> {
    pub(super) fn of(profile: &'p Profile) -> Self {
        let mut images = Vec::new();
        for (path, build_id, sources) in profile.image_builds() {
            let Ok(bytes) = fs::read(path) else { continue };
            let is_that_build = object::File::parse(&*bytes).is_ok_and(|file| is_build(&file, build_id));
            let Ok(modified) = fs::metadata(path).and_then(|image| image.modified()) else { continue };
            images.push((sources, is_that_build.then_some(modified)));
        }
        Self { images }
    }

    /// Why the text of this source, which was modified then, may not be what was built: in one of the images that have code of it.
    pub(super) fn doubt(&self, source: &str, modified: Option<SystemTime>) -> Option<Doubt> {
        let images = || self.images.iter().filter(|(sources, _)| sources.contains(source)).map(|(_, linked)| linked);
        if images().any(Option::is_none) {
            return Some(Doubt::BuiltAgain);
        }
        let is_newer = modified.is_some_and(|modified| images().flatten().any(|linked| modified > *linked));
        is_newer.then_some(Doubt::Modified)
    }
}

/// What is said of a source where its lines are shown.
pub(super) fn warning(path: &str, doubt: Doubt) -> String {
    match doubt {
        Doubt::Modified => format!("bbprof: {path} was modified after the program was linked; its lines may have moved"),
        Doubt::BuiltAgain => format!("bbprof: the program was built again since it was profiled; lines of {path} may have moved"),
    }
}
