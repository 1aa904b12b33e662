// A function with its counts read: blocks, edges, and the code of each line told apart by column.

import { add, descending, read, subtract, sum, type Count } from "./count";
import type { Callee, EdgeKind, FunctionData } from "./schema";

export interface Block {
  id: number;
  count: Count;
  /** In the earlier profile, where there is one and the function had the same graph. */
  before: Count | null;
  executed: Count;
  instructions: number;
  opcodes: [string, number][];
  places: { place: number; standing: number; executed: Count }[];
  calls: { callee: Callee; count: Count; place: number | null }[];
  vanished: bigint | null;
  ir: string | null;
  /** Positions of edges. */
  out: number[];
  in: number[];
  /** Sum of the counts of the edges that leave; null where the counters leave one open. */
  leaving: Count | null;
  /** File and line to name it by: the first of the function's own, else the first. */
  at: { file: number; line: number } | null;
}

export interface Edge {
  from: number;
  to: number;
  count: Count | null;
  kind: EdgeKind;
}

/** Code on a line from one column on. */
export interface Piece {
  column: number;
  blocks: number[];
  counts: Count[];
  executed: Count;
}

export interface LineCounts {
  count: Count;
  /** In the earlier profile, where it is known which line was which. */
  before: Count | null;
  executed: Count;
  pieces: Piece[];
}

/** Source that the function has code of: its own, or that of a function inlined into it. */
export interface Section {
  name: string;
  file: number;
  from: number;
  to: number;
  isOwn: boolean;
  copies: number;
  executed: Count;
  /** Lines of the host that it is inlined at. */
  at: { file: number; line: number }[];
}

export interface FunctionModel {
  data: FunctionData;
  strings: string[];
  blocks: Block[];
  edges: Edge[];
  sections: Section[];
  /** By `file:line`. */
  lines: Map<string, LineCounts>;
  /** Executed instructions without a source line. */
  unlocated: Count;
  executed: Count;
}

export const lineKey = (file: number, line: number) => `${file}:${line}`;

export function makeFunction(data: FunctionData, strings: string[], line: number, executed: Count): FunctionModel {
  const edges = data.edges.map(([from, to, count, kind]): Edge => ({ from, to, count: count === null ? null : read(count), kind }));
  const blocks = data.blocks.map((block, id): Block => {
    const places = block.places.map(([place, standing, count]) => ({ place, standing, executed: read(count) }));
    const own = places.find(({ place }) => data.places[place]![3] === 0) ?? places[0];
    const at = own ? { file: data.places[own.place]![0], line: data.places[own.place]![1] } : null;
    const opcodes = block.opcodes.map(([opcode, count]): [string, number] => [strings[opcode]!, count]);
    return {
      id,
      count: read(block.count),
      before: data.before ? read(data.before[id]!) : null,
      executed: read(block.executed),
      instructions: opcodes.reduce((total, [, count]) => total + count, 0),
      opcodes,
      places,
      calls: (block.calls ?? []).map(([callee, count, place]) => ({ callee, count: read(count), place })),
      vanished: block.vanished === undefined ? null : BigInt(block.vanished),
      ir: block.ir ?? null,
      out: [],
      in: [],
      leaving: 0,
      at,
    };
  });
  edges.forEach((edge, position) => {
    const source = blocks[edge.from]!;
    source.out.push(position);
    source.leaving = source.leaving === null || edge.count === null ? null : add(source.leaving, edge.count);
    blocks[edge.to]!.in.push(position);
  });
  const lines = countLines(data, blocks);
  const located = sum(blocks.flatMap((block) => block.places.map((place) => place.executed)));
  const unlocated = subtract(executed, located);
  return { data, strings, blocks, edges, lines, sections: findSections(data, strings, blocks, line), unlocated, executed };
}

function countLines(data: FunctionData, blocks: Block[]): Map<string, LineCounts> {
  const lines = new Map<string, LineCounts>();
  for (const [file, rows] of data.lines) {
    for (const [line, count, executed] of rows) lines.set(lineKey(file, line), { count: read(count), before: null, executed: read(executed), pieces: [] });
  }
  for (const [file, rows] of data.lines_before ?? []) {
    for (const [line, count] of rows) {
      const counts = lines.get(lineKey(file, line));
      if (counts) counts.before = read(count);
    }
  }
  for (const block of blocks) {
    for (const { place, executed } of block.places) {
      const [file, line, column] = data.places[place]!;
      const counts = lines.get(lineKey(file, line));
      if (!counts) continue;
      let piece = counts.pieces.find((piece) => piece.column === column);
      if (!piece) counts.pieces.push((piece = { column, blocks: [], counts: [], executed: 0 }));
      if (!piece.blocks.includes(block.id)) {
        piece.blocks.push(block.id);
        piece.counts.push(block.count);
      }
      piece.executed = add(piece.executed, executed);
    }
  }
  for (const counts of lines.values()) counts.pieces.sort((a, b) => a.column - b.column);
  return lines;
}

/** Own code first, then inlined functions, the hottest first; copies of one function together. */
function findSections(data: FunctionData, strings: string[], blocks: Block[], definition: number): Section[] {
  const sections = new Map<string, Section>();
  const ofScope = data.scopes.map(([name, line, file, at], scope) => {
    const key = scope === 0 ? "own" : `${name}:${line}:${file}`;
    const known = sections.get(key);
    const section = known ?? {
      name: strings[name]!,
      file,
      from: line || Infinity,
      to: line,
      isOwn: scope === 0,
      copies: 0,
      executed: 0,
      at: [],
    };
    if (!known) sections.set(key, section);
    section.copies++;
    if (at !== null) {
      const [atFile, atLine] = data.places[at]!;
      if (!section.at.some((place) => place.file === atFile && place.line === atLine)) section.at.push({ file: atFile, line: atLine });
    }
    return section;
  });
  for (const block of blocks) {
    for (const { place, executed } of block.places) {
      const [file, line, , scope] = data.places[place]!;
      let section = ofScope[scope]!;
      if (file !== section.file) {
        // Text of another file that was included amid the function.
        const key = `${scope}@${file}`;
        const included = sections.get(key) ?? { ...section, file, from: line, to: line, isOwn: false, executed: 0, at: [] };
        sections.set(key, included);
        section = included;
      }
      section.executed = add(section.executed, executed);
      stretch(section, file, line);
    }
  }
  // Calls that only inlined code is left of are lines of their function, too.
  for (const [, , , at] of data.scopes) {
    if (at !== null) {
      const [file, line, , scope] = data.places[at]!;
      stretch(ofScope[scope]!, file, line);
    }
  }
  const own = ofScope[0]!;
  if (own.from === Infinity) own.from = definition || 1;
  own.to = Math.max(own.to, own.from);
  const others = [...sections.values()].filter((section) => !section.isOwn && section.to > 0 && section.from !== Infinity);
  others.sort((a, b) => descending(a.executed, b.executed) || a.from - b.from);
  return [own, ...others];
}

function stretch(section: Section, file: number, line: number) {
  if (file !== section.file || line === 0) return;
  section.from = Math.min(section.from, line);
  section.to = Math.max(section.to, line);
}

/** Blocks that call into, or belong to, a source line. */
export function blocksOfLine(counts: LineCounts | undefined): number[] {
  return counts ? [...new Set(counts.pieces.flatMap((piece) => piece.blocks))].sort((a, b) => a - b) : [];
}
