// The page of a function: facts, then graph and source side by side, one above the other where the screen is narrow.

import { useEffect, useMemo, useState } from "preact/hooks";
import { BlockDetail, CalleeName } from "./block";
import { Branches } from "./branches";
import { earlierLink, reasonsOf } from "./changes-model";
import { add, descending, digits, percent, read, relative, signed, subtract, type Count } from "./count";
import { loadFunction } from "./data";
import { makeFunction, type FunctionModel } from "./function-model";
import { Graph } from "./graph";
import type { Model, Row } from "./model";
import { clip, fileName } from "./names";
import { fileLink, functionLink, replace, VIEWS, type View } from "./route";
import { Source } from "./source";
import { Mix, Paths } from "./views";
import { Bar, bias, Fact } from "./widgets";

const TITLES: Record<View, string> = { graph: "Graph", source: "Source", calls: "Calls", branches: "Branches", paths: "Paths", mix: "Mix" };

export function FunctionPage({ model, id, block, view }: { model: Model; id: number; block: number | null; view: View | null }) {
  const row = model.rows[id];
  const [loaded, setLoaded] = useState<{ id: number; fn: FunctionModel } | { id: number; error: string }>();
  const isWide = useIsWide();
  const [chosen, setPane] = useState<View>(view ?? "graph");
  useEffect(() => void (view && setPane(view)), [view]);
  useEffect(() => {
    if (!row) return;
    let isCurrent = true;
    loadFunction(model.index, id).then(
      ({ data, strings }) => isCurrent && setLoaded({ id, fn: makeFunction(data, strings, row.line, row.instructions) }),
      (error: Error) => isCurrent && setLoaded({ id, error: error.message }),
    );
    return () => void (isCurrent = false);
  }, [id]);
  if (!row) return <main class="page"><h1>No function {id}</h1><p>This report has {digits(model.rows.length)} functions. Addresses hold within one report only.</p></main>;
  const current = loaded?.id === id ? loaded : undefined;
  const hasPaths = current !== undefined && "fn" in current && current.fn.data.num_paths !== undefined;
  const panes = VIEWS.filter((name) => (name !== "graph" || !isWide) && (name !== "paths" || hasPaths));
  const pane = panes.includes(chosen) ? chosen : panes[0]!;
  const tabKeys = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const next = panes[(panes.indexOf(pane) + step + panes.length) % panes.length]!;
    setPane(next);
    document.getElementById(`tab-${next}`)?.focus();
    event.preventDefault();
  };
  const select = (block: number | null) => replace(functionLink(model, id, block));
  const lineOf = (fn: FunctionModel) => (block: number) => {
    const at = fn.blocks[block]!.at;
    return at ? (at.file === row.file ? `line ${at.line}` : `${fileName(model.filePath(at.file))}:${at.line}`) : "no line";
  };
  // An address may name a block that is not there.
  const selected = block !== null && current && "fn" in current && current.fn.blocks[block] ? block : null;
  return (
    <main class="function-page">
      <Head model={model} row={row} />
      {!current && <p class="boot">Unpacking</p>}
      {current && "error" in current && <p class="remark">{current.error}</p>}
      {current && "fn" in current && (
        <>
          <div class="tabs" role="tablist" aria-label="Views" onKeyDown={tabKeys}>
            {panes.map((name) => (
              <button type="button" role="tab" key={name} id={`tab-${name}`} aria-selected={pane === name} tabIndex={pane === name ? 0 : -1} onClick={() => setPane(name)}>
                {TITLES[name]}
              </button>
            ))}
          </div>
          <div class={`panes show-${pane === "graph" ? "graph" : "right"}`}>
            <div class="left">
              <Graph key={id} model={current.fn} selected={selected} select={select} lineOf={lineOf(current.fn)} />
              {block !== null && <BlockDetail model={model} fn={current.fn} id={block} select={select} />}
            </div>
            <div class="right">
              <div class="pane" hidden={pane !== "source" && (pane !== "graph" || !isWide)}><Source model={model} fn={current.fn} selected={selected} select={select} /></div>
              {pane === "calls" && <div class="pane"><Calls model={model} fn={current.fn} row={row} /></div>}
              {pane === "branches" && <div class="pane"><Branches fn={current.fn} selected={selected} select={select} lineOf={lineOf(current.fn)} /></div>}
              {pane === "paths" && <div class="pane"><Paths model={model} fn={current.fn} id={id} selected={selected} select={select} /></div>}
              {pane === "mix" && <div class="pane"><Mix model={model} fn={current.fn} id={id} selected={selected} select={select} /></div>}
            </div>
          </div>
        </>
      )}
    </main>
  );
}

/** Whether graph and source fit beside each other. */
function useIsWide(): boolean {
  const query = useMemo(() => matchMedia("(min-width: 56.01rem)"), []);
  const [isWide, set] = useState(query.matches);
  useEffect(() => {
    const changed = () => set(query.matches);
    query.addEventListener("change", changed);
    return () => query.removeEventListener("change", changed);
  }, []);
  return isWide;
}

function Head({ model, row }: { model: Model; row: Row }) {
  const [isLong, setLong] = useState(false);
  const symbol = model.index.functions.symbol[row.id] ?? row.name;
  const copies = model.groups.get(row.group)!;
  const [, image] = model.index.modules[row.module]!;
  const canGrow = row.name.length > 160 || symbol.length > 160;
  return (
    <header class="function-head">
      <p class="crumbs">
        {model.index.images.length > 1 && <>{fileName(model.index.images[image]!)} › </>}
        {(row.file === null || model.filePath(row.file) !== model.modulePath(row.module)) && <>{model.modulePath(row.module)}{row.file !== null && " › "}</>}
        {row.file !== null && <a href={fileLink(model, row.file, row.line)}>{model.filePath(row.file)}:{row.line}</a>}
      </p>
      <h1 class={isLong ? "name" : "name clipped"}>{isLong ? row.name : clip(row.name, 160)}</h1>
      {symbol !== row.name && <p class="symbol">{isLong ? symbol : clip(symbol, 120)}</p>}
      {canGrow && <button type="button" class="link" onClick={() => setLong(!isLong)}>{isLong ? "Shorten the name" : "Show the whole name"}</button>}
      <dl class="facts">
        <Fact name="calls" value={digits(row.calls)} />
        <Fact name="instructions" value={digits(row.instructions)} note={percent(row.instructions, model.instructions)} />
        <Fact name="blocks run" value={`${digits(row.blocksExecuted)} of ${digits(row.blocks)}`} />
        <Fact name="branch bias" value={bias(row.branches, row.usual)} title="Share of branch executions that went their branch's most frequent way" />
        {row.calls > 0 && <Fact name="instructions a call" value={(Number(row.instructions) / Number(row.calls)).toLocaleString("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 })} />}
      </dl>
      {model.changes && (model.base === "#" ? <Before model={model} id={row.id} /> : <After model={model} id={row.id} />)}
      {copies.length > 1 && (
        <details class="copies">
          <summary>{copies.length} instantiations of this source function</summary>
          <ul>
            {copies.slice(0, 200).map((copy) => (
              <li key={copy.id}>
                <span class="number">{digits(copy.instructions)}</span>{" "}
                {copy.id === row.id ? <b>{copy.shortName}</b> : <a href={functionLink(model, copy.id)} title={copy.name.slice(0, 2000)}>{copy.shortName}</a>}{" "}
                <span class="quiet">{model.modulePath(copy.module)}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </header>
  );
}

/** What changed in it since the earlier profile. */
function Before({ model, id }: { model: Model; id: number }) {
  const changed = model.changes!.byId.get(id);
  if (!changed) return <p class="since">Since the earlier profile: <b>no change</b></p>;
  const { before, after, change } = changed;
  return (
    <p class="since">
      Since the earlier profile: <b>{signed(change.total)}</b> instructions ({before ? relative(change.total, before.instructions) : "new"}): {reasonsOf(change)}.{" "}
      {before && after && before.calls !== after.calls && `Calls ${digits(before.calls)} → ${digits(after.calls)}.`}{" "}
      {changed.ids.length > 1 && `All ${changed.ids.length} functions of this name together.`}{" "}
      {before && changed.matchedBy !== "symbol" && `Found by ${changed.matchedBy}.`}{" "}
      {before && <a href={earlierLink(changed)}>Its earlier page</a>}
    </p>
  );
}

/** What became of a function of the earlier profile. */
function After({ model, id }: { model: Model; id: number }) {
  const changed = model.changes!.byIdBefore.get(id);
  if (!changed) return <p class="since">In the later profile: <b>no change</b></p>;
  const { before, after, change, ids } = changed;
  return (
    <p class="since">
      In the later profile: {after ? <><b>{signed(change.total)}</b> instructions ({relative(change.total, before!.instructions)})</> : <b>gone</b>}: {reasonsOf(change)}.{" "}
      {ids.length > 0 && <a href={functionLink({ base: "#" }, ids[0]!)}>Its later page</a>}
    </p>
  );
}

function Calls({ model, fn, row }: { model: Model; fn: FunctionModel; row: Row }) {
  const callers = useMemo(() => {
    const sums = new Map<number, { count: Count; block: number; most: Count }>();
    for (const [caller, block, written] of fn.data.callers) {
      const count = read(written);
      const known = sums.get(caller);
      if (!known) sums.set(caller, { count, block, most: count });
      else {
        known.count = add(known.count, count);
        if (count > known.most) [known.most, known.block] = [count, block];
      }
    }
    return [...sums].sort((a, b) => descending(a[1].count, b[1].count));
  }, [fn]);
  const callees = useMemo(() => {
    const sums = new Map<string, { callee: FunctionModel["blocks"][0]["calls"][0]["callee"]; count: Count; sites: number[] }>();
    for (const block of fn.blocks) {
      for (const call of block.calls) {
        const key = JSON.stringify(call.callee);
        const known = sums.get(key);
        if (!known) sums.set(key, { callee: call.callee, count: call.count, sites: [block.id] });
        else {
          known.count = add(known.count, call.count);
          known.sites.push(block.id);
        }
      }
    }
    return [...sums.values()].sort((a, b) => descending(a.count, b.count));
  }, [fn]);
  const known = callers.reduce((total: Count, [, { count }]) => add(total, count), 0);
  const others = subtract(row.calls, known);
  const most = callers[0]?.[1].count ?? 0;
  return (
    <section class="call-list" aria-label="Calls">
      <h2>Called by</h2>
      {callers.length === 0 && <p class="quiet">No profiled code calls it by name.</p>}
      <table class="ways">
        <tbody>
          {callers.slice(0, 300).map(([caller, { count, block }]) => (
            <tr key={caller}>
              <td class="number">{digits(count)}</td>
              <td class="bar-cell"><Bar part={count} whole={most} /></td>
              <td class="name"><a href={functionLink(model, caller, block)} title={model.rows[caller]!.name.slice(0, 2000)}>{model.rows[caller]!.shortName}</a> <span class="quiet">#{block}</span></td>
            </tr>
          ))}
        </tbody>
      </table>
      {callers.length > 300 && <p class="quiet">and {digits(callers.length - 300)} callers more</p>}
      {others > 0 && <p class="quiet">{digits(others)} calls came through pointers or from code that is not profiled.</p>}
      <h2>Calls</h2>
      {callees.length === 0 && <p class="quiet">It calls nothing.</p>}
      <table class="ways">
        <tbody>
          {callees.slice(0, 300).map(({ callee, count, sites }, position) => (
            <tr key={position}>
              <td class="number">{digits(count)}</td>
              <td class="bar-cell"><Bar part={count} whole={callees[0]!.count} /></td>
              <td class="name"><CalleeName model={model} fn={fn} callee={callee} /> <a class="quiet" href={functionLink(model, row.id, sites[0])}>#{sites[0]}</a>{sites.length > 1 && <span class="quiet"> and {sites.length - 1} more {sites.length === 2 ? "site" : "sites"}</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {callees.length > 300 && <p class="quiet">and {digits(callees.length - 300)} callees more</p>}
    </section>
  );
}
