// The source of a function beside its graph: counts by line and, where blocks share a line, by column.

import { useEffect, useMemo, useState } from "preact/hooks";
import { digits, percent } from "./count";
import { blocksOfLine, lineKey, type FunctionModel, type Piece, type Section } from "./function-model";
import type { Model } from "./model";
import { clip } from "./names";
import { fileLink } from "./route";
import { Line } from "./source-line";
import { makeRows, openAtFirst, SOURCE_ROW } from "./source-rows";
import { unitOf, useSource, type Lines } from "./source-text";
import { VirtualList } from "./virtual";

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
        const { section, position: of } = row;
        return <SectionRow key={position} {...{ model, fn, section }} isOpen={open.has(of)} toggle={() => setOpen(toggle(open, of))} />;
      }
      case "spacer":
        return <div key={position} style={{ height: `${SOURCE_ROW}px` }} />;
      case "remark":
        return <div class="remark-row" key={position} style={{ height: `${SOURCE_ROW}px` }} title={row.text}>{row.text}</div>;
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
        return <PieceRow key={position} {...{ text, hasBefore, selected, select }} piece={row.piece} end={row.end} />;
      }
    }
  };
  return (
    <section class="source" aria-label="Source with counts">
      {text instanceof Error && <p class="remark">{text.message}</p>}
      <VirtualList
        count={rows.length}
        rowHeight={SOURCE_ROW}
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

function SectionRow({ model, fn, section, isOpen, toggle }: {
  model: Model;
  fn: FunctionModel;
  section: Section;
  isOpen: boolean;
  toggle: () => void;
}) {
  return (
    <div class="section-row" style={{ height: `${SOURCE_ROW}px` }}>
      <button type="button" class="twist" aria-expanded={isOpen} onClick={toggle}>
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

function PieceRow({ text, piece, end, hasBefore, selected, select }: {
  text: string;
  piece: Piece;
  end: number | null;
  hasBefore: boolean;
  selected: number | null;
  select: (block: number) => void;
}) {
  return (
    <div class="piece-row" style={{ height: `${SOURCE_ROW}px` }}>
      {hasBefore && <span class="count before" />}
      <span class="count">{piece.counts.length === 1 ? digits(piece.counts[0]!) : ""}</span>
      <span class="columns">{piece.column === 0 ? "col ?" : end ? `${piece.column}–${end}` : `${piece.column}–`}</span>
      <span class="chips">
        {piece.blocks.slice(0, 12).map((block, i) => (
          <button type="button" key={block} class={block === selected ? "chip on" : "chip"} onClick={() => select(block)} title={`Block ${block}: ${digits(piece.counts[i]!)} times`}>
            #{block}
            {piece.blocks.length > 1 && <small> {digits(piece.counts[i]!)}</small>}
          </button>
        ))}
        {piece.blocks.length > 12 && <span> and {piece.blocks.length - 12} more</span>}
      </span>
      {piece.column > 0 && <code>{text.slice(unitOf(text, piece.column), end ? unitOf(text, end + 1) : undefined).trim().slice(0, 60)}</code>}
    </div>
  );
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
