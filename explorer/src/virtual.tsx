// A list of rows of equal height, of which only those in view exist.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

interface Props {
  count: number;
  rowHeight: number;
  row: (position: number) => ComponentChildren;
  class?: string;
  /** Scrolls it into view when it changes. */
  reveal?: number | null;
  minWidth?: string;
  attributes?: object;
  /** Position of the first row in view, kept by the caller across visits. */
  memory?: { top: number };
}

const OVERSCAN = 12;

export function VirtualList({ count, rowHeight, row, reveal, minWidth, attributes, memory, ...props }: Props) {
  const element = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ first: 0, last: 60 });
  const update = () => {
    const box = element.current;
    if (!box) return;
    if (memory) memory.top = box.scrollTop;
    const first = Math.max(0, Math.floor(box.scrollTop / rowHeight) - OVERSCAN);
    const last = Math.ceil((box.scrollTop + box.clientHeight) / rowHeight) + OVERSCAN;
    setView((old) => (old.first === first && old.last === last ? old : { first, last }));
  };
  useLayoutEffect(() => {
    const box = element.current!;
    if (memory && memory.top) box.scrollTop = memory.top;
    const watch = new ResizeObserver(update);
    watch.observe(box);
    return () => watch.disconnect();
  }, []);
  useLayoutEffect(update, [count, rowHeight]);
  useLayoutEffect(() => {
    const box = element.current;
    if (!box || reveal == null || reveal < 0) return;
    const top = reveal * rowHeight;
    if (top < box.scrollTop + rowHeight || top + 3 * rowHeight > box.scrollTop + box.clientHeight) {
      box.scrollTop = Math.max(0, top - box.clientHeight / 3);
      update();
    }
  }, [reveal, count]);
  const first = Math.min(view.first, Math.max(0, count - 1));
  const last = Math.min(view.last, count);
  const rows: ComponentChildren[] = [];
  for (let position = first; position < last; position++) rows.push(row(position));
  return (
    <div {...attributes} ref={element} class={`virtual ${props.class ?? ""}`} onScroll={update} tabIndex={0}>
      <div role="presentation" style={{ height: `${count * rowHeight}px`, minWidth, position: "relative" }}>
        <div role="presentation" style={{ position: "absolute", top: `${first * rowHeight}px`, left: 0, right: 0 }}>
          {rows}
        </div>
      </div>
    </div>
  );
}
