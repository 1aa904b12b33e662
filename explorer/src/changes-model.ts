// What changed since an earlier profile, with counts read.

import { add, read, signed, sum, type Count } from "./count";
import type { ChangesData, Parts } from "./schema";
import { functionLink } from "./route";

export const REASONS = ["ran", "code", "new", "vanished", "inlining"] as const;
export type Reason = (typeof REASONS)[number];
export type Change = Record<Reason, Count> & { total: Count };

export interface Side {
  instructions: Count;
  calls: Count;
  functions: number;
}

export interface Changed {
  position: number;
  name: string;
  file: string | null;
  line: number;
  matchedBy: "symbol" | "shape" | "name" | null;
  before: Side | null;
  after: Side | null;
  /** Which functions it is about, of the later profile and of the earlier one. */
  ids: number[];
  idsBefore: number[];
  change: Change;
}

export interface Changes {
  before: Count;
  after: Count;
  isExact: boolean;
  change: Change;
  moved: Count;
  unchanged: number;
  functions: Changed[];
  /** By function of the later profile, and of the earlier one; those that did not change are in neither. */
  byId: Map<number, Changed>;
  byIdBefore: Map<number, Changed>;
}

function makeChange(parts: Parts): Change {
  const [ran, code, added, vanished, inlining] = parts.map(read) as [Count, Count, Count, Count, Count];
  return { ran, code, new: added, vanished, inlining, total: sum([ran, code, added, vanished, inlining]) };
}

export function makeChanges(data: ChangesData): Changes {
  const side = (side: ChangesData["functions"][0]["before"]) =>
    side && { instructions: read(side[0]), calls: read(side[1]), functions: side[2] };
  const functions = data.functions.map((row, position): Changed => ({
    position,
    name: row.name,
    file: row.file,
    line: row.line,
    matchedBy: row.matched_by,
    before: side(row.before),
    after: side(row.after),
    ids: row.ids,
    idsBefore: row.ids_before,
    change: makeChange(row.change),
  }));
  const change = makeChange(data.change);
  const before = read(data.instructions);
  const byId = new Map<number, Changed>();
  const byIdBefore = new Map<number, Changed>();
  for (const row of functions) {
    for (const id of row.ids) byId.set(id, row);
    for (const id of row.idsBefore) byIdBefore.set(id, row);
  }
  return { before, after: add(before, change.total), isExact: data.is_exact, change, moved: read(data.moved), unchanged: data.unchanged, functions, byId, byIdBefore };
}

/** The page of the first of its functions in the earlier profile. */
export const earlierLink = (row: Changed) => functionLink({ base: "#/before" }, row.idsBefore[0]!);

/** The parts of a change that are not nothing, in words. */
export function reasonsOf(change: Change): string {
  return REASONS.filter((name) => change[name] != 0).map((name) => `${name} ${signed(change[name])}`).join(", ");
}
