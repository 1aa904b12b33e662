// Functions as a tree: modules > files > functions > instantiations, sorted.

import { descending, ratio, type Count } from "./count";
import type { Sort } from "./grid";
import { sumRows, type Model, type Row, type Sums } from "./model";
import { fileLink, functionLink } from "./route";

export type Column = "name" | "instructions" | "calls" | "blocks" | "bias";

export interface Node {
  key: string;
  label: string;
  title: string;
  kind: "module" | "file" | "function" | "instantiation";
  link: string | null;
  sums: Sums;
  children: Node[];
}

/** A function, or an instantiation of one, alone. */
export function leaf(model: Model, row: Row): Node {
  return {
    key: `i${row.id}`,
    label: row.shortName,
    title: row.name.slice(0, 2000),
    kind: "instantiation",
    link: functionLink(model, row.id),
    sums: sumRows([row]),
    children: [],
  };
}

function groupBy<K>(rows: Row[], key: (row: Row) => K): Map<K, Row[]> {
  const groups = new Map<K, Row[]>();
  for (const row of rows) {
    const group = groups.get(key(row));
    if (group) group.push(row);
    else groups.set(key(row), [row]);
  }
  return groups;
}

/** A level with a single child of the same name is left out: a C file is a module of its own. */
export function makeTree(model: Model, rows: Row[]): Node[] {
  return [...groupBy(rows, (row) => row.module)].map(([module, rows]) => {
    const files = [...groupBy(rows, (row) => row.file)].map(([file, rows]): Node => {
      const label = file === null ? "(no source file)" : model.filePath(file);
      return {
        key: `m${module}f${file}`,
        label,
        title: file === null ? label : model.index.files[file]!.path,
        kind: "file",
        link: file === null ? null : fileLink(model, file),
        sums: sumRows(rows),
        children: functions(model, `m${module}f${file}`, rows),
      };
    });
    const name = model.modulePath(module);
    const only = files.length === 1 && files[0]!.label === name ? files[0]! : null;
    return {
      key: `m${module}`,
      label: name,
      title: model.index.modules[module]![0],
      kind: "module",
      link: null,
      sums: sumRows(rows),
      children: only ? only.children : files,
    };
  });
}

function functions(model: Model, key: string, rows: Row[]): Node[] {
  return [...groupBy(rows, (row) => row.group)].map(([group, rows]): Node => {
    if (rows.length === 1) return { ...leaf(model, rows[0]!), kind: "function" };
    const hottest = [...rows].sort((a, b) => descending(a.instructions, b.instructions))[0]!;
    return {
      key: `${key}g${group}`,
      label: generic(hottest.shortName),
      title: `${rows.length} instantiations`,
      kind: "function",
      link: null,
      sums: sumRows(rows),
      children: rows.map((row) => leaf(model, row)),
    };
  });
}

/** A name with `..` for its generic arguments. */
function generic(name: string): string {
  let plain = name;
  for (let last = ""; last !== plain; ) {
    last = plain;
    plain = plain.replace(/<(?!\.\.>)(?:[^<>]|<\.\.>)*>/g, "<..>");
  }
  return plain.startsWith("<..>") ? name : plain;
}

export function sortNodes(nodes: Node[], sort: Sort<Column>): Node[] {
  const key: Record<Exclude<Column, "name">, (node: Node) => Count> = {
    instructions: (node) => node.sums.instructions,
    calls: (node) => node.sums.calls,
    blocks: (node) => node.sums.blocksExecuted,
    bias: (node) => (node.sums.branches == 0 ? -1 : ratio(node.sums.usual, node.sums.branches)),
  };
  const { column, ascending } = sort;
  const compare =
    column === "name"
      ? (a: Node, b: Node) => (a.label < b.label ? -1 : a.label > b.label ? 1 : 0)
      : (a: Node, b: Node) => descending(key[column](b), key[column](a));
  const sign = ascending ? 1 : -1;
  return [...nodes].sort((a, b) => sign * compare(a, b) || (a.label < b.label ? -1 : a.label > b.label ? 1 : 0));
}
