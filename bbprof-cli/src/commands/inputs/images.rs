//! The images of profiles: their build maps, each looked for and decoded once.

use super::MapArgs;
use crate::locate::MapFinder;
use anyhow::{Context, Result};
use bbprof_format::BuildId;
use bbprof_format::map::BuildMap;
use bbprof_format::merged::{ImageCounters, MergedProfile};
use bbprof_profile::{Image, Profile};
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Decoded images by build id, and where to look for the others.
#[derive(Debug)]
pub(crate) struct Images {
    finder: MapFinder,
    decoded: HashMap<BuildId, Arc<Image>>,
    /// Whether many processes of one image are to be solved.
    for_many: bool,
}

impl Images {
    /// To solve the counters of one profile; looks in `maps` first.
    pub(super) fn new(maps: &MapArgs) -> Self {
        Self { finder: MapFinder::new(&maps.maps), decoded: HashMap::new(), for_many: false }
    }

    /// To solve the counters of many processes one after the other.
    pub(crate) fn for_many(maps: &MapArgs) -> Self {
        Self { for_many: true, ..Self::new(maps) }
    }

    /// Looks for maps, from now on, near this profile, too: its target directory may have been moved.
    pub(crate) fn look_beside(&mut self, profile: &Path) {
        self.finder.look_beside(profile);
    }

    /// Makes sure that the map of an image can be read, without the work of decoding it.
    pub(super) fn check(&mut self, counters: &ImageCounters) -> Result<()> {
        let (name, map) = self.map_of(counters)?;
        Image::check(&map).context(name)
    }

    /// Makes sure that the counters of an image can be solved.
    pub(crate) fn ensure_decoded(&mut self, counters: &ImageCounters) -> Result<()> {
        self.decode(counters).map(drop)
    }

    /// The image, decoded when first asked for.
    fn decode(&mut self, counters: &ImageCounters) -> Result<Arc<Image>> {
        if let Some(image) = self.decoded.get(&counters.build_id) {
            return Ok(Arc::clone(image));
        }
        let (name, map) = self.map_of(counters)?;
        let image = Image::decode(map).context(name)?;
        let image = Arc::new(if self.for_many { image.for_many() } else { image });
        self.decoded.insert(counters.build_id, Arc::clone(&image));
        Ok(image)
    }

    /// Solves the counters of a profile.
    pub(crate) fn solve(&mut self, merged: MergedProfile) -> Result<Profile> {
        let decoded = merged.images.into_iter().map(|mut counters| {
            let image = self.decode(&counters)?;
            counters.map = None;
            Ok((image, counters))
        });
        let parts = decoded.collect::<Result<Vec<_>>>()?;
        Ok(Profile::of_images(merged.processes, parts)?)
    }

    /// The map that is looked for, undecoded.
    pub(super) fn find(&mut self, counters: &ImageCounters) -> Result<Vec<u8>> {
        let (path, bytes) = self.finder.find(counters.build_id, Path::new(&counters.path))?;
        BuildMap::decode(&bytes).with_context(|| path.display().to_string())?;
        Ok(bytes)
    }

    /// The map of an image, and what to call it: the one in the profile, or the one that is found.
    fn map_of(&mut self, counters: &ImageCounters) -> Result<(String, BuildMap<'static>)> {
        let (name, bytes) = match &counters.map {
            Some(bytes) => (format!("build map in the profile of {}", counters.path), Cow::Borrowed(bytes.as_slice())),
            None => {
                let (path, bytes) = self.finder.find(counters.build_id, Path::new(&counters.path))?;
                (path.display().to_string(), Cow::Owned(bytes))
            }
        };
        let map = BuildMap::decode(&bytes).with_context(|| name.clone())?;
        Ok((name, map))
    }
}
