// Views of a function that are read when they are opened: its paths, and its instruction mix.

import { useEffect, useState } from "preact/hooks";
import { descending, digits, percent, read, sum, type Count } from "./count";
import { loadViews } from "./data";
import type { FunctionModel } from "./function-model";
import type { Model } from "./model";
import type { PathData, ViewData } from "./schema";
import { Bar } from "./widgets";

interface Props {
  model: Model;
  fn: FunctionModel;
  id: number;
  selected: number | null;
  select: (block: number | null) => void;
}

type Loaded = { id: number; data: ViewData; strings: string[] } | { id: number; error: string };

function useViews(model: Model, id: number): Loaded | undefined {
  const [loaded, setLoaded] = useState<Loaded>();
  useEffect(() => {
    let isCurrent = true;
    loadViews(model.index, id).then(
      (views) => isCurrent && setLoaded({ id, ...views }),
      (error: Error) => isCurrent && setLoaded({ id, error: error.message }),
    );
    return () => void (isCurrent = false);
  }, [id]);
  return loaded?.id === id ? loaded : undefined;
}

const ROWS = 50;
const BLOCKS = 40;

export function Paths({ model, fn, id, selected, select }: Props) {
  const views = useViews(model, id);
  const [shown, setShown] = useState(ROWS);
  if (!views) return <p class="boot">Unpacking</p>;
  if ("error" in views) return <p class="remark">{views.error}</p>;
  const paths = views.data.paths;
  if (!paths) return <p class="boot">Paths were not counted in this function.</p>;
  const executed = read(paths.executed);
  const listed = sum(paths.hottest.map((path) => read(path.executed)));
  const most = paths.hottest.map((path) => read(path.executed)).sort(descending)[0] ?? 0;
  return (
    <section class="call-list paths" aria-label="Paths">
      <h2>Paths by executed instructions</h2>
      <p class="quiet">
        {digits(paths.taken)} of {digits(read(fn.data.num_paths ?? 0))} paths were taken, {digits(read(paths.count))} times.
        {paths.hottest.length < paths.taken && ` The hottest ${digits(paths.hottest.length)} are listed: ${percent(listed, executed)} of the instructions.`}
      </p>
      {paths.hottest.length > 0 && (
        <table class="hot">
          <thead><tr><th scope="col" class="number">Count</th><th scope="col" class="number">Instructions</th><th class="bar-cell" /><th scope="col" class="number">Share</th><th scope="col">Blocks</th></tr></thead>
          <tbody>
            {paths.hottest.slice(0, shown).map((path) => (
              <tr key={String(path.number)}>
                <td class="number">{digits(read(path.count))}</td>
                <td class="number">{digits(read(path.executed))}</td>
                <td class="bar-cell"><Bar part={read(path.executed)} whole={most} /></td>
                <td class="number">{percent(read(path.executed), executed)}</td>
                <td class="path"><Way path={path} selected={selected} select={select} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {paths.hottest.length > shown && <button type="button" class="link" onClick={() => setShown(shown * 10)}>Show more: {digits(shown)} of {digits(paths.hottest.length)}</button>}
    </section>
  );
}

function Way({ path, selected, select }: { path: PathData; selected: number | null; select: (block: number) => void }) {
  const [isLong, setLong] = useState(false);
  const blocks = isLong ? path.blocks : path.blocks.slice(0, BLOCKS);
  return (
    <span class="chips" title={`path ${path.number}`}>
      {!path.from_entry && <span class="quiet">…</span>}
      {blocks.map((block, position) => (
        <button type="button" key={position} class={block === selected ? "chip on" : "chip"} onClick={() => select(block)}>#{block}</button>
      ))}
      {path.blocks.length > blocks.length && <button type="button" class="link" onClick={() => setLong(true)}>{path.blocks.length - blocks.length} more</button>}
      <span class="quiet">{path.end === "leaves" ? "leaves" : path.end === "vanishes" ? "vanishes in a call" : `goes on at #${path.end}`}</span>
    </span>
  );
}

export function Mix({ model, id }: Props) {
  const views = useViews(model, id);
  if (!views) return <p class="boot">Unpacking</p>;
  if ("error" in views) return <p class="remark">{views.error}</p>;
  const { data, strings } = views;
  const opcodes = data.opcodes.map(([opcode, group, inCode, executed]) => ({ opcode: strings[opcode]!, group, inCode, executed: read(executed) }));
  opcodes.sort((a, b) => descending(a.executed, b.executed) || b.inCode - a.inCode || (a.opcode < b.opcode ? -1 : 1));
  const groups = new Map<string, { inCode: number; executed: Count }>();
  for (const { group, inCode, executed } of opcodes) {
    const known = groups.get(group) ?? { inCode: 0, executed: 0 };
    groups.set(group, { inCode: known.inCode + inCode, executed: sum([known.executed, executed]) });
  }
  const all = { executed: sum(opcodes.map((row) => row.executed)), inCode: opcodes.reduce((total, row) => total + row.inCode, 0) };
  const [ifTrue, ifFalse] = [read(data.branches[0]), read(data.branches[1])];
  const unknown = data.branches[2];
  const rows = [...groups].map(([opcode, group]) => ({ opcode, ...group })).sort((a, b) => descending(a.executed, b.executed) || b.inCode - a.inCode);
  return (
    <section class="call-list mix" aria-label="Instruction mix">
      <h2>By group</h2>
      <Opcodes rows={rows} all={all} />
      <h2>By opcode</h2>
      <Opcodes rows={opcodes} all={all} isCode />
      <h2>Conditional branches</h2>
      {sum([ifTrue, ifFalse]) == 0 ? (
        <p class="quiet">None was executed{unknown > 0 && ", as far as is known"}.</p>
      ) : (
        <p>The condition was true {digits(ifTrue)} times ({percent(ifTrue, sum([ifTrue, ifFalse]))}), false {digits(ifFalse)} times.</p>
      )}
      {unknown > 0 && <p class="quiet">Of {digits(unknown)} {unknown === 1 ? "branch" : "branches"} the counters do not tell the way.</p>}
    </section>
  );
}

function Opcodes({ rows, all, isCode }: { rows: { opcode: string; inCode: number; executed: Count }[]; all: { executed: Count; inCode: number }; isCode?: boolean }) {
  return (
    <table class="hot">
      <thead><tr><th scope="col">{isCode ? "Opcode" : "Group"}</th><th scope="col" class="number">Executed</th><th class="bar-cell" /><th scope="col" class="number">Share</th><th scope="col" class="number">In code</th><th scope="col" class="number quiet">Share</th></tr></thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.opcode}>
            <td>{isCode ? <code>{row.opcode}</code> : row.opcode}</td>
            <td class="number">{digits(row.executed)}</td>
            <td class="bar-cell"><Bar part={row.executed} whole={all.executed} /></td>
            <td class="number">{percent(row.executed, all.executed)}</td>
            <td class="number">{digits(row.inCode)}</td>
            <td class="number quiet">{percent(row.inCode, all.inCode)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
