//! A progress bar for work that takes more than a second; only on a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::OnceCell;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How far some work is.
pub(super) struct Progress {
    what: &'static str,
    len: u64,
    began: Instant,
    done: std::cell::Cell<u64>,
    bar: OnceCell<ProgressBar>,
    is_terminal: bool,
}

/// What is done sooner needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);

impl Progress {
    /// Work of `len` steps, `what` in words.
    pub(super) fn new(what: &'static str, len: usize) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        Self { what, len: len as u64, began: Instant::now(), done: 0.into(), bar: OnceCell::new(), is_terminal }
    }

    /// One step is done.
    pub(super) fn step(&self) {
        self.done.set(self.done.get() + 1);
        if !self.is_terminal || self.began.elapsed() < PATIENCE || self.len < 2 {
            return;
        }
        let bar = self.bar.get_or_init(|| {
            let bar = ProgressBar::with_draw_target(Some(self.len), ProgressDrawTarget::stderr());
            // The template is right; were it not, the default one would do.
            if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos} of {len} {msg}, {eta} to go") {
                bar.set_style(style);
            }
            bar.set_message(self.what);
            bar
        });
        bar.set_position(self.done.get());
    }

    /// Does something that writes, with the bar out of its way.
    pub(super) fn aside<T>(&self, work: impl FnOnce() -> T) -> T {
        match self.bar.get() {
            Some(bar) => bar.suspend(work),
            None => work(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
