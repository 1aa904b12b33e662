// The first page: what ran, whether the counts are exact, and where the instructions went.

import { useMemo } from "preact/hooks";
import { descending, digits, percent, read, subtract } from "./count";
import type { Model } from "./model";
import { fileName } from "./names";
import { fileLink, functionLink, pageLink } from "./route";
import { Bar, Fact, numberOf, Verdict } from "./widgets";

const HOTTEST = 12;

export function Overview({ model }: { model: Model }) {
  const { index } = model;
  const { totals } = index;
  const instructions = read(totals.instructions);
  const unlocated = subtract(instructions, read(totals.instructions_with_line));
  const hottest = useMemo(() => [...model.rows].sort((a, b) => descending(a.instructions, b.instructions) || a.id - b.id).slice(0, HOTTEST).filter((row) => row.instructions > 0), [model]);
  const files = useMemo(
    () => index.files.map((file, id) => ({ id, counted: read(file.instructions) })).filter((file) => file.counted > 0).sort((a, b) => descending(a.counted, b.counted)).slice(0, 8),
    [model],
  );
  const blocks = index.hottest_blocks.slice(0, HOTTEST);
  return (
    <main class="page overview">
      <header class="title">
        <h1>{model.title}</h1>
        <Verdict model={model} />
      </header>
      <dl class="facts large">
        <Fact name="instructions executed" value={digits(instructions)} title="LLVM IR instructions of the generated code" />
        <Fact name="block executions" value={digits(read(totals.block_executions))} />
        <Fact name="functions run" value={digits(totals.functions_executed)} note={`of ${digits(totals.functions)}`} />
        <Fact name="blocks run" value={digits(totals.blocks_executed)} note={`of ${digits(totals.blocks)}`} />
        <Fact name="without a source line" value={percent(unlocated, instructions)} title={`${digits(unlocated)} executed instructions`} />
      </dl>
      {index.functions.name.length === 0 && <p class="remark">The profile is empty: no image of its processes has counters. Were they built with bbprof?</p>}
      {totals.functions > 0 && totals.functions_executed === 0 && <p class="remark">Nothing was executed: all counts are 0.</p>}

      <div class="columns">
        <section>
          <h2>Hottest functions <a class="more" href={pageLink(model, "functions")}>all {digits(model.rows.length)}</a></h2>
          <table class="hot">
            <thead><tr><th scope="col">Function</th><th scope="col" class="number">Instructions</th><th class="bar-cell" /><th scope="col" class="number">Share</th><th scope="col" class="number quiet">Calls</th></tr></thead>
            <tbody>
              {hottest.map((row) => (
                <tr key={row.id}>
                  <td class="name"><a href={functionLink(model, row.id)} title={row.name.slice(0, 2000)}>{row.shortName}</a></td>
                  <td class="number">{digits(row.instructions)}</td>
                  <td class="bar-cell"><Bar part={row.instructions} whole={instructions} /></td>
                  <td class="number">{percent(row.instructions, instructions)}</td>
                  <td class="number quiet">{digits(row.calls)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
        <section>
          <h2>Hottest blocks</h2>
          <table class="hot">
            <thead><tr><th scope="col">Block</th><th scope="col" class="number">Executions</th><th class="bar-cell" /><th scope="col" class="number">Share</th></tr></thead>
            <tbody>
              {blocks.map(([id, block, count, executed, place]) => (
                <tr key={`${id}.${block}`}>
                  <td class="name">
                    <a href={functionLink(model, id, block)}>{model.rows[id]!.shortName} #{block}</a>
                    {place && <a class="quiet place" href={fileLink(model, ...place)}>{fileName(model.filePath(place[0]))}:{place[1]}</a>}
                  </td>
                  <td class="number">{digits(read(count))}</td>
                  <td class="bar-cell"><Bar part={read(executed)} whole={instructions} /></td>
                  <td class="number">{percent(read(executed), instructions)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
        <section>
          <h2>Hottest files <a class="more" href={pageLink(model, "files")}>all {digits(index.files.filter((file) => file.lines > 0).length)}</a></h2>
          <table class="hot">
            <thead><tr><th scope="col">File</th><th scope="col" class="number">Instructions</th><th class="bar-cell" /><th scope="col" class="number">Share</th></tr></thead>
            <tbody>
              {files.map(({ id, counted }) => (
                <tr key={id}>
                  <td class="name"><a href={fileLink(model, id)} title={index.files[id]!.path}>{model.filePath(id)}</a></td>
                  <td class="number">{digits(counted)}</td>
                  <td class="bar-cell"><Bar part={counted} whole={instructions} /></td>
                  <td class="number">{percent(counted, instructions)}</td>
                </tr>
              ))}
              <tr>
                <td class="quiet">no source line</td>
                <td class="number">{digits(unlocated)}</td>
                <td class="bar-cell"><Bar part={unlocated} whole={instructions} /></td>
                <td class="number">{percent(unlocated, instructions)}</td>
              </tr>
            </tbody>
          </table>
        </section>
        <Processes model={model} />
      </div>
    </main>
  );
}

function Processes({ model }: { model: Model }) {
  const groups = useMemo(() => {
    const groups = new Map<string, { executable: string; fate: string; pid: number; number: number }>();
    for (const { executable, fate, pid, number } of model.index.processes) {
      const key = JSON.stringify([executable, fate]);
      const known = groups.get(key);
      if (known) known.number += number;
      else groups.set(key, { executable, fate, pid, number });
    }
    return [...groups.values()];
  }, [model]);
  const count = numberOf(model.index.processes);
  const hasIds = groups.every(({ pid, number }) => pid !== 0 && number === 1);
  return (
    <section>
      <h2>{count === 1 ? "One process" : `${digits(count)} processes`}</h2>
      <table class="hot">
        <thead><tr><th scope="col">Executable</th><th scope="col">Fate</th><th scope="col" class="number">{hasIds ? "Process id" : "Processes"}</th></tr></thead>
        <tbody>
          {groups.slice(0, 40).map((group, position) => (
            <tr key={position}>
              <td class="name" title={group.executable}>{fileName(group.executable)}</td>
              <td>{group.fate}</td>
              <td class="number">{hasIds ? group.pid : digits(group.number)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {groups.length > 40 && <p class="quiet">and {digits(groups.length - 40)} more ends</p>}
    </section>
  );
}
