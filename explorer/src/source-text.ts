// Lines of source files, from the parts that have been loaded.

import { useEffect, useState } from "preact/hooks";
import { LINES_OF_A_PART, loadSource, partOf } from "./data";
import { tokens, type Token } from "./highlight";
import type { Index, SourcePart } from "./schema";

export interface TextLine {
  text: string;
  marks: [number, number, Token][];
}

/** What a screen line can be; the rest of a longer one is left out, and said so. */
const LONGEST_LINE = 600;

/** Where a column begins in a text: compilers count bytes of UTF-8, from 1 on. */
export function unitOf(text: string, column: number): number {
  let bytes = column - 1;
  let unit = 0;
  for (const character of text) {
    if (bytes <= 0) return unit;
    const code = character.codePointAt(0)!;
    bytes -= code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    unit += character.length;
  }
  return unit + Math.max(0, bytes);
}

/** The lines of a file that have been loaded; a part is cut into lines when one of them is wanted. */
export class Lines {
  private raw = new Map<number, SourcePart>();
  private cut = new Map<number, TextLine[]>();

  constructor(parts: Iterable<SourcePart>) {
    for (const part of parts) this.raw.set(partOf(part.first_line), part);
  }

  get(line: number): TextLine | undefined {
    const at = partOf(line);
    let lines = this.cut.get(at);
    const part = this.raw.get(at);
    if (!lines) {
      if (!part || part.text === null) return undefined;
      this.cut.set(at, (lines = cutLines(part.text)));
    }
    return lines[line - at * LINES_OF_A_PART - 1];
  }
}

function cutLines(part: string): TextLine[] {
  let inComment = false;
  const lines = part.split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  return lines.map((line) => {
    let text = line.endsWith("\r") ? line.slice(0, -1) : line;
    if (text.length > LONGEST_LINE) text = `${text.slice(0, LONGEST_LINE)} … (${text.length - LONGEST_LINE} more characters)`;
    const read = tokens(text, inComment);
    inComment = read.inComment;
    return { text, marks: read.marks };
  });
}

/** The lines of these ranges, by file; undefined until they are there, or the error. */
export function useSource(index: Index, ranges: { file: number; from: number; to: number }[], key: unknown): Map<number, Lines> | Error | undefined {
  const [state, set] = useState<{ key: unknown; value: Map<number, Lines> | Error }>();
  useEffect(() => {
    let isCurrent = true;
    const wanted = ranges.filter((range) => index.files[range.file]);
    Promise.all(wanted.map((range) => loadSource(index, range.file, range.from, range.to))).then(
      (loaded) => {
        const byFile = new Map<number, Set<SourcePart>>();
        wanted.forEach((range, position) => {
          const parts = byFile.get(range.file) ?? new Set();
          for (const part of loaded[position]!) parts.add(part);
          byFile.set(range.file, parts);
        });
        const value = new Map([...byFile].map(([file, parts]) => [file, new Lines(parts)]));
        if (isCurrent) set({ key, value });
      },
      (error: Error) => isCurrent && set({ key, value: error }),
    );
    return () => void (isCurrent = false);
  }, [key]);
  return state?.key === key ? state?.value : undefined;
}
