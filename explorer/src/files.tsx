// All files of the source, as a list.

import { useEffect, useMemo, useState } from "preact/hooks";
import { descending, digits, percent, read } from "./count";
import { Heading, Label, moved, ROW, type Sort } from "./grid";
import type { Model } from "./model";
import { fileLink } from "./route";
import { search } from "./search";
import { VirtualList } from "./virtual";
import { Bar } from "./widgets";

type FileColumn = "name" | "instructions" | "blocks" | "calls";

/** What the list looked like, for when one comes back to it. */
const memory = { sort: { column: "instructions", ascending: false } as Sort<FileColumn>, scroll: { top: 0 } };

export function Files({ model, query, onlyRan }: { model: Model; query: string; onlyRan: boolean }) {
  const [sort, setSort] = useState(memory.sort);
  const [chosen, choose] = useState<number | null>(null);
  const active = chosen ?? 0;
  memory.sort = sort;
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
  const heading = (column: FileColumn, text: string) => <Heading {...{ column, text, sort, setSort }} />;
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
        {heading("name", "File, with all code that has its source there")}
        {heading("instructions", "Instructions")}
        <div role="columnheader" class="cell share">Share</div>
        {heading("blocks", "Lines run")}
        {heading("calls", "Lines")}
      </div>
      {files.length === 0 && <p class="empty">{onlyRan ? "Nothing that ran matches." : "Nothing matches."}</p>}
      <VirtualList
        count={files.length}
        rowHeight={ROW}
        reveal={chosen}
        memory={memory.scroll}
        attributes={{ role: "rowgroup", "aria-activedescendant": `row-${active}` }}
        row={(position) => {
          const file = files[position]!;
          return (
            <div role="row" id={`row-${position}`} class={`row file${position === active ? " active" : ""}${file.lines_executed === 0 ? " never" : ""}`} key={file.id} style={{ height: `${ROW}px` }} onClick={() => choose(position)}>
              <div role="gridcell" class="cell name" title={file.path}><a href={fileLink(model, file.id)}><Label label={file.name} isPath /></a>{file.remark && <small title={file.remark}> {file.text_lines === null ? "not readable" : "changed?"}</small>}</div>
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
