//! What a linked program counted, by its raw profile and build map.

use super::{Workshop, successful};
use bbprof_format::Digest;
use bbprof_format::manifest::Manifest;
use bbprof_format::map::{ArrayPlacement, Bank, BuildMap};
use bbprof_format::raw::{Fate, RawProfile, State};
use std::collections::BTreeMap;
use std::fs;

/// The counts of one image.
pub(crate) struct Counted {
    pub(crate) map: BuildMap<'static>,
    pub(crate) by_array: BTreeMap<Digest, Vec<u64>>,
    pub(crate) presence: Vec<bool>,
    pub(crate) flags: u32,
}

impl Workshop {
    pub(crate) fn map(&self, output: &str) -> BuildMap<'static> {
        BuildMap::decode(&fs::read(self.path(format!("{output}.bbmap"))).unwrap()).unwrap()
    }

    /// Runs a program that is linked from instrumented objects.
    pub(crate) fn counted(&self, program: &str) -> Counted {
        self.counted_in(program, &[program]).remove(0)
    }

    /// Runs a program and tells what was counted in these images.
    pub(crate) fn counted_in(&self, program: &str, images: &[&str]) -> Vec<Counted> {
        let raw = self.path("raw");
        let _ = fs::remove_file(&raw);
        successful(self.command(self.path(program)).env("BBPROF_OUT", &raw));
        let raw = RawProfile::read(&fs::read(raw).unwrap()).unwrap();
        assert!(
            raw.state == State::Complete && matches!(raw.ending.fate, Fate::Exit { status: None | Some(0) }),
            "{:?}",
            raw.ending.fate
        );
        images.iter().map(|image| self.image(image, &raw)).collect()
    }

    fn image(&self, output: &str, raw: &RawProfile) -> Counted {
        let map = self.map(output);
        let image = raw.images.iter().find(|image| image.build_id == map.build_id).unwrap();
        assert_eq!(image.layout, map.body.layout);
        let counters = |array: &ArrayPlacement| {
            let bank = if array.bank == Bank::Tls { &image.tls_counters } else { &image.global_counters };
            bank[array.first as usize..][..array.len as usize].to_vec()
        };
        let by_array = map.body.arrays.iter().map(|array| (array.name, counters(array))).collect();
        Counted { by_array, presence: image.presence.clone(), flags: image.flags, map }
    }
}

impl Counted {
    pub(crate) fn array(&self, name: Digest) -> &[u64] {
        &self.by_array[&name]
    }

    /// Where its modules came from, and whether the linker kept them.
    pub(crate) fn modules(&self) -> Vec<(&str, bool)> {
        let kept = |optional: Option<u32>| optional.is_none_or(|position| self.presence[position as usize]);
        self.map.body.modules.iter().map(|module| (module.origin.as_str(), kept(module.optional))).collect()
    }

    pub(crate) fn ids(&self) -> Vec<Digest> {
        self.map.body.modules.iter().map(|module| Manifest::read(&module.manifest).unwrap().header.module_id).collect()
    }
}
