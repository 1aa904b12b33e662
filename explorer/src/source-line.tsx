// A line of a function's source, with its count; its text is cut where column ranges begin.

import { digits, percent, signed, subtract, type Count } from "./count";
import type { LineCounts, Piece } from "./function-model";
import { heat } from "./heat";
import { SOURCE_ROW } from "./source-rows";
import { unitOf, type TextLine } from "./source-text";

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
    <div class={`line-row${isMarked ? " marked" : ""}`} style={{ height: `${SOURCE_ROW}px` }} onClick={() => counts && select(null)}>
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
