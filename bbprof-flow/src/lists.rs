//! A list of values for each of many keys, in two allocations.

/// The lists of the keys `0..num_keys`.
#[derive(Debug)]
pub struct Lists<T> {
    /// Where each key's stretch of `values` starts, and the end of the last.
    starts: Vec<usize>,
    values: Vec<T>,
}

impl<T: Copy> Lists<T> {
    /// Each key's values in their order.
    #[must_use]
    pub fn of(num_keys: usize, pairs: impl Iterator<Item = (usize, T)> + Clone) -> Self {
        let mut starts = vec![0; num_keys + 1];
        for (key, _) in pairs.clone() {
            starts[key + 1] += 1;
        }
        for key in 0..num_keys {
            starts[key + 1] += starts[key];
        }
        let mut free = starts.clone();
        let mut values = pairs.clone().next().map_or_else(Vec::new, |(_, any)| vec![any; starts[num_keys]]);
        for (key, value) in pairs {
            values[free[key]] = value;
            free[key] += 1;
        }
        Self { starts, values }
    }

    /// Those of one key.
    #[must_use]
    pub fn of_key(&self, key: usize) -> &[T] {
        &self.values[self.starts[key]..self.starts[key + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::Lists;

    #[test]
    fn each_key_has_its_values_in_their_order() {
        let lists = Lists::of(4, [(2, 'a'), (0, 'b'), (2, 'c'), (2, 'd'), (0, 'e')].into_iter());
        let all: Vec<&[char]> = (0..4).map(|key| lists.of_key(key)).collect();
        assert_eq!(all, [&['b', 'e'][..], &[], &['a', 'c', 'd'], &[]]);
        assert!(Lists::<u8>::of(1, std::iter::empty()).of_key(0).is_empty());
    }
}
