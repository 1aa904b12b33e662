// Search from every page: functions and files by parts of their names; `/` goes there.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { descending, percent, read } from "./count";
import type { Model } from "./model";
import { fileLink, functionLink } from "./route";
import { search } from "./search";

const MOST = 12;

export function SearchBox({ model }: { model: Model }) {
  const [query, setQuery] = useState("");
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    const slash = (event: KeyboardEvent) => {
      if (event.key === "/" && !(event.target as HTMLElement).closest("input, textarea")) {
        event.preventDefault();
        input.current?.focus();
        input.current?.select();
      }
    };
    addEventListener("keydown", slash);
    return () => removeEventListener("keydown", slash);
  }, []);
  const haystack = useMemo(() => model.rows.map((row) => `${row.name.slice(0, 400)} ${row.name.length > 400 ? row.name.slice(-100) : ""}`), [model]);
  const results = useMemo(() => {
    if (!query.trim()) return [];
    const lower = query.trim().toLowerCase();
    const functions = (search(haystack, query) ?? []).map((id) => model.rows[id]!);
    const ends = (name: string) => (name.toLowerCase().replace(/[(<].*$/, "").endsWith(lower) ? 0 : 1);
    functions.sort((a, b) => ends(a.name) - ends(b.name) || descending(a.instructions, b.instructions) || a.id - b.id);
    const files = search(model.index.files.map((_, id) => model.filePath(id)), query) ?? [];
    files.sort((a, b) => descending(read(model.index.files[a]!.instructions), read(model.index.files[b]!.instructions)));
    return [
      ...functions.slice(0, MOST).map((row) => ({ link: functionLink(model, row.id), label: row.shortName, note: percent(row.instructions, model.instructions), kind: "function" })),
      ...files.filter((id) => model.index.files[id]!.lines > 0).slice(0, 4).map((id) => ({ link: fileLink(model, id), label: model.filePath(id), note: "file", kind: "file" })),
    ];
  }, [query, model]);
  const go = (link: string) => {
    location.hash = link;
    setOpen(false);
    setQuery("");
    input.current?.blur();
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setActive(Math.min(results.length - 1, active + 1));
    else if (event.key === "ArrowUp") setActive(Math.max(0, active - 1));
    else if (event.key === "Enter" && results[active]) go(results[active].link);
    else if (event.key === "Escape") {
      setOpen(false);
      input.current?.blur();
    } else return;
    event.preventDefault();
  };
  const isShown = isOpen && query.trim() !== "";
  return (
    <div class="search" onFocusIn={() => setOpen(true)} onFocusOut={(event) => !event.currentTarget.contains(event.relatedTarget as Node) && setOpen(false)}>
      <input
        ref={input}
        type="text"
        inputMode="search"
        list={undefined}
        role="combobox"
        aria-label="Search functions and files"
        aria-expanded={isShown}
        aria-controls="results"
        aria-autocomplete="list"
        aria-activedescendant={isShown && results[active] ? `result-${active}` : undefined}
        placeholder="Search"
        title="Search functions and files (/)"
        value={query}
        onInput={(event) => { setQuery(event.currentTarget.value); setActive(0); setOpen(true); }}
        onKeyDown={keys}
      />
      <ul id="results" role="listbox" aria-label="Results" hidden={!isShown}>
        {results.map((result, position) => (
          <li key={result.link} role="option" id={`result-${position}`} aria-selected={position === active} onMouseDown={(event) => { event.preventDefault(); go(result.link); }} onMouseEnter={() => setActive(position)}>
            <span class="label">{result.label}</span> <small>{result.note}</small>
          </li>
        ))}
        {isShown && results.length === 0 && <li class="quiet">Nothing is called that.</li>}
      </ul>
    </div>
  );
}
