// All functions, as a tree or a list: sorted, any number of rows.

import { useEffect, useMemo, useState } from "preact/hooks";
import { digits, percent, type Count } from "./count";
import { Heading, Label, moved, ROW, type Sort } from "./grid";
import type { Model, Row } from "./model";
import { leaf, makeTree, sortNodes, type Column, type Node } from "./tree";
import { VirtualList } from "./virtual";
import { Bar, bias } from "./widgets";

interface Shown {
  node: Node;
  level: number;
  isOpen: boolean;
}

/** What the table looked like, for when one comes back to it. */
const memory = {
  sort: { column: "instructions", ascending: false } as Sort<Column>,
  open: new Set<string>(),
  scroll: { tree: { top: 0 }, functions: { top: 0 } },
};

export function Functions({ model, by, rows, query, onlyRan }: {
  model: Model;
  by: "tree" | "functions";
  rows: Row[];
  query: string;
  onlyRan: boolean;
}) {
  const [sort, setSort] = useState(memory.sort);
  const [open, setOpen] = useState(memory.open);
  // Until a row is chosen, the list stays where it was.
  const [chosen, choose] = useState<number | null>(null);
  const active = chosen ?? 0;
  Object.assign(memory, { sort, open });
  useEffect(() => choose(null), [by, query]);

  const roots = useMemo(() => (by === "functions" ? rows.map((row) => leaf(model, row)) : makeTree(model, rows)), [model, rows, by]);
  const sorted = useMemo(() => sortNodes(roots, sort), [roots, sort]);
  const isSearching = query.trim() !== "" && rows.length <= 400;
  const flat = useMemo(() => {
    const flat: Shown[] = [];
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
  const heading = (column: Column, text: string, title?: string) => <Heading {...{ column, text, title, sort, setSort }} />;
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
  const row = (position: number) => {
    const shown = flat[position]!;
    return (
      <FunctionRow
        key={shown.node.key}
        {...shown}
        position={position}
        whole={model.instructions}
        isTree={by === "tree"}
        isActive={position === active}
        choose={() => choose(position)}
        toggle={() => toggle(shown.node.key)}
      />
    );
  };
  return (
    <div role={by === "tree" ? "treegrid" : "grid"} class="grid" aria-label="Functions" aria-rowcount={flat.length} onKeyDown={keys}>
      <div role="row" class="row head">
        {heading("name", by === "tree" ? "Module › file › function › instantiation" : "Function")}
        {heading("instructions", "Instructions", "Executed LLVM IR instructions")}
        <div role="columnheader" class="cell share">Share</div>
        {heading("calls", "Calls", "Entries of the function")}
        {heading("blocks", "Blocks run", "Executed blocks of all blocks")}
        {heading("bias", "Branch bias", "Share of branch executions that went their branch's most frequent way")}
      </div>
      {flat.length === 0 && <p class="empty">{onlyRan ? "Nothing that ran matches." : "Nothing matches."}</p>}
      <VirtualList key={by} count={flat.length} rowHeight={ROW} row={row} reveal={chosen} memory={memory.scroll[by]} attributes={{ role: "rowgroup", "aria-activedescendant": `row-${active}` }} />
    </div>
  );
}

function FunctionRow({ node, level, isOpen, position, whole, isTree, isActive, choose, toggle }: Shown & {
  position: number;
  whole: Count;
  isTree: boolean;
  isActive: boolean;
  choose: () => void;
  toggle: () => void;
}) {
  const { sums } = node;
  const label = <Label label={node.label} isPath={node.kind === "module" || node.kind === "file"} />;
  return (
    <div
      role="row"
      id={`row-${position}`}
      class={`row ${node.kind}${isActive ? " active" : ""}${sums.instructions == 0 ? " never" : ""}`}
      style={{ height: `${ROW}px` }}
      aria-level={isTree ? level + 1 : undefined}
      aria-expanded={node.children.length ? isOpen : undefined}
      onClick={choose}
    >
      <div role="gridcell" class="cell name" style={{ paddingLeft: `${0.5 + level * 1.1}rem` }} title={node.title}>
        {node.children.length > 0 ? (
          <button type="button" class="twist" tabIndex={-1} aria-label={isOpen ? "Close" : "Open"} onClick={toggle}>{isOpen ? "▾" : "▸"}</button>
        ) : (
          isTree && <span class="twist" />
        )}
        {node.link ? <a href={node.link} tabIndex={-1}>{label}</a> : <button type="button" class="plain" tabIndex={-1} onClick={toggle}>{label}</button>}
        {node.children.length > 0 && <small>{digits(node.kind === "function" ? node.children.length : sums.functions)}</small>}
      </div>
      <div role="gridcell" class="cell instructions">{digits(sums.instructions)}</div>
      <div role="gridcell" class="cell share"><Bar part={sums.instructions} whole={whole} /><span>{percent(sums.instructions, whole)}</span></div>
      <div role="gridcell" class="cell calls">{digits(sums.calls)}</div>
      <div role="gridcell" class="cell blocks">{digits(sums.blocksExecuted)}<small> / {digits(sums.blocks)}</small></div>
      <div role="gridcell" class="cell bias">{bias(sums.branches, sums.usual)}</div>
    </div>
  );
}
