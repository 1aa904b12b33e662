//! Source files, each once, by absolute path.

use std::collections::{BTreeSet, HashMap};

/// A source file: index into [`Files`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileId(u32);

impl FileId {
    /// Its position, for indexing.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The source files of a profile.
#[derive(Clone, Debug, Default)]
pub struct Files {
    paths: Vec<String>,
    ids: HashMap<String, FileId>,
    /// By file: the MD5s, in hex digits, of what modules were compiled from.
    md5s: Vec<BTreeSet<String>>,
}

impl Files {
    /// The absolute path of a file (as the compiler gave it, where it gave no folder).
    #[must_use]
    pub fn path(&self, file: FileId) -> &str {
        &self.paths[file.index()]
    }

    /// All files, by [`FileId`].
    #[must_use]
    pub fn paths(&self) -> &[String] {
        &self.paths
    }

    /// The MD5 of the file's text, in hex digits, as each module was compiled from it; of none whose compiler does not tell.
    #[must_use]
    pub fn md5s(&self, path: &str) -> Option<&BTreeSet<String>> {
        self.ids.get(path).map(|file| &self.md5s[file.index()]).filter(|md5s| !md5s.is_empty())
    }

    pub(crate) fn add_md5(&mut self, file: FileId, md5: &str) {
        let md5s = &mut self.md5s[file.index()];
        if !md5s.contains(md5) {
            md5s.insert(md5.to_owned());
        }
    }

    /// The id of `name`, which is relative to `directory` unless it is absolute.
    pub(crate) fn add(&mut self, directory: &str, name: &str) -> FileId {
        let path = absolute(directory, name);
        if let Some(id) = self.ids.get(&path) {
            return *id;
        }
        let id = FileId(self.paths.len() as u32);
        self.paths.push(path.clone());
        self.md5s.push(BTreeSet::new());
        self.ids.insert(path, id);
        id
    }
}

/// Joins and normalises by text alone: the sources may be on another machine, or gone.
pub(crate) fn absolute(directory: &str, name: &str) -> String {
    let joined = if name.starts_with('/') || directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") };
    let rooted = joined.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if rooted => {}
            part => parts.push(part),
        }
    }
    let path = parts.join("/");
    if rooted { format!("/{path}") } else { path }
}

#[cfg(test)]
mod tests {
    use super::absolute;

    #[test]
    fn paths_are_normalised_by_text() {
        for (directory, name, path) in [
            ("/src", "a.c", "/src/a.c"),
            ("/src/build", "../lib/./a.c", "/src/lib/a.c"),
            ("/src", "/usr//include/a.h", "/usr/include/a.h"),
            ("", "../a.c", "../a.c"),
            ("", "a.c", "a.c"),
            ("/", "../a.c", "/a.c"),
        ] {
            assert_eq!(absolute(directory, name), path);
        }
    }
}
