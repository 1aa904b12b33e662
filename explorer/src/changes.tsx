// What changed since an earlier profile, and why: the sums, then function by function with both counts.

import { useMemo, useState } from "preact/hooks";
import { earlierLink, REASONS, reasonsOf, type Change, type Changed, type Reason } from "./changes-model";
import { digits, relative, signed, type Count } from "./count";
import type { Model } from "./model";
import { clip, fileName } from "./names";
import { functionLink } from "./route";
import { search } from "./search";
import { Fact } from "./widgets";

const WORDS: Record<Reason, [title: string, meaning: string]> = {
  ran: ["Ran", "the same code ran more or less often"],
  code: ["Code", "it ran as often, with more or fewer instructions"],
  new: ["New", "functions of the source that only the later profile has"],
  vanished: ["Vanished", "functions of the source that only the earlier profile has"],
  inlining: ["Inlining", "code that is now part of another function; in the sum nothing"],
};

const ROWS = 100;
const size = (count: Count) => Math.abs(Number(count));

export function ChangesPage({ model }: { model: Model }) {
  const [query, setQuery] = useState("");
  const [reason, setReason] = useState<Reason | null>(null);
  const [shown, setShown] = useState(ROWS);
  const changes = model.changes!;
  const haystack = useMemo(() => changes.functions.map((row) => `${row.name.slice(0, 400)} ${row.file ?? ""}`), [changes]);
  const rows = useMemo(() => {
    const found = search(haystack, query);
    const rows = found === null ? changes.functions : found.map((position) => changes.functions[position]!);
    if (reason === null) return rows;
    return rows.filter((row) => row.change[reason] != 0).sort((a, b) => size(b.change[reason]) - size(a.change[reason]) || a.position - b.position);
  }, [changes, query, reason]);
  const reasons = REASONS.filter((name) => changes.functions.some((row) => row.change[name] != 0));
  const largest = Math.max(1, ...rows.slice(0, shown).map((row) => size(reason === null ? row.change.total : row.change[reason])));
  return (
    <main class="page changes">
      <header class="title">
        <h1>What changed</h1>
        {(!changes.isExact || !model.index.is_exact) && <span class="verdict inexact">not exact: {changes.isExact ? "the later" : model.index.is_exact ? "the earlier" : "either"} profile</span>}
      </header>
      <dl class="facts large">
        <Fact name="instructions before" value={digits(changes.before)} />
        <Fact name="instructions now" value={digits(changes.after)} />
        <Fact name="change" value={signed(changes.change.total)} note={relative(changes.change.total, changes.before)} />
        <Fact name="functions that changed" value={digits(changes.functions.length)} note={`${digits(changes.unchanged)} did not`} />
      </dl>
      {changes.functions.length === 0 ? (
        <p class="remark">No difference: every function executed as many instructions as before, for the same reasons.</p>
      ) : (
        <>
          <h2>Why</h2>
          <Why change={changes.change} reasons={reasons} moved={changes.moved} chosen={reason} choose={(name) => { setReason(name === reason ? null : name); setShown(ROWS); }} />
          <div class="list-bar">
            <h2>{reason === null ? "Functions that changed" : `Functions: ${WORDS[reason][1]}`}</h2>
            <input type="search" aria-label="Filter" placeholder="Filter by name or file" value={query} onInput={(event) => { setQuery(event.currentTarget.value); setShown(ROWS); }} />
          </div>
          <table class="hot changed">
            <thead>
              <tr>
                <th scope="col">Function</th>
                <th scope="col" class="number before">Before</th>
                <th scope="col" class="number">Now</th>
                <th scope="col" class="number">{reason === null ? "Change" : WORDS[reason][0]}</th>
                <th class="bar-cell" />
                <th scope="col" class="number wide-only">Relative</th>
                <th scope="col" class="why wide-only">Why</th>
                <th scope="col" class="number quiet">Calls</th>
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, shown).map((row) => <Row key={row.position} model={model} row={row} reason={reason} largest={largest} />)}
            </tbody>
          </table>
          {rows.length === 0 && <p class="empty">Nothing matches.</p>}
          {rows.length > shown && <button type="button" class="link" onClick={() => setShown(shown * 10)}>Show more: {digits(shown)} of {digits(rows.length)}</button>}
        </>
      )}
    </main>
  );
}

function Why({ change, reasons, moved, chosen, choose }: { change: Change; reasons: Reason[]; moved: Count; chosen: Reason | null; choose: (reason: Reason) => void }) {
  const largest = Math.max(1, ...reasons.map((name) => size(name === "inlining" ? moved : change[name])));
  return (
    <table class="hot reasons">
      <tbody>
        {reasons.map((name) => (
          <tr key={name}>
            <td><button type="button" class="chip" aria-pressed={chosen === name} onClick={() => choose(name)}>{WORDS[name][0]}</button></td>
            <td class="number">{name === "inlining" ? `${digits(moved)} moved` : signed(change[name])}</td>
            <td class="bar-cell"><Delta change={name === "inlining" ? moved : change[name]} largest={largest} isMove={name === "inlining"} /></td>
            <td class="quiet wrap">{WORDS[name][1]}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Row({ model, row, reason, largest }: { model: Model; row: Changed; reason: Reason | null; largest: number }) {
  const change = reason === null ? row.change.total : row.change[reason];
  const place = row.file === null ? "" : `${fileName(row.file)}:${row.line}`;
  const [id] = row.ids;
  return (
    <tr>
      <td class="name">
        <a href={id === undefined ? earlierLink(row) : functionLink(model, id)} title={row.name.slice(0, 2000)}>{id === undefined ? clip(row.name) : model.rows[id]!.shortName}</a>
        {row.ids.length > 1 && <span class="quiet"> and {row.ids.length - 1} more</span>}
        <span class="quiet place" title={row.file ?? undefined}>{place}</span>
      </td>
      <td class="number before">{row.before ? digits(row.before.instructions) : "–"}</td>
      <td class="number">{row.after ? digits(row.after.instructions) : "–"}</td>
      <td class="number"><b>{signed(change)}</b></td>
      <td class="bar-cell"><Delta change={change} largest={largest} /></td>
      <td class="number wide-only">{row.before === null ? "new" : row.after === null ? "gone" : relative(row.change.total, row.before.instructions)}</td>
      <td class="why wide-only">{reasonsOf(row.change)}</td>
      <td class="number quiet">{calls(row)}</td>
    </tr>
  );
}

function calls(row: Changed): string {
  const [before, after] = [row.before?.calls, row.after?.calls].map((count) => (count === undefined ? "–" : digits(count)));
  return before === after ? before! : `${before} → ${after}`;
}

/** A bar from the middle: to the right is more. */
function Delta({ change, largest, isMove }: { change: Count; largest: number; isMove?: boolean }) {
  const width = `${Math.min(50, (size(change) / largest) * 50)}%`;
  return <span class="delta" aria-hidden="true"><span class={isMove ? "up moved" : change > 0 ? "up" : "down"} style={{ width }} /></span>;
}
