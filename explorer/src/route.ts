// Addresses of pages: all in the hash, so that they work from a disk. One history entry a page; what is selected on a page
// changes its address in place. Of a comparison, the pages of the earlier profile stand below `#/before`.

import { useEffect, useState } from "preact/hooks";

/** Views of a function; the first one is beside the others where there is room. */
export const VIEWS = ["graph", "source", "calls", "branches", "paths", "mix"] as const;
export type View = (typeof VIEWS)[number];

export type Route =
  | { page: "home" }
  | { page: "overview" }
  | { page: "table"; by: "tree" | "functions" | "files" }
  | { page: "function"; id: number; block: number | null; view: View | null }
  | { page: "file"; id: number; line: number | null }
  | { page: "exactness" }
  | { page: "unknown"; text: string };

const number = (text: string | undefined) => (text !== undefined && /^\d+$/.test(text) ? Number(text) : null);

/** Where the pages of a profile begin. */
export type Base = "#" | "#/before";

/** Whose page an address is, and which. */
export function parse(hash: string): { base: Base; route: Route } {
  const own = hash.replace(/^#\/before(?=\/|$)/, "#");
  return { base: own === hash ? "#" : "#/before", route: parsePage(own) };
}

function parsePage(hash: string): Route {
  const [page, a, b, c] = hash.replace(/^#\/?/, "").split("/");
  if (!page) return { page: "home" };
  if (page === "overview") return { page: "overview" };
  if (page === "tree" || page === "functions" || page === "files") return { page: "table", by: page };
  if (page === "exactness") return { page: "exactness" };
  const id = number(a);
  if (page === "f" && id !== null) return { page: "function", id, block: b === "b" ? number(c) : null, view: VIEWS.find((view) => view === b) ?? null };
  if (page === "file" && id !== null) return { page: "file", id, line: number(b) };
  return { page: "unknown", text: hash };
}

interface Side {
  base: Base;
}

export const pageLink = ({ base }: Side, page: string) => `${base}/${page}`;
export const functionLink = ({ base }: Side, id: number, block?: number | null) => (block == null ? `${base}/f/${id}` : `${base}/f/${id}/b/${block}`);
export const fileLink = ({ base }: Side, id: number, line?: number | null) => (line == null ? `${base}/file/${id}` : `${base}/file/${id}/${line}`);

/** Says on the same page, in its address, what is selected. */
export function replace(address: string) {
  if (location.hash !== address) {
    history.replaceState(null, "", address);
    dispatchEvent(new HashChangeEvent("hashchange"));
  }
}

export function useRoute(): ReturnType<typeof parse> {
  const [hash, set] = useState(location.hash);
  useEffect(() => {
    const changed = () => set(location.hash);
    addEventListener("hashchange", changed);
    // It may have changed since the first drawing.
    changed();
    return () => removeEventListener("hashchange", changed);
  }, []);
  return parse(hash);
}
