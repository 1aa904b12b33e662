// What all tables have: headings that sort, keys that move, names of files that may be cut in front.

export const ROW = 30;

export interface Sort<C> {
  column: C;
  ascending: boolean;
}

/** The heading of a column; a click sorts by it, another turns the order. */
export function Heading<C extends string>({ column, text, title, sort, setSort }: {
  column: C;
  text: string;
  title?: string;
  sort: Sort<C>;
  setSort: (sort: Sort<C>) => void;
}) {
  const isSorted = sort.column === column;
  const turn = () => setSort({ column, ascending: isSorted ? !sort.ascending : column === "name" });
  return (
    <div role="columnheader" class={`cell ${column}`} aria-sort={isSorted ? (sort.ascending ? "ascending" : "descending") : "none"}>
      <button type="button" title={title} onClick={turn}>
        {text}
        <span aria-hidden="true">{isSorted ? (sort.ascending ? " ↑" : " ↓") : ""}</span>
      </button>
    </div>
  );
}

/** The row to which a key leads. */
export function moved(key: string, active: number, count: number): number | null {
  const last = Math.max(0, count - 1);
  switch (key) {
    case "ArrowDown": return Math.min(last, active + 1);
    case "ArrowUp": return Math.max(0, active - 1);
    case "PageDown": return Math.min(last, active + 20);
    case "PageUp": return Math.max(0, active - 20);
    case "Home": return 0;
    case "End": return last;
    default: return null;
  }
}

/** Of a path, the file's own name stays when there is no room for all. */
export function Label({ label, isPath }: { label: string; isPath: boolean }) {
  const slash = isPath ? label.lastIndexOf("/") + 1 : 0;
  if (slash === 0) return <span class="label">{label}</span>;
  return <><span class="folder">{label.slice(0, slash)}</span><span class="base">{label.slice(slash)}</span></>;
}
