//! The notes in SQLite: one table of notes, one of tags.

use crate::notes::Note;
use rusqlite::{Connection, Result};

/// A database of notes.
pub struct Store {
    connection: Connection,
}

/// A note that was found.
pub struct Found {
    pub text: String,
}

impl Store {
    /// An empty database that lives in memory.
    pub fn in_memory() -> Result<Self> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(
            "CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT NOT NULL, text TEXT NOT NULL);
             CREATE TABLE tag (note INTEGER NOT NULL REFERENCES note, name TEXT NOT NULL);
             CREATE INDEX tag_name ON tag (name);",
        )?;
        Ok(Self { connection })
    }

    /// Adds notes, all or none.
    pub fn add(&mut self, notes: impl Iterator<Item = Note>) -> Result<()> {
        let transaction = self.connection.transaction()?;
        {
            let mut insert_note = transaction.prepare("INSERT INTO note (title, text) VALUES (?1, ?2)")?;
            let mut insert_tag = transaction.prepare("INSERT INTO tag (note, name) VALUES (?1, ?2)")?;
            for note in notes {
                let id = insert_note.insert((&note.title, &note.text))?;
                for tag in note.tags {
                    insert_tag.execute((id, tag))?;
                }
            }
        }
        transaction.commit()
    }

    /// The tags that most notes have, with how many.
    pub fn most_used_tags(&self, limit: u32) -> Result<Vec<(String, u64)>> {
        let mut query =
            self.connection.prepare("SELECT name, count(*) AS used FROM tag GROUP BY name ORDER BY used DESC, name LIMIT ?1")?;
        query.query_map([limit], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs())))?.collect()
    }

    /// Notes with this tag, by title.
    pub fn tagged(&self, tag: &str, limit: u32) -> Result<Vec<Found>> {
        let mut query = self
            .connection
            .prepare("SELECT text FROM note JOIN tag ON tag.note = note.id WHERE tag.name = ?1 ORDER BY title LIMIT ?2")?;
        query.query_map((tag, limit), |row| Ok(Found { text: row.get(0)? }))?.collect()
    }

    /// The number of words in the longest note.
    pub fn longest_in_words(&self) -> Result<u64> {
        let mut query = self.connection.prepare("SELECT text FROM note ORDER BY length(text) DESC LIMIT 1")?;
        query.query_row([], |row| Ok(row.get::<_, String>(0)?.split_whitespace().count() as u64))
    }
}
