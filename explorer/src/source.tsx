// The source of a function beside its graph: counts by line and, where blocks share a line, by column.

import { useEffect, useMemo, useState } from "preact/hooks";
import { digits, percent, signed, subtract, type Count } from "./count";
import { shownLines } from "./data";
import { blocksOfLine, lineKey, type FunctionModel, type LineCounts, type Piece, type Section } from "./function-model";
import { heat } from "./heat";
import type { Model } from "./model";
import { clip } from "./names";
import { fileLink } from "./route";
import { unitOf, useSource, type Lines, type TextLine } from "./source-text";
import { VirtualList } from "./virtual";

const ROW = 20;

type SourceRow =
  | { kind: "section"; section: Section; position: number }
  | { kind: "remark"; text: string }
  | { kind: "line"; section: Section; line: number; counts: LineCounts | undefined }
  | { kind: "piece"; section: Section; line: number; piece: Piece; end: number | null }
  | { kind: "spacer" };

interface Props {
  model: Model;
  fn: FunctionModel;
  selected: number | null;
  select: (block: number) => void;
}

export function Source({ model, fn, selected, select }: Props) {
  const [open, setOpen] = useState(() => openAtFirst(fn));
  const [split, setSplit] = useState<Set<string>>(new Set());
  const text = useSource(model.index, fn.sections.filter((_, position) => position < 60 || open.has(position)), fn);
  const lines = text instanceof Map ? text : new Map<number, Lines>();
  const rows = useMemo(() => makeRows(model, fn, open, split), [fn, open, split]);
  const longest = useMemo(() => {
    let longest = 0;
    for (const row of rows) if (row.kind === "line") longest = Math.max(longest, lines.get(row.section.file)?.get(row.line)?.text.length ?? 0);
    return longest;
  }, [rows, text]);
  const inBlock = useMemo(() => {
    const places = new Set<string>();
    for (const { place } of selected === null ? [] : (fn.blocks[selected]?.places ?? [])) {
      const [file, line, column] = fn.data.places[place]!;
      places.add(lineKey(file, line)).add(`${lineKey(file, line)}:${column}`);
    }
    return places;
  }, [fn, selected]);
  const reveal = useMemo(() => {
    const at = selected === null ? null : fn.blocks[selected]?.at;
    if (!at) return null;
    return rows.findIndex((row) => row.kind === "line" && row.section.file === at.file && row.line === at.line);
  }, [selected, fn, rows.length > 0]);

  // Where the selected block is, is open.
  useEffect(() => {
    const at = selected === null ? null : fn.blocks[selected]?.at;
    if (!at) return;
    const holds = (section: Section) => section.file === at.file && section.from <= at.line && at.line <= section.to;
    const holding = fn.sections.flatMap((section, position) => (holds(section) ? [position] : []));
    if (holding.length && !holding.some((position) => open.has(position))) setOpen(new Set([...open, holding[0]!]));
  }, [selected]);

  const toggle = <T,>(set: Set<T>, value: T): Set<T> => {
    const copy = new Set(set);
    if (!copy.delete(value)) copy.add(value);
    return copy;
  };
  const hasBefore = fn.data.lines_before !== undefined;
  const row = (position: number) => {
    const row = rows[position]!;
    switch (row.kind) {
      case "section": {
        const { section } = row;
        const isOpen = open.has(row.position);
        return (
          <div class="section-row" key={position} style={{ height: `${ROW}px` }}>
            <button type="button" class="twist" aria-expanded={isOpen} onClick={() => setOpen(toggle(open, row.position))}>
              <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span>
              <span class="section-name" title={section.name.slice(0, 2000)}>
                {section.isOwn ? "own source" : <>inlined: <b>{clip(section.name, 90)}</b></>}
              </span>
            </button>
            <span class="section-facts">
              <a href={fileLink(model, section.file, section.from)} title={model.index.files[section.file]?.path}>
                {tail(model.filePath(section.file), 34)}:{section.from}
              </a>
              {" · "}
              {digits(section.executed)} instr. ({percent(section.executed, fn.executed)})
              {section.copies > 1 && ` · ${section.copies} copies`}
              {section.at.length > 0 && ` · at line${section.at.length > 1 ? "s" : ""} ${atLines(section)}`}
            </span>
          </div>
        );
      }
      case "spacer":
        return <div key={position} style={{ height: `${ROW}px` }} />;
      case "remark":
        return <div class="remark-row" key={position} style={{ height: `${ROW}px` }} title={row.text}>{row.text}</div>;
      case "line": {
        const key = lineKey(row.section.file, row.line);
        return (
          <Line
            key={position}
            line={row.line}
            counts={row.counts}
            text={lines.get(row.section.file)?.get(row.line)}
            whole={fn.executed}
            hasBefore={hasBefore}
            isMarked={inBlock.has(key)}
            isMarkedAt={(column) => inBlock.has(`${key}:${column}`)}
            isSplit={split.has(key)}
            toggle={() => setSplit(toggle(split, key))}
            select={(piece) => {
              const blocks = piece ? piece.blocks : blocksOfLine(row.counts);
              if (blocks.length) select(nextOf(blocks, selected));
            }}
          />
        );
      }
      case "piece": {
        const text = lines.get(row.section.file)?.get(row.line)?.text ?? "";
        return (
          <div class="piece-row" key={position} style={{ height: `${ROW}px` }}>
            {hasBefore && <span class="count before" />}
            <span class="count">{row.piece.counts.length === 1 ? digits(row.piece.counts[0]!) : ""}</span>
            <span class="columns">{row.piece.column === 0 ? "col ?" : row.end ? `${row.piece.column}–${row.end}` : `${row.piece.column}–`}</span>
            <span class="chips">
              {row.piece.blocks.slice(0, 12).map((block, i) => (
                <button type="button" key={block} class={block === selected ? "chip on" : "chip"} onClick={() => select(block)} title={`Block ${block}: ${digits(row.piece.counts[i]!)} times`}>
                  #{block}
                  {row.piece.blocks.length > 1 && <small> {digits(row.piece.counts[i]!)}</small>}
                </button>
              ))}
              {row.piece.blocks.length > 12 && <span> and {row.piece.blocks.length - 12} more</span>}
            </span>
            {row.piece.column > 0 && <code>{text.slice(unitOf(text, row.piece.column), row.end ? unitOf(text, row.end + 1) : undefined).trim().slice(0, 60)}</code>}
          </div>
        );
      }
    }
  };
  return (
    <section class="source" aria-label="Source with counts">
      {text instanceof Error && <p class="remark">{text.message}</p>}
      <VirtualList
        count={rows.length}
        rowHeight={ROW}
        row={row}
        reveal={reveal}
        minWidth={`calc(${longest}ch + 15em)`}
        class="code"
        attributes={{ "aria-label": "Source lines: count, line, text" }}
      />
      {hasBefore && <p class="foot">Counts before, counts now; bold where they differ{[...fn.lines.values()].some((line) => line.before === null) && "; – where it is not known which line was which"}.</p>}
      {fn.unlocated > 0 && (
        <p class="foot">
          {digits(fn.unlocated)} executed instructions ({percent(fn.unlocated, fn.executed)}) have no source line.
        </p>
      )}
    </section>
  );
}

/** The function's own source, and what is short of the hottest that are inlined. */
function openAtFirst(fn: FunctionModel): Set<number> {
  return new Set(fn.sections.flatMap((section, position) => (position === 0 || (position < 4 && section.to - section.from < 60) ? [position] : [])));
}

/** Repeated clicks on a line go through its blocks. */
function nextOf(blocks: number[], selected: number | null): number {
  const at = selected === null ? -1 : blocks.indexOf(selected);
  return blocks[(at + 1) % blocks.length]!;
}

function atLines(section: Section): string {
  const shown = section.at.slice(0, 6).map((place) => place.line);
  return shown.join(", ") + (section.at.length > 6 ? ", …" : "");
}

function tail(path: string, length: number): string {
  return path.length > length ? `…${path.slice(-length)}` : path;
}


/** One flat list: a heading takes two rows, of which the second is empty. */
function makeRows(model: Model, fn: FunctionModel, open: Set<number>, split: Set<string>): SourceRow[] {
  const rows: SourceRow[] = [];
  fn.sections.forEach((section, position) => {
    if (fn.sections.length > 1 || !section.isOwn) rows.push({ kind: "section", section, position }, { kind: "spacer" });
    if (!open.has(position)) return;
    const file = model.index.files[section.file];
    if (!file || (position === 0 && model.rows.length > 0 && fn.lines.size === 0)) {
      rows.push({ kind: "remark", text: "No source is known: this was compiled without debug information." });
      return;
    }
    if (file.remark) rows.push({ kind: "remark", text: file.remark });
    const withCode = fn.data.lines.flatMap(([of, lines]) => (of === section.file ? lines.map(([line]) => line) : []));
    for (const line of shownLines(file, section.from, section.to, withCode)) {
      const key = lineKey(section.file, line);
      const counts = fn.lines.get(key);
      rows.push({ kind: "line", section, line, counts });
      if (counts && split.has(key)) {
        counts.pieces.forEach((piece, at) => {
          const next = counts.pieces.slice(at + 1).find((other) => other.column > piece.column);
          rows.push({ kind: "piece", section, line, piece, end: next ? next.column - 1 : null });
        });
      }
    }
  });
  return rows;
}

interface LineProps {
  line: number;
  counts: LineCounts | undefined;
  text: TextLine | undefined;
  whole: Count;
  /** Whether there is a column for counts of the earlier profile. */
  hasBefore: boolean;
  isMarked: boolean;
  isMarkedAt: (column: number) => boolean;
  isSplit: boolean;
  toggle: () => void;
  select: (piece: Piece | null) => void;
}

export function Line({ line, counts, text, whole, hasBefore, isMarked, isMarkedAt, isSplit, toggle, select }: LineProps) {
  const distinct = counts ? new Set(counts.pieces.flatMap((piece) => piece.counts).map(String)).size : 0;
  const step = counts ? heat(counts.executed, whole, counts.count > 0) : null;
  const ranges = counts?.pieces.filter((piece) => piece.column > 0) ?? [];
  return (
    <div class={`line-row${isMarked ? " marked" : ""}`} style={{ height: `${ROW}px` }} onClick={() => counts && select(null)}>
      {hasBefore && <BeforeCount counts={counts} />}
      <span class={`count${counts && counts.count == 0 ? " never" : ""}`} title={counts ? `${digits(counts.count)} times; ${digits(counts.executed)} instructions, ${percent(counts.executed, whole)}` : undefined}>
        {counts ? digits(counts.count) : ""}
      </span>
      <span class={`gutter${step === null ? "" : ` heat-${step}`}`} />
      {distinct > 1 ? (
        <button type="button" class="splitter" aria-expanded={isSplit} aria-label={`Line ${line}: ${counts!.pieces.length} column ranges`} title="Column ranges with their counts"
          onClick={(event) => { event.stopPropagation(); toggle(); }}>
          {isSplit ? "▾" : "▸"}
        </button>
      ) : (
        <span class="splitter" />
      )}
      {counts && counts.pieces.length > 0 ? (
        <button type="button" class="number" aria-label={`Line ${line}, ${digits(counts.count)} times: go to its block`} onClick={(event) => { event.stopPropagation(); select(null); }}>
          {line}
        </button>
      ) : (
        <span class="number">{line}</span>
      )}
      <code class="text">{text ? <Text text={text} ranges={ranges} isMarkedAt={isMarkedAt} select={select} isSplit={distinct > 1} /> : ""}</code>
    </div>
  );
}

/** What the line counted in the earlier profile: marked where it is not what it counts now. */
function BeforeCount({ counts }: { counts: LineCounts | undefined }) {
  if (!counts) return <span class="count before" />;
  if (counts.before === null) return <span class="count before" title="It is not known which line this was in the earlier profile">–</span>;
  const isSame = counts.before == counts.count;
  return <span class={isSame ? "count before" : "count before differs"} title={`${digits(counts.before)} times before, ${isSame ? "as often as now" : signed(subtract(counts.count, counts.before))}`}>{digits(counts.before)}</span>;
}

/** The text, cut where tokens or column ranges begin and end. */
function Text({ text, ranges, isMarkedAt, select, isSplit }: {
  text: TextLine;
  ranges: Piece[];
  isMarkedAt: (column: number) => boolean;
  select: (piece: Piece) => void;
  isSplit: boolean;
}) {
  const cuts = new Set([0, text.text.length]);
  for (const [from, to] of text.marks) cuts.add(from).add(to);
  const begins = ranges.map((piece) => unitOf(text.text, piece.column));
  for (const begin of begins) if (begin < text.text.length) cuts.add(begin);
  const sorted = [...cuts].sort((a, b) => a - b);
  const spans = [];
  let mark = 0;
  for (let i = 0; i + 1 < sorted.length; i++) {
    const [from, to] = [sorted[i]!, sorted[i + 1]!];
    while (mark < text.marks.length && text.marks[mark]![1] <= from) mark++;
    const token = text.marks[mark] && text.marks[mark]![0] <= from ? text.marks[mark]![2] : "";
    let at = -1;
    begins.forEach((begin, position) => begin <= from && (at = position));
    const piece = ranges[at];
    const part = text.text.slice(from, to);
    if (piece && token !== "comment") {
      const counts = [...new Set(piece.counts.map(digits))];
      const never = piece.counts.every((count) => count == 0);
      const current = piece;
      spans.push(
        <span
          key={i}
          class={`${token} code-piece${never ? " never" : ""}${isSplit ? " split" : ""}${isMarkedAt(piece.column) ? " on" : ""}${begins[at] === from && from > 0 ? " begin" : ""}`}
          title={`${counts.join(" and ")} times (block ${piece.blocks.map((block) => `#${block}`).slice(0, 12).join(", ")})`}
          onClick={(event) => { event.stopPropagation(); select(current); }}
        >
          {part}
        </span>,
      );
    } else spans.push(token ? <span key={i} class={token}>{part}</span> : part);
  }
  return <>{spans}</>;
}
