//! What a program counted of itself, in a file that it shares with the harness (`tests/programs/fates/truth.h`): it is there
//! whatever ended the program.

use crate::exported::Exported;
use std::path::Path;

const NAMES: usize = 32;
const NAME_BYTES: usize = 32;
const ROWS: usize = 64;
const HEADER_BYTES: usize = 16 + NAMES * NAME_BYTES;
const ROW_BYTES: usize = 8 + NAMES * 8;

/// The tallies of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truth {
    /// Process id.
    pub pid: u32,
    /// How often each function was entered.
    pub entries: Vec<(String, u64)>,
}

impl Truth {
    /// Makes the file that a program will tell its truth in.
    ///
    /// # Panics
    /// When the file system refuses.
    pub fn create(path: &Path) {
        std::fs::write(path, vec![0; HEADER_BYTES + ROWS * ROW_BYTES]).expect("a file in the sandbox");
        // Programs that drop their privileges go on writing.
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o666);
        std::fs::set_permissions(path, permissions).expect("a file of our own");
    }

    /// Reads the rows of all processes, in the order in which they began.
    ///
    /// # Panics
    /// When the file is not one that [`Truth::create`] made.
    #[must_use]
    pub fn read(path: &Path) -> Vec<Self> {
        let bytes = std::fs::read(path).expect("the truth");
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let (num_names, num_rows) = (word(0) as usize, word(8) as usize);
        assert!(num_names <= NAMES && num_rows <= ROWS, "{num_names} names and {num_rows} rows do not fit the truth");
        let name = |i: usize| {
            let text = &bytes[16 + i * NAME_BYTES..16 + (i + 1) * NAME_BYTES];
            String::from_utf8_lossy(text.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned()
        };
        let row = |r: usize| {
            let at = HEADER_BYTES + r * ROW_BYTES;
            let entries = (0..num_names).map(|i| (name(i), word(at + 8 + i * 8))).collect();
            Self { pid: word(at) as u32, entries }
        };
        (0..num_rows).map(row).collect()
    }

    /// All but these functions.
    #[must_use]
    pub fn without(&self, names: &[&str]) -> Self {
        let entries = self.entries.iter().filter(|(name, _)| !names.contains(&name.as_str())).cloned().collect();
        Self { entries, ..*self }
    }

    /// Compares with a profile. A function that is nowhere in it must not have been
    /// entered; the entries of those in `open` may be one off.
    ///
    /// # Panics
    /// When a count differs.
    pub fn compare(&self, exported: &Exported, open: &[&str], what: &str) {
        let mut executed = 0;
        for (name, told) in &self.entries {
            let counted = exported.entries(name).unwrap_or(0);
            let off_by = u64::from(open.contains(&name.as_str()));
            assert!(counted.abs_diff(*told) <= off_by, "{what}: {name} was entered {told} times, the profile says {counted}");
            executed += counted;
        }
        assert!(executed > 0, "{what}: nothing was compared");
    }
}
