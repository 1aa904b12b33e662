// The control-flow graph of a function: drawn by layout.ts, shown by scene.tsx, moved by pointers and keys.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { BOX, centre, fit, isInView, start, zoomed, type Camera, type Size } from "./camera";
import { descending, digits, type Count } from "./count";
import type { FunctionModel } from "./function-model";
import { layOut, type Layout } from "./layout";
import { usePointers } from "./pointers";
import { Scene } from "./scene";

/** Functions with more blocks than this begin with those that ran. */
const MANY_BLOCKS = 300;

interface Props {
  model: FunctionModel;
  selected: number | null;
  select: (block: number) => void;
  lineOf: (block: number) => string;
}

export function Graph({ model, selected, select, lineOf }: Props) {
  const ran = useMemo(() => model.blocks.filter((block) => block.count > 0).length, [model]);
  const [onlyRan, setOnlyRan] = useState(model.blocks.length > MANY_BLOCKS && ran > 0);
  const hidden = onlyRan ? model.blocks.length - ran : 0;
  const isShown = (block: number) => !onlyRan || model.blocks[block]!.count > 0;
  const layout = useMemo(() => {
    const from = model.edges.map((edge) => edge.from);
    const to = model.edges.map((edge) => edge.to);
    return layOut(model.blocks.length, isShown, from, to, BOX);
  }, [model, onlyRan]);
  const most = useMemo(() => model.edges.reduce((most: Count, edge) => (edge.count !== null && edge.count > most ? edge.count : most), 0), [model]);

  const element = useRef<HTMLDivElement>(null);
  const size = useSize(element);
  const [camera, setCamera] = useState<Camera | null>(null);
  useLayoutEffect(() => {
    if (size.width > 0) setCamera(start(layout, size, selected));
  }, [layout, size.width > 0]);
  const current = camera ?? { x: 0, y: 0, scale: 1 };

  // A block that was chosen elsewhere comes into view.
  useLayoutEffect(() => {
    if (selected === null || !camera) return;
    if (!isShown(selected)) {
      setOnlyRan(false);
      return;
    }
    if (!isInView(layout, size, camera, selected)) setCamera(centre(layout, size, selected, Math.max(camera.scale, 0.6)));
  }, [selected, layout, size.height]);

  const zoom = (factor: number, x = size.width / 2, y = size.height / 2) => setCamera((old) => zoomed(old ?? current, factor, x, y));
  const pan = (x: number, y: number) => setCamera((old) => ({ ...(old ?? current), x: (old ?? current).x + x, y: (old ?? current).y + y }));

  usePointers(element, { pan, zoom });

  const keys = (event: KeyboardEvent) => {
    const go = (block: number | undefined) => block !== undefined && select(block);
    const next = (direction: Direction) => go(selected === null ? 0 : neighbour(model, layout, isShown, selected, direction));
    const step = 80;
    switch (event.key) {
      case "ArrowDown": event.shiftKey ? pan(0, -step) : next("down"); break;
      case "ArrowUp": event.shiftKey ? pan(0, step) : next("up"); break;
      case "ArrowLeft": event.shiftKey ? pan(step, 0) : next("left"); break;
      case "ArrowRight": event.shiftKey ? pan(-step, 0) : next("right"); break;
      case "Home": go(0); break;
      case "+": case "=": zoom(1.25); break;
      case "-": zoom(0.8); break;
      case "0": setCamera(fit(layout, size)); break;
      default: return;
    }
    event.preventDefault();
  };

  const scene = camera && <Scene {...{ model, layout, camera, size, selected, select, lineOf, most }} />;
  return (
    <section class="graph" aria-label="Control-flow graph">
      <div class="graph-bar">
        <span class="graph-says">
          {onlyRan
            ? `${digits(model.blocks.length - hidden)} of ${digits(model.blocks.length)} blocks: those that never ran are left out`
            : `${digits(model.blocks.length)} ${model.blocks.length === 1 ? "block" : "blocks"}`}
          {layout.cuts > 0 && `; ${digits(layout.cuts)} long edges are cut, their ends say where they go`}
        </span>
        {ran < model.blocks.length && ran > 0 && (
          <label class="check">
            <input type="checkbox" checked={onlyRan} onChange={() => setOnlyRan(!onlyRan)} /> only what ran
          </label>
        )}
        <span class="buttons" role="group" aria-label="Zoom">
          <button type="button" onClick={() => zoom(0.8)} aria-label="Zoom out" title="Zoom out (−)">−</button>
          <button type="button" onClick={() => setCamera(fit(layout, size))} aria-label="Show all" title="Show all (0)">fit</button>
          <button type="button" onClick={() => zoom(1.25)} aria-label="Zoom in" title="Zoom in (+)">+</button>
        </span>
      </div>
      <div
        class="canvas"
        ref={element}
        tabIndex={0}
        role="listbox"
        aria-label="Blocks. Arrow down: most frequent successor; arrow up: predecessor; left and right: blocks beside; plus and minus: zoom"
        aria-activedescendant={selected === null ? undefined : `block-${selected}`}
        onKeyDown={keys}
      >
        {scene}
      </div>
    </section>
  );
}

/** How large an element is, now and whenever that changes. */
function useSize(element: { current: HTMLDivElement | null }): Size {
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const box = element.current!;
    const measure = () => setSize({ width: box.clientWidth, height: box.clientHeight });
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(box);
    return () => watch.disconnect();
  }, []);
  return size;
}

type Direction = "up" | "down" | "left" | "right";

/** The block to which an arrow leads: the most frequent successor or predecessor, or who stands beside it. */
function neighbour(model: FunctionModel, layout: Layout, isShown: (block: number) => boolean, at: number, direction: Direction): number | undefined {
  const hottest = (edges: number[], end: "from" | "to") => {
    const near = edges.map((edge) => model.edges[edge]!).filter((edge) => edge[end] !== at && isShown(edge[end]));
    near.sort((a, b) => descending(a.count ?? 0, b.count ?? 0));
    return near[0]?.[end];
  };
  const beside = (step: number) => {
    const row = model.blocks.filter((block) => isShown(block.id) && layout.row[block.id] === layout.row[at]).map((block) => block.id);
    row.sort((a, b) => layout.x[a]! - layout.x[b]!);
    return row[row.indexOf(at) + step];
  };
  switch (direction) {
    case "down": return hottest(model.blocks[at]!.out, "to");
    case "up": return hottest(model.blocks[at]!.in, "from");
    case "left": return beside(-1);
    case "right": return beside(1);
  }
}
