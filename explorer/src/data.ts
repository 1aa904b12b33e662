// The pieces of the report (docs/HTML.md). Each is unpacked once, when it is first asked for.

import type { FunctionData, FunctionPiece, Index, SourcePart, ViewData, ViewPiece } from "./schema";

export const LINES_OF_A_PART = 2000;
const pieces = new Map<string, Promise<unknown>>();
const arrivals = new Map<string, (data: string) => void>();

declare global {
  interface Window {
    bbprofData: (name: string, data: string) => void;
  }
}

window.bbprofData = (name, data) => arrivals.get(name)?.(data);

async function unpack(data: string): Promise<unknown> {
  const text = atob(data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
}

const whenParsed = new Promise<void>((resolve) => {
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", () => resolve());
  else resolve();
});

async function fetchPiece(name: string): Promise<string> {
  const inPage = () => document.getElementById(`data-${name}`)?.textContent;
  const now = inPage();
  if (now != null) return now;
  await whenParsed;
  const then = inPage();
  if (then != null) return then;
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    arrivals.set(name, resolve);
    script.src = `data/${name}.js`;
    script.onload = () => script.remove();
    script.onerror = () => reject(new Error(`data/${name}.js is missing: the whole folder is needed, not only index.html`));
    document.head.append(script);
  });
}

function piece<T>(name: string): Promise<T> {
  let known = pieces.get(name) as Promise<T> | undefined;
  if (!known) {
    known = fetchPiece(name).then(unpack) as Promise<T>;
    pieces.set(name, known);
  }
  return known;
}

export const loadIndex = () => piece<Index>("index");

/** The index of the earlier profile, of a comparison. */
export const loadEarlierIndex = () => piece<Index>("before.index");

/** The number of the piece that has a function. */
function pieceOf(index: Index, id: number): number {
  const starts = index.pieces;
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle]! <= id) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The data of a function, and the texts it refers to. */
export async function loadFunction(index: Index, id: number): Promise<{ data: FunctionData; strings: string[] }> {
  const chunk = await piece<FunctionPiece>(`${index.prefix}f${pieceOf(index, id)}`);
  return { data: chunk.functions[id - chunk.first]!, strings: chunk.strings };
}

/** Mix and paths of a function, and the texts they refer to. */
export async function loadViews(index: Index, id: number): Promise<{ data: ViewData; strings: string[] }> {
  const chunk = await piece<ViewPiece>(`${index.prefix}v${pieceOf(index, id)}`);
  return { data: chunk.functions[id - chunk.first]!, strings: chunk.strings };
}

/** The part of a file that has this line, by its number. */
export const partOf = (line: number) => Math.floor((line - 1) / LINES_OF_A_PART);

export const loadPart = (index: Index, file: number, part: number) => piece<SourcePart>(`${index.prefix}s${file}.${part}`);

/**
 * Which of these lines of a file are shown: of its text all, and behind it, where `#line` may put code anywhere, those with code.
 */
export function shownLines(file: Index["files"][0], from: number, to: number, withCode: number[]): number[] {
  const lines: number[] = [];
  const end = Math.min(file.text_lines ?? 0, to);
  for (let line = from; line <= end; line++) lines.push(line);
  const behind = withCode.filter((line) => line > end && from <= line && line <= to);
  return lines.concat(behind.sort((a, b) => a - b));
}

/** The parts of a file that have these lines. */
export function loadSource(index: Index, file: number, from: number, to: number): Promise<SourcePart[]> {
  const parts = index.files[file]!.parts.filter((part) => partOf(from) <= part && part <= partOf(to));
  return Promise.all(parts.map((part) => loadPart(index, file, part)));
}
