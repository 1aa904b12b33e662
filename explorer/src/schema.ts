// What is in the pieces of the report (docs/HTML.md).

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
    usual: (Written | null)[];
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
