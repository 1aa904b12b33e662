// Small pieces that several pages show.

import { digits, percent, ratio, type Count } from "./count";
import type { Model } from "./model";
import { pageLink } from "./route";

export function Bar({ part, whole }: { part: Count; whole: Count }) {
  return <span class="bar" aria-hidden="true"><span style={{ width: `${Math.min(100, ratio(part, whole) * 100)}%` }} /></span>;
}

export function Fact({ name, value, note, title }: { name: string; value: string; note?: string; title?: string }) {
  return (
    <div title={title}>
      <dt>{name}</dt>
      <dd>{value}{note && <small> {note}</small>}</dd>
    </div>
  );
}

export function Verdict({ model }: { model: Model }) {
  const { exceptions, is_exact } = model.index;
  return (
    <a class={is_exact ? "verdict exact" : "verdict inexact"} href={pageLink(model, "exactness")}>
      {is_exact ? "exact" : `not exact: ${digits(exceptions.length)} ${exceptions.length === 1 ? "exception" : "exceptions"}`}
    </a>
  );
}

export function bias(branches: Count | null, usual: Count | null): string {
  if (branches === null || usual === null) return "not determined";
  return branches == 0 ? "–" : percent(usual, branches);
}

/** How many processes there were; those of a pool are not told apart. */
export function numberOf(processes: { number: number }[]): number {
  return processes.reduce((total, { number }) => total + number, 0);
}
