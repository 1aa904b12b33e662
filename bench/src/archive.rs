//! What the linker shim costs on a large link: one program against 400 MB of archives full of manifests.

use crate::measure::{Cost, median, timed};
use crate::tool;
use anyhow::Result;
use bbprof_tests::sqlite;
use std::path::Path;
use std::process::Command;

const ARCHIVE_BYTES: u64 = 400_000_000;
const ROUNDS: usize = 7;

/// Links with and without the shim, and says what that took.
pub(crate) fn link_with_manifests(root: &Path, folder: &Path) -> Result<String> {
    let place = folder.join("archives");
    std::fs::create_dir_all(&place)?;
    let program = sqlite();
    let object = place.join("member.o");
    let mut compile = Command::new(tool(root, "bbprof-cc"));
    compile.args(["-O2", "-c", "-o"]).arg(&object).args(&program.options).arg(&program.sources[0]);
    timed(&mut compile)?.expect_success()?;
    let copies = ARCHIVE_BYTES.div_ceil(object.metadata()?.len());
    let archive = place.join("libcopies.a");
    let _ = std::fs::remove_file(&archive);
    for copy in 0..copies {
        let member = place.join(format!("member{copy}.o"));
        std::fs::copy(&object, &member)?;
        timed(Command::new("ar").arg("qcS").arg(&archive).arg(&member))?.expect_success()?;
        std::fs::remove_file(&member)?;
    }
    timed(Command::new("ranlib").arg(&archive))?.expect_success()?;
    let source = place.join("main.c");
    std::fs::write(&source, "int main(void) { return 0; }\n")?;
    let main = place.join("main.o");
    timed(Command::new(tool(root, "bbprof-cc")).args(["-c", "-o"]).arg(&main).arg(&source))?.expect_success()?;

    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (compiler, times) in ["clang-22".into(), tool(root, "bbprof-cc")].iter().zip(&mut times) {
            let mut link = Command::new(compiler);
            link.arg("-o").arg(place.join("main")).arg(&main).arg(&archive).args(&program.libraries);
            times.push(timed(&mut link)?.expect_success()?);
        }
    }
    let elapsed = |costs: &[Cost]| median(costs.iter().map(|cost| cost.elapsed_seconds)).unwrap_or(f64::NAN);
    let user = |costs: &[Cost]| median(costs.iter().map(|cost| cost.user_seconds)).unwrap_or(f64::NAN);
    Ok(format!(
        "linking against {} MB of archives with {copies} manifests: {:.3} s elapsed ({:.3} s user), without the shim {:.3} s ({:.3} s user)",
        archive.metadata()?.len() / 1_000_000,
        elapsed(&times[1]),
        user(&times[1]),
        elapsed(&times[0]),
        user(&times[0]),
    ))
}
