// The page of a source file: counts of all code that has its source there, and which blocks of which functions that is.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { add, digits, percent, read, type Count } from "./count";
import { loadPart, partOf, shownLines } from "./data";
import { heat } from "./heat";
import type { Model } from "./model";
import { clip } from "./names";
import { fileLink, functionLink, pageLink, replace } from "./route";
import type { SourcePart } from "./schema";
import { SOURCE_ROW } from "./source-rows";
import { Lines, type TextLine } from "./source-text";
import { VirtualList } from "./virtual";
import { Fact } from "./widgets";

const MOST_STANDS = 200;

interface FileLine {
  count: Count;
  executed: Count;
  stands: SourcePart["lines"][0][3];
}

type FileRow = { kind: "line"; line: number } | { kind: "stand"; line: number; stand: FileLine["stands"][0] } | { kind: "more"; line: number; more: number };

export function FilePage({ model, id, line: selected }: { model: Model; id: number; line: number | null }) {
  const file = model.index.files[id];
  const [parts, setParts] = useState<Map<number, SourcePart>>(new Map());
  const [error, setError] = useState<string | null>(null);
  // Parts are loaded when they come into view; those behind the text all, since only they tell which lines there are.
  const wanted = useRef(new Set<number>());
  const want = (part: number) => {
    if (!file?.parts.includes(part) || wanted.current.has(part)) return;
    wanted.current.add(part);
    loadPart(model.index, id, part).then(
      (data) => setParts((old) => new Map(old).set(part, data)),
      (error: Error) => setError(error.message),
    );
  };
  useEffect(() => {
    want(partOf(selected ?? 1));
    const end = partOf(file?.text_lines ?? 0);
    for (const part of file?.parts ?? []) if (part >= end) want(part);
  }, [id]);
  const text = useMemo(() => new Lines(parts.values()), [parts]);
  const lines = useMemo(() => {
    const lines = new Map<number, FileLine>();
    for (const part of parts.values()) for (const [line, count, executed, stands] of part.lines) lines.set(line, { count: read(count), executed: read(executed), stands });
    return lines;
  }, [parts]);
  // Instantiations have one line, and so may closures.
  const inlined = useMemo(() => {
    const functions = new Map<number, { name: string; others: number; entries: Count; inlined: Count }>();
    for (const part of parts.values()) {
      for (const [line, , name, entries, inlined] of part.functions) {
        const known = functions.get(line);
        if (!known) functions.set(line, { name, others: 0, entries: read(entries), inlined: read(inlined) });
        else functions.set(line, { name: known.name, others: known.others + 1, entries: add(known.entries, read(entries)), inlined: add(known.inlined, read(inlined)) });
      }
    }
    return functions;
  }, [parts]);
  const [open, setOpen] = useState<Set<number>>(new Set());
  useEffect(() => setOpen(new Set(selected === null ? [] : [selected])), [id]);
  const rows = useMemo(() => {
    if (!file) return [];
    const rows: FileRow[] = [];
    for (const line of shownLines(file, 1, Infinity, [...lines.keys()])) {
      const counts = lines.get(line);
      rows.push({ kind: "line", line });
      if (counts && open.has(line)) {
        const stands = [...counts.stands].sort((a, b) => Number(b[3]) - Number(a[3]));
        for (const stand of stands.slice(0, MOST_STANDS)) rows.push({ kind: "stand", line, stand });
        if (stands.length > MOST_STANDS) rows.push({ kind: "more", line, more: stands.length - MOST_STANDS });
      }
    }
    return rows;
  }, [lines, open, file]);
  const reveal = useMemo(() => (selected === null ? null : rows.findIndex((row) => row.line === selected)), [selected, rows]);
  const longest = useRef(0);
  if (!file) return <main class="page"><h1>No file {id}</h1></main>;
  const whole = read(file.instructions);
  const choose = (line: number) => {
    const copy = new Set(open);
    if (!copy.delete(line)) copy.add(line);
    setOpen(copy);
    replace(fileLink(model, id, line));
  };
  const row = (position: number) => {
    const row = rows[position]!;
    if (row.kind === "more") return <div class="piece-row" key={position} style={{ height: `${SOURCE_ROW}px` }}>and {digits(row.more)} blocks more</div>;
    if (row.kind === "stand") {
      const [fn, block, count, executed] = row.stand;
      return (
        <div class="piece-row stand" key={position} style={{ height: `${SOURCE_ROW}px` }}>
          <span class="count">{digits(read(count))}</span>
          <a href={functionLink(model, fn, block)} title={model.rows[fn]!.name.slice(0, 2000)}>{clip(model.rows[fn]!.shortName, 90)} #{block}</a>
          <span class="quiet">{digits(read(executed))} instr.</span>
        </div>
      );
    }
    want(partOf(row.line));
    const counts = lines.get(row.line);
    const line = text.get(row.line);
    longest.current = Math.max(longest.current, line?.text.length ?? 0);
    const definition = inlined.get(row.line);
    const step = counts ? heat(counts.executed, whole, counts.count > 0) : null;
    return (
      <div class={`line-row${row.line === selected ? " marked" : ""}`} key={position} style={{ height: `${SOURCE_ROW}px` }} onClick={() => counts && choose(row.line)}>
        <span class={`count${counts && counts.count == 0 ? " never" : ""}`} title={counts && `${digits(counts.executed)} instructions, ${percent(counts.executed, whole)} of this file`}>{counts ? digits(counts.count) : ""}</span>
        <span class={`gutter${step === null ? "" : ` heat-${step}`}`} />
        {counts && counts.stands.length > 0 ? (
          <button type="button" class="splitter" aria-expanded={open.has(row.line)} aria-label={`Line ${row.line}: ${counts.stands.length} blocks`} onClick={(event) => { event.stopPropagation(); choose(row.line); }}>{open.has(row.line) ? "▾" : "▸"}</button>
        ) : <span class="splitter" />}
        <span class="number">{row.line}</span>
        <code class="text">{line && <Marked line={line} />}{definition && <span class="note">  {definition.name.slice(0, 80)}{definition.others > 0 && ` and ${definition.others} more`}: {digits(definition.entries)} calls{definition.inlined > 0 && `, ${digits(definition.inlined)} inlined`}</span>}</code>
      </div>
    );
  };
  return (
    <main class="file-page">
      <header class="function-head">
        <p class="crumbs"><a href={pageLink(model, "files")}>Files</a></p>
        <h1 class="name clipped">{model.filePath(id)}</h1>
        {model.filePath(id) !== file.path && <p class="symbol">{clip(file.path, 200)}</p>}
        <dl class="facts">
          <Fact name="instructions" value={digits(whole)} note={percent(whole, model.instructions)} title="Of all code that has its source here, inlined or not" />
          <Fact name="lines run" value={`${digits(file.lines_executed)} of ${digits(file.lines)}`} />
        </dl>
        {file.remark && <p class="remark">{file.remark}</p>}
      </header>
      {error !== null && <p class="remark">{error}</p>}
      <section class="source" aria-label="Source with counts">
        <VirtualList key={id} count={rows.length} rowHeight={SOURCE_ROW} row={row} reveal={reveal} minWidth={`calc(${longest.current}ch + 15em)`} class="code" />
      </section>
    </main>
  );
}

function Marked({ line }: { line: TextLine }) {
  const parts = [];
  let at = 0;
  line.marks.forEach(([from, to, token], position) => {
    if (from > at) parts.push(line.text.slice(at, from));
    parts.push(<span key={position} class={token}>{line.text.slice(from, to)}</span>);
    at = to;
  });
  parts.push(line.text.slice(at));
  return <>{parts}</>;
}
