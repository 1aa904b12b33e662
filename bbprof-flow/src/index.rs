//! Positions as types: one for each kind of thing that is numbered.

/// A position among others of its kind, with a letter to show it by.
macro_rules! index {
    ($(#[$about:meta])* $name:ident, $letter:literal) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The one at this position.
            #[must_use]
            pub const fn new(position: u32) -> Self {
                Self(position)
            }
            /// Its position, for indexing.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($letter, "{}"), self.0)
            }
        }
    };
}
pub(crate) use index;
