// Modules > files > functions > instantiations, or all functions or files as a list:
// filtered and searched.

import { useMemo, useState } from "preact/hooks";
import { digits, percent } from "./count";
import { Files } from "./files";
import { Functions } from "./functions";
import { sumRows, type Model } from "./model";
import { pageLink } from "./route";
import { search } from "./search";

type By = "tree" | "functions" | "files";

/** What was asked for, for when one comes back to it. */
const memory = { query: "", onlyRan: true };

export function TablePage({ model, by }: { model: Model; by: By }) {
  const [query, setQuery] = useState(memory.query);
  const [onlyRan, setOnlyRan] = useState(memory.onlyRan);
  Object.assign(memory, { query, onlyRan });

  const haystack = useMemo(
    () => model.rows.map((row) => `${row.name.slice(0, 400)} ${row.file === null ? "" : model.filePath(row.file)} ${model.modulePath(row.module)}`),
    [model],
  );
  const rows = useMemo(() => {
    const found = search(haystack, query);
    const rows = found === null ? model.rows : found.map((position) => model.rows[position]!);
    return onlyRan ? rows.filter((row) => row.blocksExecuted > 0) : rows;
  }, [model, query, onlyRan]);
  const shown = useMemo(() => sumRows(rows), [rows]);
  return (
    <main class="table-page">
      <div class="table-bar">
        <div class="segments" role="group" aria-label="Rows">
          {(["tree", "functions", "files"] as By[]).map((name) => (
            <a key={name} href={pageLink(model, name)} aria-current={by === name ? "page" : undefined}>{{ tree: "Modules", functions: "Functions", files: "Files" }[name]}</a>
          ))}
        </div>
        <input type="search" id="filter" placeholder="Filter by name, file or module" aria-label="Filter" value={query} onInput={(event) => setQuery(event.currentTarget.value)} />
        <label class="check"><input type="checkbox" checked={onlyRan} onChange={() => setOnlyRan(!onlyRan)} /> only what ran</label>
        {by !== "files" && (
          <output class="quiet">{digits(rows.length)} {rows.length === 1 ? "function" : "functions"}, {percent(shown.instructions, model.instructions)} of all instructions</output>
        )}
      </div>
      {by === "files" ? (
        <Files model={model} query={query} onlyRan={onlyRan} />
      ) : (
        <Functions {...{ model, by, rows, query, onlyRan }} />
      )}
    </main>
  );
}
