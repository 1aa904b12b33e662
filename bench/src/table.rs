//! A table, for the terminal, as CSV and as markdown.

/// Rows under a head.
pub(crate) struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub(crate) fn new(head: &[&str]) -> Self {
        Self { head: head.iter().map(|word| (*word).to_owned()).collect(), rows: Vec::new() }
    }

    /// Adds a row, as wide as the head.
    pub(crate) fn add(&mut self, row: Vec<String>) {
        assert_eq!(row.len(), self.head.len(), "a row is as wide as the head");
        self.rows.push(row);
    }

    /// Columns aligned by spaces.
    pub(crate) fn terminal(&self) -> String {
        self.lines(|cells, widths| {
            let padded: Vec<String> = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
            padded.join("  ").trim_end().to_owned()
        })
    }

    /// Markdown.
    pub(crate) fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule = format!("|{}\n", "---|".repeat(self.head.len()));
        self.rows.iter().fold(line(&self.head) + &rule, |text, row| text + &line(row))
    }

    /// Comma-separated, every cell quoted.
    pub(crate) fn csv(&self) -> String {
        self.lines(|cells, _| cells.iter().map(|cell| format!("\"{}\"", cell.replace('"', "\"\""))).collect::<Vec<_>>().join(","))
    }

    fn lines(&self, line: impl Fn(&[String], &[usize]) -> String) -> String {
        let all = || std::iter::once(&self.head).chain(&self.rows);
        let widths: Vec<usize> =
            (0..self.head.len()).map(|column| all().map(|row| row[column].chars().count()).max().unwrap_or(0)).collect();
        all().fold(String::new(), |text, row| text + &line(row, &widths) + "\n")
    }
}
