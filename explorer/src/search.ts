// Names that match what is typed.

import uFuzzy from "@leeoniya/ufuzzy";

const fuzzy = new uFuzzy({ intraMode: 0, interIns: Infinity });

/** Positions of what matches, in their order; everything without a query. Names are compared in their first characters. */
export function search(names: string[], query: string): number[] | null {
  const needle = query.trim();
  if (!needle) return null;
  const lower = needle.toLowerCase();
  // uFuzzy takes letters beyond ASCII for what parts words.
  if (/[^\x00-\x7f]/.test(needle)) {
    const words = lower.split(/\s+/);
    return names.flatMap((name, position) => (words.every((word) => name.toLowerCase().includes(word)) ? [position] : []));
  }
  // The words in any order; else, for what is no word (`operator<<`), the text itself.
  const found = fuzzy.search(names, needle, 1, 0)[0];
  if (found && found.length) return [...found].sort((a, b) => a - b);
  return names.flatMap((name, position) => (name.toLowerCase().includes(lower) ? [position] : []));
}
