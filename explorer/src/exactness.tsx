// What is exact, what is not and why, and what was not counted at all.

import { useState } from "preact/hooks";
import { digits } from "./count";
import type { Model } from "./model";
import { clip } from "./names";
import { numberOf, Verdict } from "./widgets";

export function Exactness({ model }: { model: Model }) {
  const { exceptions, skipped, totals, processes } = model.index;
  return (
    <main class="page">
      <header class="title"><h1>Exactness</h1><Verdict model={model} /></header>
      <p class="prose">
        A count is exact when it is the number of executions, proved by flow conservation: at every block, as many executions come in
        as go out. {digits(totals.functions)} functions with {digits(totals.blocks)} blocks were solved, of {digits(numberOf(processes))}{" "}
        {numberOf(processes) === 1 ? "process" : "processes"}
        {totals.compared_edges > 0 && `; ${digits(totals.compared_edges)} edges were compared with counters of their own`}.
        {exceptions.length === 0 ? " There is no exception." : " These are the exceptions; every other count is exact."}
      </p>
      {exceptions.length > 0 && (
        <List
          items={exceptions}
          columns={["Where", "Why"]}
          cells={(exception) => [<>{clip(exception.name, 120)}{exception.block !== null && `, block ${exception.block}`}</>, exception.reason]}
        />
      )}
      <h2>Not counted</h2>
      {skipped.length === 0 ? (
        <p class="quiet">Every function of the profiled modules could be instrumented.</p>
      ) : (
        <List items={skipped} columns={["Function", "Module", "Why"]} cells={(skip) => [clip(skip.name, 120), skip.module, skip.reason]} />
      )}
      {model.index.files.some((file) => file.remark) && (
        <>
          <h2>Sources</h2>
          <List items={model.index.files.filter((file) => file.remark)} columns={["File", "Remark"]} cells={(file) => [file.path, file.remark]} />
        </>
      )}
      <p class="quiet">{model.index.producer}</p>
    </main>
  );
}

function List<T>({ items, columns, cells }: { items: T[]; columns: string[]; cells: (item: T) => unknown[] }) {
  const [shown, setShown] = useState(100);
  return (
    <>
      <table class="hot list">
        <thead><tr>{columns.map((column) => <th scope="col" key={column}>{column}</th>)}</tr></thead>
        <tbody>
          {items.slice(0, shown).map((item, position) => (
            <tr key={position}>{cells(item).map((cell, column) => <td key={column} class="wrap">{cell as string}</td>)}</tr>
          ))}
        </tbody>
      </table>
      {items.length > shown && <button type="button" class="link" onClick={() => setShown(shown * 10)}>Show more: {digits(shown)} of {digits(items.length)}</button>}
    </>
  );
}
