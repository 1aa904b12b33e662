// Where a function decides: how often each branch was executed, which way it usually goes, and which ways it never or always went.

import { useMemo, useState } from "preact/hooks";
import { descending, digits, percent, subtract, sum, type Count } from "./count";
import type { FunctionModel } from "./function-model";
import { Bar } from "./widgets";

interface Way {
  to: number;
  count: Count;
}

interface Branch {
  block: number;
  isSwitch: boolean;
  /** The most frequent first; null where the counters leave one open. */
  ways: Way[] | null;
  executions: Count;
  /** Executions that did not go the usual way. */
  against: Count;
}

const KINDS = {
  all: ["All", "by executions that went against the usual way"],
  both: ["Several ways", "that went more than one way"],
  one: ["One way only", "that always went the same way"],
  switches: ["Switches", "with the distribution of their ways"],
  never: ["Never", "that were never executed"],
} as const;
type Kind = keyof typeof KINDS;

const ROWS = 100;
const WAYS = 8;

/** The ways out of every block that decides between several; those to landing pads are left out. */
function branchesOf(fn: FunctionModel): Branch[] {
  const branches = fn.blocks.flatMap((block): Branch[] => {
    const edges = block.out.map((edge) => fn.edges[edge]!).filter((edge) => edge.kind !== "unwind");
    const decides = edges.some((edge) => edge.kind === "branch" || edge.kind === "switch" || edge.kind === "indirect");
    if (!decides || edges.length < 2) return [];
    const isSwitch = edges.some((edge) => edge.kind === "switch");
    if (edges.some((edge) => edge.count === null)) return [{ block: block.id, isSwitch, ways: null, executions: 0, against: 0 }];
    const ways = edges.map((edge) => ({ to: edge.to, count: edge.count! })).sort((a, b) => descending(a.count, b.count));
    const executions = sum(ways.map((way) => way.count));
    return [{ block: block.id, isSwitch, ways, executions, against: subtract(executions, ways[0]!.count) }];
  });
  return branches.sort((a, b) => descending(a.against, b.against) || descending(a.executions, b.executions) || a.block - b.block);
}

function is(kind: Kind, branch: Branch): boolean {
  switch (kind) {
    case "all": return true;
    case "both": return branch.against > 0;
    case "one": return branch.executions > 0 && branch.against == 0;
    case "switches": return branch.isSwitch;
    case "never": return branch.ways !== null && branch.executions == 0;
  }
}

export function Branches({ fn, selected, select, lineOf }: { fn: FunctionModel; selected: number | null; select: (block: number) => void; lineOf: (block: number) => string }) {
  const branches = useMemo(() => branchesOf(fn), [fn]);
  const [kind, setKind] = useState<Kind>("all");
  const [shown, setShown] = useState(ROWS);
  const rows = branches.filter((branch) => is(kind, branch));
  const executions = sum(branches.map((branch) => branch.executions));
  const against = sum(branches.map((branch) => branch.against));
  const most = branches[0]?.against ?? 0;
  if (branches.length === 0) return <section class="call-list branches" aria-label="Branches"><p class="quiet">It has no branch.</p></section>;
  return (
    <section class="call-list branches" aria-label="Branches">
      <p class="kinds">
        {(Object.keys(KINDS) as Kind[]).map((name) => {
          const number = branches.filter((branch) => is(name, branch)).length;
          return <button type="button" key={name} class="chip" aria-pressed={kind === name} disabled={number === 0} onClick={() => { setKind(name); setShown(ROWS); }}>{KINDS[name][0]} {digits(number)}</button>;
        })}
      </p>
      <h2>Branches {KINDS[kind][1]}</h2>
      <p class="quiet">{digits(executions)} executions of branches, of which {digits(against)} ({percent(against, executions)}) did not go their branch's usual way.</p>
      <table class="hot">
        <thead><tr><th scope="col">Block</th><th scope="col" class="number">Executed</th><th scope="col" class="number">Against</th><th class="bar-cell" /><th scope="col">Ways</th></tr></thead>
        <tbody>
          {rows.slice(0, shown).map((branch) => (
            <tr key={branch.block}>
              <td><button type="button" class={branch.block === selected ? "chip on" : "chip"} onClick={() => select(branch.block)}>#{branch.block}</button> <span class="quiet">{lineOf(branch.block)}</span></td>
              <td class="number">{branch.ways ? digits(branch.executions) : "not determined"}</td>
              <td class="number">{branch.ways ? digits(branch.against) : ""}</td>
              <td class="bar-cell"><Bar part={branch.against} whole={most} /></td>
              <td class="path"><Ways branch={branch} select={select} /></td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > shown && <button type="button" class="link" onClick={() => setShown(shown * 10)}>Show more: {digits(shown)} of {digits(rows.length)}</button>}
    </section>
  );
}

function Ways({ branch, select }: { branch: Branch; select: (block: number) => void }) {
  const [isLong, setLong] = useState(false);
  if (!branch.ways) return null;
  const ways = isLong ? branch.ways : branch.ways.slice(0, WAYS);
  return (
    <span class="chips">
      {ways.map((way, position) => (
        <span key={position} title={`${digits(way.count)} times`}>
          <button type="button" class="chip" onClick={() => select(way.to)}>#{way.to}</button>{" "}
          <span class="quiet">{branch.executions == 0 ? "" : way.count == 0 ? "never" : branch.against == 0 ? "always" : percent(way.count, branch.executions)}</span>
        </span>
      ))}
      {branch.ways.length > ways.length && <button type="button" class="link" onClick={() => setLong(true)}>{branch.ways.length - ways.length} more</button>}
    </span>
  );
}
