//! The HTML explorer: one page, and the profile in pieces that the page unpacks when they are looked at.
//!
//! ```text
//! index.html          the page (assets/explorer.html, built from explorer/), with what it shows first
//! data/f0.js ...      functions: blocks, edges, places, calls; neighbours of one module together
//! data/v0.js ...      the same functions: instruction mix, and paths where they were counted
//! data/s0.0.js ...    source files in parts of 2,000 lines: text, counts of lines, and which blocks stand on them
//! data/before.*.js    of a comparison: the same of the earlier profile, its index too
//! ```
//! A browser does not let a page that was opened from a disk read files, but it lets it run scripts; so every piece is a script
//! that hands its data over (`bbprofData(name, data)`): JSON, deflated, in base 64. As one file, the page has the same pieces in
//! elements that are not run. Nothing of the profile is ever markup or code: the page puts it in place as text.
//!
//! `docs/HTML.md` tells what is in the pieces.

mod callers;
mod changes;
mod count;
mod functions;
mod index;
mod pack;
mod sources;
mod strings;
mod views;

use bbprof_profile::{Diff, FunctionView, LineTable, Profile};
use callers::Calls;
use changes::Before;
use pack::{Piece, pack};
use rayon::prelude::*;
use std::io::{self, Write};

/// The page: markup, style and code, with a mark where the data goes.
const PAGE: &str = include_str!("../assets/explorer.html");
/// The mark for what it shows first, and the one for the rest, behind the code.
const MARKS: [&str; 2] = ["<!--bbprof-index-->", "<!--bbprof-pieces-->"];
/// The piece with the table of functions and all that the first page shows.
const INDEX: &str = "index";
/// Pieces that are made at once: enough for every core, few enough to keep memory small.
const PIECES_AT_ONCE: usize = 64;

/// The text of a source file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceText {
    /// Its text.
    pub text: String,
    /// Why lines may have moved since the build.
    pub doubt: Option<Doubt>,
}

/// Why the text may not be what the program was built from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Doubt {
    /// It is not the text that was compiled.
    Differs,
    /// It was modified after the program was linked.
    Modified,
    /// The program was built again: when it was linked is not known any more.
    BuiltAgain,
}

/// How the text of a source file is got, by its path.
pub type ReadSource<'r> = &'r (dyn Fn(&str) -> io::Result<SourceText> + Sync);

/// What the profile is compared with: the page then shows what changed, and why, and has pages of both.
#[derive(Clone, Copy)]
pub struct Earlier<'p> {
    /// The earlier profile.
    pub profile: &'p Profile,
    /// What changed from it to the one that is shown.
    pub diff: &'p Diff,
    /// Whether its counts are exact.
    pub is_exact: bool,
    /// Gets its sources.
    pub read: ReadSource<'p>,
}

/// Writes the explorer as one page.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_html_file(
    profile: &Profile,
    earlier: Option<Earlier<'_>>,
    read: ReadSource<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let [head, code, end] = page()?;
    out.write_all(head.as_bytes())?;
    each_piece(profile, earlier, false, read, &mut |piece| {
        out.write_all(element(&piece).as_bytes())?;
        if piece.name == INDEX { out.write_all(code.as_bytes()) } else { Ok(()) }
    })?;
    out.write_all(end.as_bytes())
}

/// Writes the explorer as a folder: `put` gets a path in it and the contents.
///
/// # Errors
/// When `put` fails.
pub fn write_html_folder(
    profile: &Profile,
    earlier: Option<Earlier<'_>>,
    read: ReadSource<'_>,
    mut put: impl FnMut(&str, &[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let [head, code, end] = page()?;
    each_piece(profile, earlier, true, read, &mut |piece| {
        if piece.name == INDEX {
            return put("index.html", [head, &element(&piece), code, end].concat().as_bytes());
        }
        put(&format!("data/{}.js", piece.name), format!("bbprofData(\"{}\",\"{}\")\n", piece.name, piece.data).as_bytes())
    })
}

/// A piece in an element that browsers do not run.
fn element(piece: &Piece) -> String {
    format!("<script type=\"application/octet-stream\" id=\"data-{}\">{}</script>\n", piece.name, piece.data)
}

/// What stands before, between and behind the marks.
fn page() -> io::Result<[&'static str; 3]> {
    let split = PAGE.split_once(MARKS[0]).and_then(|(head, rest)| Some((head, rest.split_once(MARKS[1])?)));
    let (head, (code, end)) =
        split.ok_or_else(|| io::Error::other("the page of the explorer lacks its marks: cargo xtask explorer"))?;
    Ok([head, code, end])
}

/// Makes all pieces, the index first.
fn each_piece(
    profile: &Profile,
    earlier: Option<Earlier<'_>>,
    is_folder: bool,
    read: ReadSource<'_>,
    take: &mut dyn FnMut(Piece) -> io::Result<()>,
) -> io::Result<()> {
    pieces_of(profile, "", earlier.as_ref(), is_folder, read, take)?;
    match earlier {
        Some(earlier) => pieces_of(earlier.profile, "before.", None, is_folder, earlier.read, take),
        None => Ok(()),
    }
}

/// Makes the pieces of one profile, whose names begin with `prefix`.
fn pieces_of(
    profile: &Profile,
    prefix: &'static str,
    earlier: Option<&Earlier<'_>>,
    is_folder: bool,
    read: ReadSource<'_>,
    take: &mut dyn FnMut(Piece) -> io::Result<()>,
) -> io::Result<()> {
    let functions: Vec<FunctionView<'_>> = profile.functions().collect();
    let calls = Calls::new(profile);
    let chunks = functions::chunks(&functions);
    let table = LineTable::new(profile);
    let sources = sources::read_all(profile, &table, &functions, read);
    let report = index::Report { prefix, is_folder, earlier };
    take(pack(format!("{prefix}{INDEX}"), &index::Index::new(profile, report, &functions, &chunks, &sources))?)?;
    let before = earlier.map(Before::new).unwrap_or_default();
    for group in chunks.chunks(PIECES_AT_ONCE).enumerate() {
        let first = group.0 * PIECES_AT_ONCE;
        let make = |(position, range): (usize, &std::ops::Range<usize>)| {
            let number = first + position;
            let chunk = functions::Chunk::new(&functions, range.clone(), &calls, &before);
            let views = views::Views::new(&functions, range.clone());
            Ok([pack(format!("{prefix}f{number}"), &chunk)?, pack(format!("{prefix}v{number}"), &views)?])
        };
        let pieces: Vec<io::Result<[Piece; 2]>> = group.1.par_iter().enumerate().map(make).collect();
        pieces.into_iter().try_for_each(|pieces| pieces?.into_iter().try_for_each(&mut *take))?;
    }
    let parts: Vec<(usize, usize)> =
        sources.iter().enumerate().flat_map(|(file, source)| source.parts().into_iter().map(move |part| (file, part))).collect();
    for group in parts.chunks(PIECES_AT_ONCE) {
        let make = |(file, part): &(usize, usize)| pack(format!("{prefix}s{file}.{part}"), &sources[*file].part(*part));
        let pieces: Vec<io::Result<Piece>> = group.par_iter().map(make).collect();
        pieces.into_iter().try_for_each(|piece| take(piece?))?;
    }
    Ok(())
}
