// The rows of a function's source: sections, their lines, and of lines that are split their column ranges.

import { shownLines } from "./data";
import { lineKey, type FunctionModel, type LineCounts, type Piece, type Section } from "./function-model";
import type { Model } from "./model";

/** Pixels. */
export const SOURCE_ROW = 20;

export type SourceRow =
  | { kind: "section"; section: Section; position: number }
  | { kind: "remark"; text: string }
  | { kind: "line"; section: Section; line: number; counts: LineCounts | undefined }
  | { kind: "piece"; section: Section; line: number; piece: Piece; end: number | null }
  | { kind: "spacer" };

/** The function's own source, and what is short of the hottest that are inlined. */
export function openAtFirst(fn: FunctionModel): Set<number> {
  return new Set(fn.sections.flatMap((section, position) => (position === 0 || (position < 4 && section.to - section.from < 60) ? [position] : [])));
}

/** One flat list: a heading takes two rows, of which the second is empty. */
export function makeRows(model: Model, fn: FunctionModel, open: Set<number>, split: Set<string>): SourceRow[] {
  const rows: SourceRow[] = [];
  fn.sections.forEach((section, position) => {
    if (fn.sections.length > 1 || !section.isOwn) rows.push({ kind: "section", section, position }, { kind: "spacer" });
    if (!open.has(position)) return;
    const file = model.index.files[section.file];
    if (!file || (position === 0 && model.rows.length > 0 && fn.lines.size === 0)) {
      rows.push({ kind: "remark", text: "No source is known: this was compiled without debug information." });
      return;
    }
    if (file.remark) rows.push({ kind: "remark", text: file.remark });
    const withCode = fn.data.lines.flatMap(([of, lines]) => (of === section.file ? lines.map(([line]) => line) : []));
    for (const line of shownLines(file, section.from, section.to, withCode)) {
      const key = lineKey(section.file, line);
      const counts = fn.lines.get(key);
      rows.push({ kind: "line", section, line, counts });
      if (counts && split.has(key)) {
        counts.pieces.forEach((piece, at) => {
          const next = counts.pieces.slice(at + 1).find((other) => other.column > piece.column);
          rows.push({ kind: "piece", section, line, piece, end: next ? next.column - 1 : null });
        });
      }
    }
  });
  return rows;
}
