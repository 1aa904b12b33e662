//! Sums profiles: commutative, associative, with the empty profile as identity; memory for one image's counters each, not
//! for each input. A sum that does not fit is an error, never clamped, and an input that fails leaves the sums untouched.

use crate::ProfileError;
use bbprof_format::merged::{ImageCounters, MergedProfile, Process};
use bbprof_format::{BuildId, HashedPath};
use std::collections::BTreeMap;

/// Gathers the counters of any number of processes.
#[derive(Debug, Default)]
pub struct Merger {
    processes: Vec<Process>,
    images: BTreeMap<BuildId, Sum>,
}

/// The sum of one image.
#[derive(Debug)]
struct Sum {
    counters: ImageCounters,
    /// Paths in hash tables, once there are those of a second input: then these are in here alone.
    paths: Option<BTreeMap<(u64, u64), u64>>,
}

impl Merger {
    /// Adds a profile.
    ///
    /// # Errors
    /// When its counters contradict those of the same build that are here, or a sum does
    /// not fit into 64 bits. The sums then are as before.
    pub fn add(&mut self, profile: MergedProfile) -> Result<(), ProfileError> {
        for (position, image) in profile.images.iter().enumerate() {
            if profile.images[..position].iter().any(|earlier| earlier.build_id == image.build_id) {
                return self.add_one_by_one(profile);
            }
            if let Some(sum) = self.images.get(&image.build_id) {
                sum.admit(image)?;
            }
        }
        for image in profile.images {
            match self.images.entry(image.build_id) {
                std::collections::btree_map::Entry::Vacant(vacant) => {
                    vacant.insert(Sum { counters: image, paths: None });
                }
                std::collections::btree_map::Entry::Occupied(mut occupied) => occupied.get_mut().absorb(image),
            }
        }
        self.processes.extend(profile.processes);
        Ok(())
    }

    /// A profile that has one build several times (a library loaded again) is summed by itself first.
    fn add_one_by_one(&mut self, profile: MergedProfile) -> Result<(), ProfileError> {
        let mut own = Self::default();
        for image in profile.images {
            own.add(MergedProfile { processes: Vec::new(), images: vec![image] })?;
        }
        self.add(MergedProfile { processes: profile.processes, images: own.images.into_values().map(Sum::finish).collect() })
    }

    /// The sums. The same inputs give the same value, in whatever order they came.
    #[must_use]
    pub fn finish(mut self) -> MergedProfile {
        self.processes.sort();
        MergedProfile { processes: self.processes, images: self.images.into_values().map(Sum::finish).collect() }
    }
}

impl Sum {
    /// Whether `image` can be added to `sum`.
    fn admit(&self, image: &ImageCounters) -> Result<(), ProfileError> {
        let sum = &self.counters;
        let build_id = sum.build_id;
        if sum.layout != image.layout {
            return Err(ProfileError::Layout { build_id, counters: image.layout, map: sum.layout });
        }
        for (what, expected, found) in [
            ("thread-local counters", sum.tls.len(), image.tls.len()),
            ("global counters", sum.global.len(), image.global.len()),
            ("optional modules", sum.presence.len(), image.presence.len()),
        ] {
            if expected != found {
                return Err(ProfileError::Length { build_id, what, expected: expected as u64, found: found as u64 });
            }
        }
        if let Some(module) = sum.presence.iter().zip(&image.presence).position(|(a, b)| a != b) {
            return Err(ProfileError::Presence { build_id, module });
        }
        for (bank, sums, added) in [("thread-local", &sum.tls, &image.tls), ("global", &sum.global, &image.global)] {
            if let Some(counter) = sums.iter().zip(added).position(|(a, b)| a.checked_add(*b).is_none()) {
                return Err(ProfileError::Overflow { build_id, bank, counter });
            }
        }
        let known = |path: &HashedPath| match &self.paths {
            Some(paths) => paths.get(&(path.counter, path.number)).copied(),
            None => {
                let position = sum.hashed_paths.binary_search_by_key(&(path.counter, path.number), |sum| (sum.counter, sum.number));
                position.ok().map(|position| sum.hashed_paths[position].count)
            }
        };
        let overflows = |path: &&HashedPath| known(path).is_some_and(|count| count.checked_add(path.count).is_none());
        if let Some(path) = image.hashed_paths.iter().find(overflows) {
            return Err(ProfileError::PathOverflow { build_id, counter: path.counter, number: path.number });
        }
        Ok(())
    }

    /// Adds what [`Sum::admit`] let in.
    fn absorb(&mut self, image: ImageCounters) {
        let sum = &mut self.counters;
        for (sums, added) in [(&mut sum.tls, &image.tls), (&mut sum.global, &image.global)] {
            for (a, b) in sums.iter_mut().zip(added) {
                *a += b;
            }
        }
        if !image.hashed_paths.is_empty() {
            let keyed = |path: HashedPath| ((path.counter, path.number), path.count);
            let paths = self.paths.get_or_insert_with(|| std::mem::take(&mut sum.hashed_paths).into_iter().map(keyed).collect());
            for (path, count) in image.hashed_paths.into_iter().map(keyed) {
                *paths.entry(path).or_default() += count;
            }
        }
        if image.path < sum.path {
            sum.path = image.path;
        }
        match (&sum.map, image.map) {
            (Some(kept), Some(map)) if map < *kept => sum.map = Some(map),
            (None, map) => sum.map = map,
            _ => {}
        }
    }

    fn finish(self) -> ImageCounters {
        let path = |((counter, number), count)| HashedPath { counter, number, count };
        match self.paths {
            Some(paths) => ImageCounters { hashed_paths: paths.into_iter().map(path).collect(), ..self.counters },
            None => self.counters,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bbprof_format::Digest;

    fn profile(build: &str, pid: u32, tls: &[u64]) -> MergedProfile {
        let build_id = Digest::of(build.as_bytes());
        let process = Process {
            executable: "/app".into(),
            pid,
            begun_ns: 5,
            resets: 0,
            number: 1,
            fate: "exit 0".into(),
            caveat: None,
            images: vec![build_id],
            threads: 0,
        };
        let image = ImageCounters {
            build_id,
            layout: Digest::default(),
            path: format!("/app{pid}"),
            presence: vec![true],
            tls: tls.to_vec(),
            global: vec![],
            hashed_paths: vec![],
            map: None,
        };
        MergedProfile { processes: vec![process], images: vec![image] }
    }

    fn merge(parts: &[MergedProfile]) -> MergedProfile {
        let mut merger = Merger::default();
        for part in parts {
            merger.add(part.clone()).expect("they fit");
        }
        merger.finish()
    }

    #[test]
    fn commutative_and_associative_with_identity() {
        let (a, b, c) = (profile("x", 1, &[1, 2]), profile("x", 2, &[10, 20]), profile("y", 3, &[5]));
        let all = merge(&[a.clone(), b.clone(), c.clone()]);
        assert_eq!(all.images.iter().find(|image| image.tls.len() == 2).map(|image| image.tls.clone()), Some(vec![11, 22]));
        assert_eq!(merge(&[c.clone(), b.clone(), a.clone()]).encode(), all.encode());
        assert_eq!(merge(&[a.clone(), merge(&[b, c])]), all);
        assert_eq!(merge(&[MergedProfile::default(), a.clone()]), merge(&[a]));
    }

    #[test]
    fn overflow_is_an_error_and_leaves_the_sums() {
        let mut merger = Merger::default();
        merger.add(profile("x", 1, &[7, u64::MAX])).expect("fits");
        let error = merger.add(profile("x", 2, &[1, 1])).expect_err("does not fit");
        assert!(matches!(error, ProfileError::Overflow { counter: 1, .. }));
        assert_eq!(merger.finish(), profile("x", 1, &[7, u64::MAX]));
    }

    #[test]
    fn one_build_twice_in_one_process_is_summed() {
        let mut twice = profile("x", 1, &[1]);
        twice.images.push(twice.images[0].clone());
        assert_eq!(merge(&[twice]).images[0].tls, [2]);
    }

    #[test]
    fn contradictions_are_errors() {
        let mut merger = Merger::default();
        merger.add(profile("x", 1, &[1])).expect("fits");
        assert!(matches!(merger.add(profile("x", 1, &[1, 2])), Err(ProfileError::Length { .. })));
        let mut other = profile("x", 1, &[1]);
        other.images[0].presence = vec![false];
        assert!(matches!(merger.add(other), Err(ProfileError::Presence { module: 0, .. })));
    }
}
