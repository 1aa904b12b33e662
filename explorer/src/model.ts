// The table of functions, with counts read and sums by module, file and source function.

import { makeChanges, type Changes } from "./changes-model";
import { add, descending, read, type Count } from "./count";
import { clip, commonFolder, fileName, nearPath } from "./names";
import type { Base } from "./route";
import type { Index } from "./schema";

export interface Row {
  id: number;
  name: string;
  shortName: string;
  module: number;
  file: number | null;
  line: number;
  group: number;
  calls: Count;
  instructions: Count;
  blocks: number;
  blocksExecuted: number;
  branches: Count | null;
  usual: Count | null;
}

export interface Model {
  index: Index;
  /** Where its pages begin. */
  base: Base;
  rows: Row[];
  /** All instantiations of a source function, by its number. */
  groups: Map<number, Row[]>;
  instructions: Count;
  /** Short, distinct names of files and modules. */
  filePath: (file: number) => string;
  modulePath: (module: number) => string;
  title: string;
  /** What changed since an earlier profile, where there is one; the pages of that one have it, too. */
  changes: Changes | null;
}

/** `later` is the model of the profile that this one is compared with, when this is the earlier one. */
export function makeModel(index: Index, later?: Model): Model {
  const table = index.functions;
  const rows = table.name.map((name, id): Row => ({
    id,
    name,
    shortName: clip(name.replace(/::h[0-9a-f]{16}$/, "")),
    module: table.module[id]!,
    file: table.file[id]!,
    line: table.line[id]!,
    group: table.group[id]!,
    calls: read(table.entries[id]!),
    instructions: read(table.instructions[id]!),
    blocks: table.blocks[id]!,
    blocksExecuted: table.blocks_executed[id]!,
    branches: table.branches[id] == null ? null : read(table.branches[id]),
    usual: table.usual[id] == null ? null : read(table.usual[id]),
  }));
  const groups = new Map<number, Row[]>();
  for (const row of rows) {
    const group = groups.get(row.group);
    if (group) group.push(row);
    else groups.set(row.group, [row]);
  }
  for (const group of groups.values()) group.sort((a, b) => descending(a.instructions, b.instructions));
  const mine = index.files.map((file) => file.path).filter((path) => nearPath(path, "") === path && !path.startsWith("/usr/"));
  const root = commonFolder(mine);
  const files = index.files.map((file) => nearPath(file.path, root));
  const modules = index.modules.map(([source]) => nearPath(source, root));
  const executables = [...new Set(index.processes.map((process) => fileName(process.executable)))];
  return {
    index,
    base: later ? "#/before" : "#",
    rows,
    groups,
    changes: later ? later.changes : index.changes ? makeChanges(index.changes) : null,
    instructions: read(index.totals.instructions),
    filePath: (file) => files[file]!,
    modulePath: (module) => modules[module]!,
    title: executables.length === 0 ? "no process" : executables.slice(0, 3).join(", ") + (executables.length > 3 ? ` and ${executables.length - 3} more` : ""),
  };
}

/** What a row of the table shows, for one function or many. */
export interface Sums {
  instructions: Count;
  calls: Count;
  blocks: number;
  blocksExecuted: number;
  branches: Count;
  usual: Count;
  functions: number;
}

export function sumRows(rows: Row[]): Sums {
  const sums: Sums = { instructions: 0, calls: 0, blocks: 0, blocksExecuted: 0, branches: 0, usual: 0, functions: rows.length };
  for (const row of rows) {
    sums.instructions = add(sums.instructions, row.instructions);
    sums.calls = add(sums.calls, row.calls);
    sums.blocks += row.blocks;
    sums.blocksExecuted += row.blocksExecuted;
    if (row.branches !== null && row.usual !== null) {
      sums.branches = add(sums.branches, row.branches);
      sums.usual = add(sums.usual, row.usual);
    }
  }
  return sums;
}
