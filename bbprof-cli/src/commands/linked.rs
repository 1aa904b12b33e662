//! Whether sources may have changed since a program was built, by when it was linked.

use super::sizes::is_build;
use bbprof_profile::Profile;
use bbprof_report::Doubt;
use std::fs;
use std::time::SystemTime;

/// What the images tell of the age of the program.
#[derive(Clone, Copy, Debug)]
pub(super) enum Linked {
    /// When the last of them was linked.
    At(SystemTime),
    /// Another build is in the place of one.
    Again,
    /// None is there any more.
    Unknown,
}

impl Linked {
    pub(super) fn of(profile: &Profile) -> Self {
        let mut linked = Self::Unknown;
        for (path, build_id) in profile.image_builds() {
            let Ok(bytes) = fs::read(path) else { continue };
            let is_that_build = object::File::parse(&*bytes).is_ok_and(|file| is_build(&file, build_id));
            let Ok(modified) = fs::metadata(path).and_then(|image| image.modified()) else { continue };
            linked = match linked {
                _ if !is_that_build => return Self::Again,
                Self::At(other) => Self::At(other.max(modified)),
                _ => Self::At(modified),
            };
        }
        linked
    }

    /// Why a text that was modified then may not be what was built.
    pub(super) fn doubt(self, modified: Option<SystemTime>) -> Option<Doubt> {
        match self {
            Self::At(linked) if modified.is_some_and(|modified| modified > linked) => Some(Doubt::Modified),
            Self::Again => Some(Doubt::BuiltAgain),
            Self::At(_) | Self::Unknown => None,
        }
    }
}

/// What is said of a source where its lines are shown.
pub(super) fn warning(path: &str, doubt: Doubt) -> String {
    match doubt {
        Doubt::Modified => format!("bbprof: {path} was modified after the program was linked; its lines may have moved"),
        Doubt::BuiltAgain => format!("bbprof: the program was built again since it was profiled; lines of {path} may have moved"),
    }
}
