//! Whether sources have changed since a program was built: by their checksums, where
//! compilers tell these; else by when it was linked.

use super::sizes::is_build;
use super::sources::Source;
use crate::messages::tell;
use bbprof_format::BuildId;
use bbprof_profile::Profile;
use bbprof_report::{Doubt, SourceText};
use md5::{Digest, Md5};
use std::collections::{BTreeMap, HashSet};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::SystemTime;
use std::{fs, io};

/// Sources that are named one by one.
const MOST_TOLD: usize = 5;

/// What the images tell of their sources and their age.
#[derive(Debug)]
pub(super) struct Linked<'p> {
    profile: &'p Profile,
    /// Read when a source has no checksum.
    images: OnceLock<Vec<LinkedImage<'p>>>,
}

/// Of an image that is still there: its sources, and when it was linked; `None` = another build is in its place.
type LinkedImage<'p> = (HashSet<&'p str>, Option<SystemTime>);

impl<'p> Linked<'p> {
    pub(super) fn of(profile: &'p Profile) -> Self {
        Self { profile, images: OnceLock::new() }
    }

    fn images(&self) -> &[LinkedImage<'p>] {
        self.images.get_or_init(|| {
            let linked = |(path, build_id, sources): (&'p str, BuildId, HashSet<&'p str>)| {
                let bytes = fs::read(path).ok()?;
                let is_that_build = object::File::parse(&*bytes).is_ok_and(|file| is_build(&file, build_id));
                let modified = fs::metadata(path).and_then(|image| image.modified()).ok()?;
                Some((sources, is_that_build.then_some(modified)))
            };
            self.profile.image_builds().filter_map(linked).collect()
        })
    }

    /// Why this text of a source may not be what was built: in one of the images that have code of it.
    pub(super) fn doubt(&self, path: &str, source: &Source) -> Option<Doubt> {
        if let Some(md5s) = self.profile.files.md5s(path) {
            let md5: String = Md5::digest(&source.bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            return md5s.iter().any(|compiled| *compiled != md5).then_some(Doubt::Differs);
        }
        let images = || self.images().iter().filter(|(sources, _)| sources.contains(path)).map(|(_, linked)| linked);
        if images().any(Option::is_none) {
            return Some(Doubt::BuiltAgain);
        }
        let is_newer = source.modified.is_some_and(|modified| images().flatten().any(|linked| modified > *linked));
        is_newer.then_some(Doubt::Modified)
    }
}

/// What is said of a source where its lines are shown.
pub(super) fn warning(path: &str, doubt: Doubt) -> String {
    match doubt {
        Doubt::Differs => format!("{path} is not the text that was compiled; its lines may have moved"),
        Doubt::Modified => format!("{path} was modified after the program was linked; its lines may have moved"),
        Doubt::BuiltAgain => format!("the program was built again since it was profiled; lines of {path} may have moved"),
    }
}

/// Reads sources, in any order and by several threads, and keeps what is to be said of them.
#[derive(Debug)]
pub(super) struct DoubtingReader<'p> {
    linked: Linked<'p>,
    /// Sources that changed; of a program that was built again, each might have.
    changed: Mutex<BTreeMap<String, Doubt>>,
}

impl<'p> DoubtingReader<'p> {
    pub(super) fn of(profile: &'p Profile) -> Self {
        Self { linked: Linked::of(profile), changed: Mutex::default() }
    }

    /// # Errors
    /// When the source cannot be read.
    pub(super) fn read(&self, path: &str) -> io::Result<SourceText> {
        let source = Source::read(path)?;
        let doubt = self.linked.doubt(path, &source);
        if let Some(doubt @ (Doubt::Differs | Doubt::Modified)) = doubt {
            self.changed.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), doubt);
        }
        Ok(SourceText { text: source.text(), doubt })
    }

    /// Says which sources changed, on stderr.
    pub(super) fn tell(self) {
        let changed = self.changed.into_inner().unwrap_or_else(PoisonError::into_inner);
        changed.iter().take(MOST_TOLD).for_each(|(path, doubt)| tell!("{}", warning(path, *doubt)));
        if changed.len() > MOST_TOLD {
            tell!("... and {} sources more", changed.len() - MOST_TOLD);
        }
    }
}
