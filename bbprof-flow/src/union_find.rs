//! Disjoint sets under union by size and path halving: near-constant time an operation, and no recursion.

/// A partition of `0..size`, at first into singletons.
pub(crate) struct UnionFind {
    /// The parent of each element; a root is its own.
    parent: Vec<u32>,
    /// How many elements hang below a root; stale for the others.
    size: Vec<u32>,
}

impl UnionFind {
    /// `size` singletons.
    pub(crate) fn new(size: u32) -> Self {
        Self { parent: (0..size).collect(), size: vec![1; size as usize] }
    }

    /// The element that stands for the set of `element`.
    pub(crate) fn find(&mut self, mut element: u32) -> u32 {
        loop {
            let parent = self.parent[element as usize];
            if parent == element {
                return element;
            }
            let grandparent = self.parent[parent as usize];
            self.parent[element as usize] = grandparent;
            element = grandparent;
        }
    }

    /// Joins the sets of `a` and `b`; false when they were one set already.
    pub(crate) fn union(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return false;
        }
        let (small, large) = if self.size[a as usize] < self.size[b as usize] { (a, b) } else { (b, a) };
        self.parent[small as usize] = large;
        self.size[large as usize] += self.size[small as usize];
        true
    }
}

#[cfg(test)]
mod tests {
    use super::UnionFind;

    #[test]
    fn joins_sets_once() {
        let mut sets = UnionFind::new(5);
        assert!(sets.union(0, 1));
        assert!(sets.union(3, 4));
        assert!(!sets.union(1, 0));
        assert_ne!(sets.find(0), sets.find(3));
        assert!(sets.union(1, 4));
        assert_eq!(sets.find(0), sets.find(3));
        assert_eq!(sets.find(2), 2);
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let size = 1_000_000;
        let mut sets = UnionFind::new(size);
        for element in 1..size {
            assert!(sets.union(element - 1, element));
        }
        assert_eq!(sets.find(0), sets.find(size - 1));
    }
}
