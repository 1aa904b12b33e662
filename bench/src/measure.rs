//! What a command costs: user time, elapsed time, instructions; and how large its results are.

use crate::tool;
use anyhow::{Context, Result, bail};
use object::{Object, ObjectSection, SectionKind};
use std::ops::AddAssign;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;
use wait4::Wait4;

/// Time, and memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    pub(crate) user_seconds: f64,
    /// User and system.
    pub(crate) cpu_seconds: f64,
    pub(crate) elapsed_seconds: f64,
    /// Largest resident memory; of several commands, the largest of any.
    pub(crate) peak_bytes: u64,
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.user_seconds += other.user_seconds;
        self.cpu_seconds += other.cpu_seconds;
        self.elapsed_seconds += other.elapsed_seconds;
        self.peak_bytes = self.peak_bytes.max(other.peak_bytes);
    }
}

/// Instructions executed, by valgrind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instructions(pub(crate) u64);

/// A command that ran.
pub(crate) struct Timed {
    pub(crate) status: ExitStatus,
    cost: Cost,
    what: String,
}

impl Timed {
    pub(crate) fn expect_success(self) -> Result<Cost> {
        self.expect_code(0)
    }

    pub(crate) fn expect_code(self, code: i32) -> Result<Cost> {
        expect_code(self.status, code, &self.what)?;
        Ok(self.cost)
    }
}

fn expect_code(status: ExitStatus, code: i32, what: &str) -> Result<()> {
    if status.code() != Some(code) {
        bail!("{status} instead of exit code {code}: {what}");
    }
    Ok(())
}

/// Runs a command, its children included, and times it.
pub(crate) fn timed(command: &mut Command) -> Result<Timed> {
    let what = format!("{command:?}");
    let begin = Instant::now();
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().with_context(|| what.clone())?;
    let ended = child.wait4().with_context(|| what.clone())?;
    let user_seconds = ended.rusage.utime.as_secs_f64();
    let cpu_seconds = user_seconds + ended.rusage.stime.as_secs_f64();
    let (elapsed_seconds, peak_bytes) = (begin.elapsed().as_secs_f64(), ended.rusage.maxrss);
    let cost = Cost { user_seconds, cpu_seconds, elapsed_seconds, peak_bytes };
    Ok(Timed { status: ended.status, cost, what })
}

/// The middle of some values; of two middles the greater. None of none.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn prepared(mut command: Command, arguments: &[String], environment: &[(&str, String)], place: &Path) -> Command {
    command.args(arguments).current_dir(place).envs(environment.iter().map(|(name, value)| (name, value)));
    command.env("BBPROF_OUT", place.join("run.bbraw")).env("LLVM_PROFILE_FILE", place.join("peer.profraw"));
    command
}

/// How a built program is run.
pub(crate) struct Runs<'a> {
    pub(crate) executable: &'a Path,
    /// Arguments of each run.
    pub(crate) arguments: &'a [Vec<String>],
    pub(crate) environment: &'a [(&'static str, String)],
    pub(crate) place: &'a Path,
    /// What each run ends with; what ends otherwise has not done the work.
    pub(crate) exit_code: i32,
}

impl Runs<'_> {
    /// Each run once, for the time together, by what runs it.
    pub(crate) fn time(&self, runner: &[&str]) -> Result<Cost> {
        let mut cost = Cost::default();
        for arguments in self.arguments {
            let command = match runner {
                [] => Command::new(self.executable),
                [runner, options @ ..] => {
                    let mut command = Command::new(runner);
                    command.args(options).arg(self.executable);
                    command
                }
            };
            cost += timed(&mut prepared(command, arguments, self.environment, self.place))?.expect_code(self.exit_code)?;
        }
        Ok(cost)
    }

    /// Each run under valgrind. A copy without debug information, which valgrind 3.19 cannot read when clang 22 wrote it; beside
    /// the program, which may look for its own parts there.
    pub(crate) fn instructions(&self) -> Result<Instructions> {
        let stripped = self.executable.with_extension("stripped");
        timed(Command::new("strip").arg("-g").arg("-o").arg(&stripped).arg(self.executable))?.expect_success()?;
        let mut sum = 0;
        for arguments in self.arguments {
            let mut command = Command::new("valgrind");
            command.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]).arg(&stripped);
            let mut command = prepared(command, arguments, self.environment, self.place);
            let output = command.output().context("valgrind")?;
            let log = String::from_utf8_lossy(&output.stderr).into_owned();
            expect_code(output.status, self.exit_code, &format!("{command:?}: {log}"))?;
            let count = log.lines().find_map(|line| line.split_once("I   refs:")?.1.trim().replace(',', "").parse::<u64>().ok());
            sum += count.with_context(|| format!("valgrind gave no instruction count: {log}"))?;
        }
        Ok(Instructions(sum))
    }
}

/// Bytes of an executable in memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sizes {
    /// Code and read-only data.
    pub(crate) text: u64,
    /// Data that can be written, with and without bytes in the file; thread-local data once.
    pub(crate) data: u64,
}

/// How large it is.
pub(crate) fn sizes(executable: &Path) -> Result<Sizes> {
    let bytes = std::fs::read(executable).with_context(|| executable.display().to_string())?;
    let file = object::File::parse(&*bytes).with_context(|| executable.display().to_string())?;
    let mut sizes = Sizes::default();
    for section in file.sections() {
        match section.kind() {
            SectionKind::Text | SectionKind::ReadOnlyData | SectionKind::ReadOnlyString => sizes.text += section.size(),
            SectionKind::Data | SectionKind::UninitializedData | SectionKind::Tls | SectionKind::UninitializedTls => {
                sizes.data += section.size();
            }
            _ => {}
        }
    }
    Ok(sizes)
}

/// The time of a report.
pub(crate) fn report(root: &Path, raw: &Path) -> Result<Cost> {
    timed(Command::new(tool(root, "bbprof")).arg("report").arg(raw))?.expect_success()
}
