// Just enough of C, C++ and Rust to set comments back and keywords apart. Marks ranges of a line; never changes its text.

export type Token = "comment" | "string" | "keyword" | "";

const KEYWORDS = new Set(
  (
    "as async await auto bool break case catch char class const constexpr continue crate default delete do double dyn else enum extern " +
    "false final float fn for goto if impl in inline int let long loop match mod move mut namespace new noexcept nullptr operator " +
    "override private protected pub public ref register restrict return self Self short signed sizeof static struct super switch " +
    "template this throw trait true try type typedef typename union unsafe unsigned use using virtual void volatile where while"
  ).split(" "),
);
const PATTERN = /\/\/.*|\/\*|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)'|[A-Za-z_]\w*/g;

/** The tokens of a line from each column on (0-based), and whether it ends inside a comment. */
export function tokens(line: string, inComment: boolean): { marks: [number, number, Token][]; inComment: boolean } {
  const marks: [number, number, Token][] = [];
  let at = 0;
  if (inComment) {
    const end = line.indexOf("*/");
    if (end < 0) return { marks: [[0, line.length, "comment"]], inComment: true };
    marks.push([0, end + 2, "comment"]);
    at = end + 2;
  }
  PATTERN.lastIndex = at;
  for (let found = PATTERN.exec(line); found; found = PATTERN.exec(line)) {
    const text = found[0];
    if (text === "/*") {
      const end = line.indexOf("*/", found.index + 2);
      if (end < 0) {
        marks.push([found.index, line.length, "comment"]);
        return { marks, inComment: true };
      }
      marks.push([found.index, end + 2, "comment"]);
      PATTERN.lastIndex = end + 2;
    } else if (text.startsWith("//")) marks.push([found.index, line.length, "comment"]);
    else if (text.startsWith('"') || text.startsWith("'")) marks.push([found.index, found.index + text.length, "string"]);
    else if (KEYWORDS.has(text)) marks.push([found.index, found.index + text.length, "keyword"]);
  }
  return { marks, inComment: false };
}
