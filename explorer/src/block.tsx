// All of one block: counts, where it goes and comes from, calls, opcodes, lines, IR.

import type { ComponentChildren } from "preact";
import { digits, percent, signed, subtract, sum } from "./count";
import type { FunctionModel } from "./function-model";
import type { Model } from "./model";
import { clip, fileName } from "./names";
import { fileLink, functionLink } from "./route";
import { Bar } from "./widgets";

interface Props {
  model: Model;
  fn: FunctionModel;
  id: number;
  select: (block: number | null) => void;
}

export function BlockDetail({ model, fn, id, select }: Props) {
  const block = fn.blocks[id];
  if (!block) return <section class="block-detail"><p>This function has no block {id}.</p></section>;
  const way = (edges: number[], end: "from" | "to", title: string, none: string) => {
    const all = edges.map((edge) => fn.edges[edge]!);
    // Of what is not all known there are no shares.
    const total = all.some((edge) => edge.count === null) ? null : sum(all.map((edge) => edge.count!));
    return (
      <Part title={title}>
        {all.length === 0 && <p class="quiet">{none}</p>}
        <table class="ways">
          <tbody>
            {all.map((edge, position) => (
              <tr key={position}>
                <td><button type="button" class="chip" onClick={() => select(edge[end])}>#{edge[end]}</button></td>
                <td class="number">{edge.count === null ? "not determined" : digits(edge.count)}</td>
                <td class="number">{total === null ? "" : percent(edge.count!, total)}</td>
                <td class="bar-cell"><Bar part={edge.count ?? 0} whole={total ?? 0} /></td>
                <td class="quiet">{edge.kind === "fallthrough" ? "" : edge.kind}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Part>
    );
  };
  const lines = new Map<string, { file: number; line: number; columns: number[]; standing: number; scope: number }>();
  for (const { place, standing } of block.places) {
    const [file, line, column, scope] = fn.data.places[place]!;
    const known = lines.get(`${file}:${line}:${scope}`) ?? { file, line, columns: [], standing: 0, scope };
    if (column > 0 && !known.columns.includes(column)) known.columns.push(column);
    known.standing += standing;
    lines.set(`${file}:${line}:${scope}`, known);
  }
  const located = [...lines.values()].reduce((total, line) => total + line.standing, 0);
  const mostOpcodes = Math.max(1, ...block.opcodes.map(([, count]) => count));
  return (
    <section class="block-detail" aria-label={`Block ${id}`}>
      <header>
        <h2>Block #{id}</h2>
        <p>
          <b>{digits(block.count)}</b> executions · {digits(block.instructions)} instructions · <b>{digits(block.executed)}</b> executed,{" "}
          {percent(block.executed, fn.executed)} of the function
          {block.before !== null && (block.before == block.count ? " · as often as before" : <> · before {digits(block.before)} executions, <b>{signed(subtract(block.count, block.before))}</b></>)}
        </p>
        <button type="button" class="close" aria-label="Close block" title="Close" onClick={() => select(null)}>×</button>
      </header>
      <div class="parts">
        {way(block.out, "to", "Goes to", "Control leaves the function here.")}
        {way(block.in, "from", "Comes from", id === 0 ? "Entered by calls only." : "Nothing leads here.")}
        {block.vanished !== null && (
          <Part title="Vanished">
            <p>{block.vanished > 0n
              ? `${digits(block.vanished)} executions never came back from a call here: exit, a throw, a long jump, or still running.`
              : `${digits(-block.vanished)} executions came back from a call here a second time (setjmp).`}</p>
          </Part>
        )}
        {block.calls.length > 0 && (
          <Part title="Calls">
            <table class="ways">
              <tbody>
                {block.calls.map((call, position) => (
                  <tr key={position}>
                    <td class="number">{digits(call.count)}</td>
                    <td class="name"><CalleeName model={model} fn={fn} callee={call.callee} /></td>
                    <td class="quiet number">{call.place === null ? "" : `line ${fn.data.places[call.place]![1]}`}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Part>
        )}
        <Part title="Opcodes">
          <table class="ways">
            <tbody>
              {[...block.opcodes].sort((a, b) => b[1] - a[1]).map(([opcode, count]) => (
                <tr key={opcode}>
                  <td><code>{opcode}</code></td>
                  <td class="number">{count}</td>
                  <td class="bar-cell"><Bar part={count} whole={mostOpcodes} /></td>
                </tr>
              ))}
            </tbody>
          </table>
        </Part>
        <Part title="Lines" isWide>
          <table class="ways">
            <tbody>
              {[...lines.values()].map((line, position) => (
                <tr key={position}>
                  <td><a href={fileLink(model, line.file, line.line)} title={model.index.files[line.file]?.path}>{fileName(model.filePath(line.file))}:{line.line}</a></td>
                  <td class="quiet">{line.columns.length > 0 && `col ${line.columns.sort((a, b) => a - b).join(", ")}`}</td>
                  <td class="number">{line.standing} instr.</td>
                  <td class="quiet name" title={fn.strings[fn.data.scopes[line.scope]![0]]?.slice(0, 2000)}>{line.scope > 0 && `inlined ${clip(fn.strings[fn.data.scopes[line.scope]![0]]!, 48)}`}</td>
                </tr>
              ))}
              {located < block.instructions && (
                <tr><td class="quiet">no line</td><td /><td class="number">{block.instructions - located} instr.</td><td /></tr>
              )}
            </tbody>
          </table>
        </Part>
        <Part title="IR" isWide>
          {block.ir === null ? <p class="quiet">Not kept in this build; <code>--ir</code> (<code>--bbprof-ir</code> for C and C++) keeps it.</p> : <pre>{block.ir}</pre>}
        </Part>
      </div>
    </section>
  );
}

export function CalleeName({ model, fn, callee }: { model: Model; fn: FunctionModel; callee: FunctionModel["blocks"][0]["calls"][0]["callee"] }) {
  if (callee === "pointer") return <span class="quiet">through a pointer</span>;
  if (callee === "asm") return <span class="quiet">inline assembly</span>;
  if ("name" in callee) return <span title="not in this profile">{clip(fn.strings[callee.name]!, 100)}</span>;
  const row = model.rows[callee.function]!;
  return <a href={functionLink(model, row.id)} title={row.name.slice(0, 2000)}>{row.shortName}</a>;
}

function Part({ title, children, isWide }: { title: string; children: ComponentChildren; isWide?: boolean }) {
  return (
    <div class={isWide ? "part wide" : "part"}>
      <h3>{title}</h3>
      {children}
    </div>
  );
}

