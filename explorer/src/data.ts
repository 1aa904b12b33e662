// The pieces of the report and what is in them (docs/HTML.md). Each is unpacked once, when it is first asked for.

import type { Written } from "./count";

export interface Index {
  schema: string;
  producer: string;
  /** What the names of its pieces begin with. */
  prefix: string;
  is_folder: boolean;
  is_exact: boolean;
  totals: {
    functions: number;
    functions_executed: number;
    blocks: number;
    blocks_executed: number;
    block_executions: Written;
    instructions: Written;
    instructions_with_line: Written;
    compared_edges: number;
  };
  /** `pid` 0: `number` processes that are not told apart. */
  processes: { pid: number; number: number; executable: string; fate: string; caveat: string | null }[];
  exceptions: { name: string; block: number | null; reason: string }[];
  skipped: { name: string; module: string; reason: string }[];
  images: string[];
  modules: [string, number][];
  files: {
    path: string;
    lines: number;
    lines_executed: number;
    instructions: Written;
    text_lines: number | null;
    remark: string | null;
    parts: number[];
  }[];
  functions: {
    name: string[];
    symbol: (string | null)[];
    module: number[];
    file: (number | null)[];
    line: number[];
    group: number[];
    entries: Written[];
    instructions: Written[];
    unlocated: Written[];
    blocks: number[];
    blocks_executed: number[];
    branches: (Written | null)[];
    majority: (Written | null)[];
  };
  hottest_blocks: [number, number, Written, Written, [number, number] | null][];
  pieces: number[];
  changes?: ChangesData;
}

/** Ran, code, new, vanished, inlining. */
export type Parts = [Written, Written, Written, Written, Written];
type Side = [instructions: Written, calls: Written, functions: number];

/** What changed since an earlier profile. */
export interface ChangesData {
  instructions: Written;
  is_exact: boolean;
  change: Parts;
  moved: Written;
  unchanged: number;
  functions: {
    name: string;
    file: string | null;
    line: number;
    matched_by: "symbol" | "shape" | "name" | null;
    before: Side | null;
    after: Side | null;
    ids: number[];
    ids_before: number[];
    change: Parts;
  }[];
}

export type EdgeKind = "branch" | "switch" | "invoke" | "unwind" | "indirect" | "fallthrough";
export type Callee = { function: number } | { name: number } | "pointer" | "asm";

export interface BlockData {
  count: Written;
  executed: Written;
  opcodes: [number, number][];
  places: [number, number, Written][];
  calls?: [Callee, Written, number | null][];
  vanished?: string;
  ir?: string;
}

export interface FunctionData {
  linkage: "external" | "hidden" | "internal" | "comdat";
  blocks: BlockData[];
  edges: [number, number, Written | null, EdgeKind][];
  places: [file: number, line: number, column: number, scope: number][];
  scopes: [name: number, line: number, file: number, at: number | null][];
  lines: [number, [line: number, count: Written, executed: Written][]][];
  callers: [number, number, Written][];
  num_paths?: Written;
  before?: Written[];
  lines_before?: [file: number, [line: number, count: Written][]][];
}

export interface PathData {
  number: Written;
  count: Written;
  executed: Written;
  from_entry: boolean;
  end: "leaves" | "vanishes" | number;
  blocks: number[];
}

/** Views of a function that are read when they are opened. */
export interface ViewData {
  opcodes: [opcode: number, group: string, in_code: number, executed: Written][];
  branches: [if_true: Written, if_false: Written, unknown: number];
  paths?: { taken: number; count: Written; executed: Written; hottest: PathData[] };
}

export interface ViewPiece {
  first: number;
  functions: ViewData[];
  strings: string[];
}

export interface FunctionPiece {
  first: number;
  functions: FunctionData[];
  strings: string[];
}

export interface SourcePart {
  first_line: number;
  text: string | null;
  lines: [line: number, count: Written, executed: Written, stands: [number, number, Written, Written][]][];
  functions: [line: number, last: number, name: string, entries: Written, inlined: Written][];
}

export const LINES_OF_A_PART = 2000;
const pieces = new Map<string, Promise<unknown>>();
const arrivals = new Map<string, (data: string) => void>();

declare global {
  interface Window {
    bbprofData: (name: string, data: string) => void;
  }
}

window.bbprofData = (name, data) => arrivals.get(name)?.(data);

async function unpack(data: string): Promise<unknown> {
  const text = atob(data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
}

const whenParsed = new Promise<void>((resolve) => {
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", () => resolve());
  else resolve();
});

async function fetchPiece(name: string): Promise<string> {
  const inPage = () => document.getElementById(`data-${name}`)?.textContent;
  const now = inPage();
  if (now != null) return now;
  await whenParsed;
  const then = inPage();
  if (then != null) return then;
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    arrivals.set(name, resolve);
    script.src = `data/${name}.js`;
    script.onload = () => script.remove();
    script.onerror = () => reject(new Error(`data/${name}.js is missing: the whole folder is needed, not only index.html`));
    document.head.append(script);
  });
}

function piece<T>(name: string): Promise<T> {
  let known = pieces.get(name) as Promise<T> | undefined;
  if (!known) {
    known = fetchPiece(name).then(unpack) as Promise<T>;
    pieces.set(name, known);
  }
  return known;
}

export const loadIndex = () => piece<Index>("index");

/** The index of the earlier profile, of a comparison. */
export const loadEarlierIndex = () => piece<Index>("before.index");

/** The number of the piece that has a function. */
function pieceOf(index: Index, id: number): number {
  const starts = index.pieces;
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle]! <= id) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The data of a function, and the texts it refers to. */
export async function loadFunction(index: Index, id: number): Promise<{ data: FunctionData; strings: string[] }> {
  const chunk = await piece<FunctionPiece>(`${index.prefix}f${pieceOf(index, id)}`);
  return { data: chunk.functions[id - chunk.first]!, strings: chunk.strings };
}

/** Mix and paths of a function, and the texts they refer to. */
export async function loadViews(index: Index, id: number): Promise<{ data: ViewData; strings: string[] }> {
  const chunk = await piece<ViewPiece>(`${index.prefix}v${pieceOf(index, id)}`);
  return { data: chunk.functions[id - chunk.first]!, strings: chunk.strings };
}

/** The part of a file that has this line, by its number. */
export const partOf = (line: number) => Math.floor((line - 1) / LINES_OF_A_PART);

export const loadPart = (index: Index, file: number, part: number) => piece<SourcePart>(`${index.prefix}s${file}.${part}`);

/** Which of these lines of a file are shown: of its text all, and behind it, where `#line` may put code anywhere, those with code. */
export function shownLines(file: Index["files"][0], from: number, to: number, withCode: number[]): number[] {
  const lines: number[] = [];
  const end = Math.min(file.text_lines ?? 0, to);
  for (let line = from; line <= end; line++) lines.push(line);
  const behind = withCode.filter((line) => line > end && from <= line && line <= to);
  return lines.concat(behind.sort((a, b) => a - b));
}

/** The parts of a file that have these lines. */
export function loadSource(index: Index, file: number, from: number, to: number): Promise<SourcePart[]> {
  const parts = index.files[file]!.parts.filter((part) => partOf(from) <= part && part <= partOf(to));
  return Promise.all(parts.map((part) => loadPart(index, file, part)));
}
