// Modules > files > functions > instantiations, or all functions or files as a list:
// sorted, filtered, searched; any number of rows.

import { useEffect, useMemo, useState } from "preact/hooks";
import { descending, digits, percent, ratio, read, type Count } from "./count";
import { sumRows, type Model, type Row, type Sums } from "./model";
import { fileLink, functionLink, pageLink } from "./route";
import { search } from "./search";
import { VirtualList } from "./virtual";
import { Bar, bias } from "./widgets";

const ROW = 30;
type Column = "name" | "instructions" | "calls" | "blocks" | "bias";
type By = "tree" | "functions" | "files";

interface Node {
  key: string;
  label: string;
  title: string;
  kind: "module" | "file" | "function" | "instantiation";
  link: string | null;
  sums: Sums;
  children: Node[];
}

/** What the table looked like, for when one comes back to it. */
const memory = {
  query: "",
  onlyRan: true,
  sort: { column: "instructions" as Column, ascending: false },
  open: new Set<string>(),
  scroll: { tree: { top: 0 }, functions: { top: 0 }, files: { top: 0 } } as Record<By, { top: number }>,
};

export function TablePage({ model, by }: { model: Model; by: By }) {
  const [query, setQuery] = useState(memory.query);
  const [onlyRan, setOnlyRan] = useState(memory.onlyRan);
  const [sort, setSort] = useState(memory.sort);
  const [open, setOpen] = useState(memory.open);
  // Until a row is chosen, the list stays where it was.
  const [chosen, choose] = useState<number | null>(null);
  const active = chosen ?? 0;
  Object.assign(memory, { query, onlyRan, sort, open });
  useEffect(() => choose(null), [by, query]);

  const haystack = useMemo(
    () => model.rows.map((row) => `${row.name.slice(0, 400)} ${row.file === null ? "" : model.filePath(row.file)} ${model.modulePath(row.module)}`),
    [model],
  );
  const rows = useMemo(() => {
    const found = search(haystack, query);
    const rows = found === null ? model.rows : found.map((position) => model.rows[position]!);
    return onlyRan ? rows.filter((row) => row.blocksExecuted > 0) : rows;
  }, [model, query, onlyRan]);
  const roots = useMemo(() => (by === "files" ? [] : by === "functions" ? rows.map((row) => leaf(model, row)) : makeTree(model, rows)), [model, rows, by]);
  const sorted = useMemo(() => sortNodes(roots, sort), [roots, sort]);
  const isSearching = query.trim() !== "" && rows.length <= 400;
  const flat = useMemo(() => {
    const flat: { node: Node; level: number; isOpen: boolean }[] = [];
    const walk = (nodes: Node[], level: number) => {
      for (const node of nodes) {
        const isOpen = node.children.length > 0 && (isSearching ? node.kind !== "function" : open.has(node.key));
        flat.push({ node, level, isOpen });
        if (isOpen) walk(sortNodes(node.children, sort), level + 1);
      }
    };
    walk(sorted, 0);
    return flat;
  }, [sorted, open, isSearching, sort]);

  const toggle = (key: string) => {
    const copy = new Set(open);
    if (!copy.delete(key)) copy.add(key);
    setOpen(copy);
  };
  const header = (column: Column, text: string, title?: string) => (
    <div role="columnheader" class={`cell ${column}`} aria-sort={sort.column === column ? (sort.ascending ? "ascending" : "descending") : "none"}>
      <button type="button" title={title} onClick={() => setSort({ column, ascending: sort.column === column ? !sort.ascending : column === "name" })}>
        {text}
        <span aria-hidden="true">{sort.column === column ? (sort.ascending ? " ↑" : " ↓") : ""}</span>
      </button>
    </div>
  );
  const keys = (event: KeyboardEvent) => {
    const row = flat[active];
    switch (event.key) {
      case "ArrowRight": if (row && row.node.children.length && !row.isOpen) toggle(row.node.key); break;
      case "ArrowLeft": if (row?.isOpen) toggle(row.node.key); break;
      case "Enter":
        if ((event.target as HTMLElement).closest("a, button")) return;
        if (row?.node.link) location.hash = row.node.link;
        else if (row) toggle(row.node.key);
        break;
      default: {
        const next = moved(event.key, active, flat.length);
        if (next === null) return;
        choose(next);
      }
    }
    event.preventDefault();
  };
  const shown = useMemo(() => sumRows(rows), [rows]);
  const whole = model.instructions;
  const row = (position: number) => {
    const { node, level, isOpen } = flat[position]!;
    const { sums } = node;
    return (
      <div
        role="row"
        key={node.key}
        id={`row-${position}`}
        class={`row ${node.kind}${position === active ? " active" : ""}${sums.instructions == 0 ? " never" : ""}`}
        style={{ height: `${ROW}px` }}
        aria-level={by === "tree" ? level + 1 : undefined}
        aria-expanded={node.children.length ? isOpen : undefined}
        onClick={() => choose(position)}
      >
        <div role="gridcell" class="cell name" style={{ paddingLeft: `${0.5 + level * 1.1}rem` }} title={node.title}>
          {node.children.length > 0 ? (
            <button type="button" class="twist" tabIndex={-1} aria-label={isOpen ? "Close" : "Open"} onClick={() => toggle(node.key)}>{isOpen ? "▾" : "▸"}</button>
          ) : (
            by === "tree" && <span class="twist" />
          )}
          {node.link ? <a href={node.link} tabIndex={-1}><Label node={node} /></a> : <button type="button" class="plain" tabIndex={-1} onClick={() => toggle(node.key)}><Label node={node} /></button>}
          {node.children.length > 0 && <small>{digits(node.kind === "function" ? node.children.length : sums.functions)}</small>}
        </div>
        <div role="gridcell" class="cell instructions">{digits(sums.instructions)}</div>
        <div role="gridcell" class="cell share"><Bar part={sums.instructions} whole={whole} /><span>{percent(sums.instructions, whole)}</span></div>
        <div role="gridcell" class="cell calls">{digits(sums.calls)}</div>
        <div role="gridcell" class="cell blocks">{digits(sums.blocksExecuted)}<small> / {digits(sums.blocks)}</small></div>
        <div role="gridcell" class="cell bias">{bias(sums.branches, sums.usual)}</div>
      </div>
    );
  };
  return (
    <main class="table-page">
      <div class="table-bar">
        <div class="segments" role="group" aria-label="Rows">
          {(["tree", "functions", "files"] as By[]).map((name) => (
            <a key={name} href={pageLink(model, name)} aria-current={by === name ? "page" : undefined}>{{ tree: "Modules", functions: "Functions", files: "Files" }[name]}</a>
          ))}
        </div>
        <input type="search" id="filter" placeholder="Filter by name, file or module" aria-label="Filter" value={query} onInput={(event) => setQuery(event.currentTarget.value)} />
        <label class="check"><input type="checkbox" checked={onlyRan} onChange={() => setOnlyRan(!onlyRan)} /> only what ran</label>
        {by !== "files" && (
          <output class="quiet">{digits(rows.length)} functions, {percent(shown.instructions, whole)} of all instructions</output>
        )}
      </div>
      {by === "files" ? (
        <Files model={model} query={query} onlyRan={onlyRan} />
      ) : (
        <div role={by === "tree" ? "treegrid" : "grid"} class="grid" aria-label="Functions" aria-rowcount={flat.length} onKeyDown={keys}>
          <div role="row" class="row head">
            {header("name", by === "tree" ? "Module › file › function › instantiation" : "Function")}
            {header("instructions", "Instructions", "Executed LLVM IR instructions")}
            <div role="columnheader" class="cell share">Share</div>
            {header("calls", "Calls", "Entries of the function")}
            {header("blocks", "Blocks run", "Executed blocks of all blocks")}
            {header("bias", "Branch bias", "Share of branch executions that went their branch's most frequent way")}
          </div>
          {flat.length === 0 && <p class="empty">{onlyRan ? "Nothing that ran matches." : "Nothing matches."}</p>}
          <VirtualList key={by} count={flat.length} rowHeight={ROW} row={row} reveal={chosen} memory={memory.scroll[by]} attributes={{ role: "rowgroup", "aria-activedescendant": `row-${active}` }} />
        </div>
      )}
    </main>
  );
}

/** The row to which a key leads. */
function moved(key: string, active: number, count: number): number | null {
  const last = Math.max(0, count - 1);
  switch (key) {
    case "ArrowDown": return Math.min(last, active + 1);
    case "ArrowUp": return Math.max(0, active - 1);
    case "PageDown": return Math.min(last, active + 20);
    case "PageUp": return Math.max(0, active - 20);
    case "Home": return 0;
    case "End": return last;
    default: return null;
  }
}

/** Of a path, the file's own name stays when there is no room for all. */
function Label({ node }: { node: Pick<Node, "kind" | "label"> }) {
  const slash = node.kind === "module" || node.kind === "file" ? node.label.lastIndexOf("/") + 1 : 0;
  if (slash === 0) return <span class="label">{node.label}</span>;
  return <><span class="folder">{node.label.slice(0, slash)}</span><span class="base">{node.label.slice(slash)}</span></>;
}

function leaf(model: Model, row: Row): Node {
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
function makeTree(model: Model, rows: Row[]): Node[] {
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

function sortNodes(nodes: Node[], sort: { column: Column; ascending: boolean }): Node[] {
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

type FileColumn = "name" | "instructions" | "blocks" | "calls";

/** What the list of files was sorted by. */
const fileMemory = { sort: { column: "instructions" as FileColumn, ascending: false } };

function Files({ model, query, onlyRan }: { model: Model; query: string; onlyRan: boolean }) {
  const [sort, setSort] = useState(fileMemory.sort);
  const [chosen, choose] = useState<number | null>(null);
  const active = chosen ?? 0;
  fileMemory.sort = sort;
  useEffect(() => choose(null), [query]);
  const files = useMemo(() => {
    const all = model.index.files.map((file, id) => ({ ...file, id, name: model.filePath(id), counted: read(file.instructions) }));
    const found = search(all.map((file) => file.name), query);
    const files = (found === null ? all : found.map((position) => all[position]!)).filter((file) => file.lines > 0 && (!onlyRan || file.lines_executed > 0));
    type File = (typeof files)[0];
    const byName = (a: File, b: File) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
    const compare: Record<FileColumn, (a: File, b: File) => number> = {
      name: byName,
      instructions: (a, b) => descending(b.counted, a.counted),
      blocks: (a, b) => a.lines_executed / a.lines - b.lines_executed / b.lines,
      calls: (a, b) => a.lines_executed - b.lines_executed,
    };
    const sign = sort.ascending ? 1 : -1;
    return files.sort((a, b) => sign * compare[sort.column](a, b) || byName(a, b));
  }, [model, query, onlyRan, sort]);
  const header = (column: FileColumn, text: string) => (
    <div role="columnheader" class={`cell ${column}`} aria-sort={sort.column === column ? (sort.ascending ? "ascending" : "descending") : "none"}>
      <button type="button" onClick={() => setSort({ column, ascending: sort.column === column ? !sort.ascending : column === "name" })}>
        {text}
        <span aria-hidden="true">{sort.column === column ? (sort.ascending ? " ↑" : " ↓") : ""}</span>
      </button>
    </div>
  );
  const keys = (event: KeyboardEvent) => {
    const next = moved(event.key, active, files.length);
    if (next !== null) choose(next);
    else if (event.key === "Enter" && files[active] && !(event.target as HTMLElement).closest("a, button")) location.hash = fileLink(model, files[active].id);
    else return;
    event.preventDefault();
  };
  return (
    <div role="grid" class="grid files" aria-label="Files" aria-rowcount={files.length} onKeyDown={keys}>
      <div role="row" class="row head">
        {header("name", "File, with all code that has its source there")}
        {header("instructions", "Instructions")}
        <div role="columnheader" class="cell share">Share</div>
        {header("blocks", "Lines run")}
        {header("calls", "Lines")}
      </div>
      {files.length === 0 && <p class="empty">{onlyRan ? "Nothing that ran matches." : "Nothing matches."}</p>}
      <VirtualList
        count={files.length}
        rowHeight={ROW}
        reveal={chosen}
        memory={memory.scroll.files}
        attributes={{ role: "rowgroup", "aria-activedescendant": `row-${active}` }}
        row={(position) => {
          const file = files[position]!;
          return (
            <div role="row" id={`row-${position}`} class={`row file${position === active ? " active" : ""}${file.lines_executed === 0 ? " never" : ""}`} key={file.id} style={{ height: `${ROW}px` }} onClick={() => choose(position)}>
              <div role="gridcell" class="cell name" title={file.path}><a href={fileLink(model, file.id)}><Label node={{ kind: "file", label: file.name }} /></a>{file.remark && <small title={file.remark}> {file.text_lines === null ? "not readable" : "changed?"}</small>}</div>
              <div role="gridcell" class="cell instructions">{digits(file.counted)}</div>
              <div role="gridcell" class="cell share"><Bar part={file.counted} whole={model.instructions} /><span>{percent(file.counted, model.instructions)}</span></div>
              <div role="gridcell" class="cell blocks">{percent(file.lines_executed, file.lines)}</div>
              <div role="gridcell" class="cell calls">{digits(file.lines_executed)}<small> / {digits(file.lines)}</small></div>
            </div>
          );
        }}
      />
    </div>
  );
}
