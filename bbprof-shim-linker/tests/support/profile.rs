//! What a linked program counted, by its raw profile and build map.

use super::{Workshop, successful};
use bbprof_format::Digest;
use bbprof_format::manifest::Manifest;
use bbprof_format::map::{Bank, BuildMap};
use std::collections::BTreeMap;
use std::fs;

/// The counts of one image.
pub(crate) struct Counted {
    pub(crate) map: BuildMap,
    pub(crate) by_array: BTreeMap<Digest, Vec<u64>>,
    pub(crate) presence: Vec<bool>,
    pub(crate) flags: u32,
}

impl Workshop {
    pub(crate) fn map(&self, output: &str) -> BuildMap {
        BuildMap::decode(&fs::read(self.path(format!("{output}.bbmap"))).unwrap()).unwrap()
    }

    /// Runs a program that is linked from instrumented objects.
    pub(crate) fn counted(&self, program: &str) -> Counted {
        self.counted_in(program, &[program]).remove(0)
    }

    /// Runs a program and tells what was counted in these images.
    pub(crate) fn counted_in(&self, program: &str, images: &[&str]) -> Vec<Counted> {
        let out = self.path("standin");
        successful(self.command("sh").arg("-c").arg(format!("./{program} 3>{}", out.display())));
        let text = fs::read_to_string(&out).unwrap();
        println!("{text}");
        images.iter().map(|image| self.image(image, &text)).collect()
    }

    fn image(&self, program: &str, text: &str) -> Counted {
        let map = self.map(program);
        let text = text.lines().find(|line| line.starts_with(&map.build_id.to_string())).unwrap();
        let words: Vec<&str> = text.split_whitespace().collect();
        let flags = words[1].parse().unwrap();
        let part = |name: &str| {
            let start = words.iter().position(|w| w.starts_with(name));
            let Some(start) = start else { return Vec::new() };
            words[start + 1..].iter().map_while(|w| w.parse::<u64>().ok()).collect()
        };
        assert!(words.iter().all(|w| !w.contains('@') || w.ends_with("@0") || map.body.tls_counters == 0), "{text}");
        let (tls, global) = (part("tls@"), part("global@"));
        let presence = part("present").into_iter().map(|p| p != 0).collect();
        let by_array = map
            .body
            .arrays
            .iter()
            .map(|array| {
                let bank = if array.bank == Bank::Tls { &tls } else { &global };
                (array.name, bank[array.first as usize..][..array.len as usize].to_vec())
            })
            .collect();
        Counted { map, by_array, presence, flags }
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
