// What of a drawn graph is in view, as SVG. From far away blocks are mere colours, a few paths for all of them, so that thousands
// cost no more than ten.

import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { BOX, type Camera, type Size } from "./camera";
import { digits, percent, short, type Count } from "./count";
import type { FunctionModel } from "./function-model";
import { heat } from "./heat";
import type { DrawnEdge, Layout } from "./layout";

/** More ways than this out of a block, or into it, are a fan. */
const FAN = 12;
/** More edges than this in view, and fans are drawn as one. */
const MOST_EDGES = 200;
/** More blocks than this in view are drawn as colours alone. */
const MOST_DETAILED = 260;

interface Props {
  model: FunctionModel;
  layout: Layout;
  camera: Camera;
  size: Size;
  selected: number | null;
  select: (block: number) => void;
  lineOf: (block: number) => string;
  /** The count of the most frequent edge. */
  most: Count;
}

export function Scene(props: Props) {
  const { model, layout, camera, size, selected } = props;
  const view = {
    left: -camera.x / camera.scale - 40,
    top: -camera.y / camera.scale - 40,
    right: (size.width - camera.x) / camera.scale + 40,
    bottom: (size.height - camera.y) / camera.scale + 40,
  };
  const inView: number[] = [];
  for (let block = 0; block < model.blocks.length; block++) {
    const [x, y] = [layout.x[block]!, layout.y[block]!];
    if (x + BOX.width >= view.left && x <= view.right && y + BOX.height >= view.top && y <= view.bottom) inView.push(block);
  }
  const isDetailed = inView.length <= MOST_DETAILED && camera.scale > 0.22;
  const bounds = useMemo(() => layout.edges.map(({ points }) => boundsOf(points)), [layout]);
  const seen = new Set(inView);
  // Of a fan, the ways to blocks out of view are one line together.
  let rays = "";
  const isRay = (drawn: DrawnEdge) => {
    const ends = model.edges[drawn.edge]!;
    const isNear = selected !== null && (ends.from === selected || ends.to === selected);
    return !isNear && !drawn.isCut && !(seen.has(ends.from) && seen.has(ends.to)) && isInFan(model, ends);
  };
  let edges = layout.edges.filter((_, position) => {
    const [left, top, right, bottom] = bounds[position]!;
    return right! >= view.left && left! <= view.right && bottom! >= view.top && top! <= view.bottom;
  });
  if (isDetailed && edges.length > MOST_EDGES) {
    const [far, near] = [edges.filter(isRay), edges.filter((edge) => !isRay(edge))];
    for (const ray of far) rays += curve(ray.points, ray.isBack);
    edges = near;
  }
  // What does not depend on the camera is made once, and skipped by the renderer when it is the same.
  const nodes = useMemo(() => new Map<string, VNode>(), [model, layout]);
  const block = (id: number) => {
    const key = `${id}${id === selected ? "s" : ""}`;
    let node = nodes.get(key);
    if (!node) nodes.set(key, (node = <BlockBox key={id} {...props} id={id} />));
    return node;
  };
  const drawn = useMemo(() => new Map<string, VNode>(), [model, layout]);
  const edge = (edge: DrawnEdge) => {
    const ends = model.edges[edge.edge]!;
    const near = selected !== null && (ends.from === selected || ends.to === selected);
    const key = `${edge.edge}${near ? "s" : ""}`;
    let node = drawn.get(key);
    if (!node) drawn.set(key, (node = <EdgeLine key={key} {...props} drawn={edge} near={near} />));
    return node;
  };
  return (
    <svg width={size.width} height={size.height} role="presentation" class={camera.scale < 0.5 ? "far" : undefined}>
      <defs>
        {["plain", "never", "back", "unwind", "near"].map((name) => (
          <marker id={`arrow-${name}`} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto" markerUnits="userSpaceOnUse" key={name}>
            <path d="M0,0.5 L8,4 L0,7.5 z" class={`arrow ${name}`} />
          </marker>
        ))}
      </defs>
      <g transform={`translate(${camera.x} ${camera.y}) scale(${camera.scale})`}>
        {isDetailed ? (
          <>
            {rays && <path class="rays" d={rays} />}
            {edges.map(edge)}
            {inView.map(block)}
          </>
        ) : (
          <Far {...props} inView={inView} edges={edges} />
        )}
      </g>
    </svg>
  );
}

/** Many blocks: a path for each colour. */
function Far({ model, layout, inView, edges, select, selected, camera }: Props & { inView: number[]; edges: DrawnEdge[] }) {
  const paths = ["", "", "", "", "", ""];
  for (const id of inView) {
    const block = model.blocks[id]!;
    paths[heat(block.executed, model.executed, block.count > 0)] += `M${layout.x[id]},${layout.y[id]}h${BOX.width}v${BOX.height}h${-BOX.width}z`;
  }
  const lines = { ran: "", never: "", back: "" };
  for (const edge of edges) {
    const { points } = edge;
    let path = `M${points[0]},${points[1]}`;
    if (edge.isCut) path += `L${points[2]},${points[3]}M${points[4]},${points[5]}L${points[6]},${points[7]}`;
    else for (let i = 2; i < points.length; i += 2) path += `L${points[i]},${points[i + 1]}`;
    lines[model.edges[edge.edge]!.count == 0 ? "never" : edge.isBack ? "back" : "ran"] += path;
  }
  const pick = (event: MouseEvent) => {
    const box = (event.currentTarget as SVGElement).ownerSVGElement!.getBoundingClientRect();
    const [x, y] = [(event.clientX - box.left - camera.x) / camera.scale, (event.clientY - box.top - camera.y) / camera.scale];
    const hit = inView.find((id) => x >= layout.x[id]! && x <= layout.x[id]! + BOX.width && y >= layout.y[id]! && y <= layout.y[id]! + BOX.height);
    if (hit !== undefined) select(hit);
  };
  return (
    <g onClick={pick}>
      <path class="far-edge never" d={lines.never} />
      <path class="far-edge" d={lines.ran} />
      <path class="far-edge back" d={lines.back} />
      {paths.map((path, step) => path && <path key={step} class={`far-block heat-${step}`} d={path} />)}
      {selected !== null && !Number.isNaN(layout.x[selected]) && (
        <rect class="far-selected" x={layout.x[selected]} y={layout.y[selected]} width={BOX.width} height={BOX.height} />
      )}
    </g>
  );
}

function BlockBox({ model, layout, selected, select, id, lineOf }: Props & { id: number }) {
  const block = model.blocks[id]!;
  const ran = block.count > 0;
  const share = percent(block.executed, model.executed);
  const isHeader = block.in.some((edge) => layout.isBack[edge]);
  const isExit = block.out.length === 0;
  const title = `Block ${id}${id === 0 ? ", the entry" : ""}: executed ${digits(block.count)} times, ${share} of the function's instructions`;
  const line = lineOf(id);
  return (
    <g
      class={`block heat-${heat(block.executed, model.executed, ran)}${id === selected ? " selected" : ""}`}
      transform={`translate(${layout.x[id]} ${layout.y[id]})`}
      id={`block-${id}`}
      role="option"
      aria-selected={id === selected}
      aria-label={title}
      onClick={() => select(id)}
    >
      <title>{title}</title>
      <rect class="body" width={BOX.width} height={BOX.height} rx="5" />
      {isExit && <path class="exit" d={`M8,${BOX.height}H${BOX.width - 8}`} />}
      <text class="id" x="10" y="19">
        #{id}
        {id === 0 ? " entry" : ""}
        {isHeader ? " ↻" : ""}
      </text>
      <text class="number" x={BOX.width - 10} y="19">{digits(block.count).length > 15 ? short(block.count) : digits(block.count)}</text>
      <text class="line" x="10" y="41">{line.length > 16 ? `…${line.slice(-15)}` : line}</text>
      <text class="share" x={BOX.width - 10} y="41">{ran ? share : "never"}</text>
    </g>
  );
}

const isInFan = (model: FunctionModel, edge: { from: number; to: number }) =>
  model.blocks[edge.from]!.out.length > FAN || model.blocks[edge.to]!.in.length > FAN;

function EdgeLine({ model, drawn, near, most, select }: Props & { drawn: DrawnEdge; near: boolean }) {
  const edge = model.edges[drawn.edge]!;
  const never = edge.count !== null && edge.count == 0;
  const total = model.blocks[edge.from]!.leaving;
  // Of very many ways, each is thin and pale: together they are a fan, not a wall.
  const isFan = isInFan(model, edge);
  const weight = isFan && !near ? 1 : edge.count === null || never ? 1 : 1 + 2.8 * (Math.log1p(Number(edge.count)) / Math.log1p(Math.max(1, Number(most))));
  const kind = near ? "near" : never ? "never" : drawn.isBack ? "back" : edge.kind === "unwind" ? "unwind" : "plain";
  const { points } = drawn;
  const says =
    `#${edge.from} to #${edge.to}: ` +
    (edge.count === null ? "not determined by the counters" : `${digits(edge.count)} times${total === null ? "" : `, ${percent(edge.count, total)} of #${edge.from}`}`) +
    (edge.kind === "unwind" ? ", unwinding" : edge.kind === "switch" ? ", switch" : "") +
    (drawn.isBack ? ", back" : "");
  const label = edge.count === null ? "?" : digits(edge.count);
  const branches = model.blocks[edge.from]!.out.length > 1 || drawn.isBack;
  if (drawn.isCut) {
    return (
      <g class={`edge ${kind}`}>
        <title>{says}</title>
        <path d={`M${points[0]},${points[1]}L${points[2]},${points[3]}`} style={{ strokeWidth: weight }} />
        <text class="stub" x={points[2]} y={points[3]! + 11} onClick={() => select(edge.to)}>→ #{edge.to}</text>
        <path d={`M${points[4]},${points[5]}L${points[6]},${points[7]}`} style={{ strokeWidth: weight }} marker-end={`url(#arrow-${kind})`} />
        {model.blocks[edge.to]!.in.length <= 6 && (
          <text class="stub" x={points[4]} y={points[5]! - 3} onClick={() => select(edge.from)}>#{edge.from} →</text>
        )}
      </g>
    );
  }
  // The count stands beside the edge, shortly behind where it leaves its block, clear of the neighbours'.
  const [x, y] = [points[0]! * 0.55 + points[2]! * 0.45, points[1]! + 27];
  return (
    <g class={`edge ${kind}${isFan ? " fan" : ""}`}>
      <title>{says}</title>
      <path d={curve(points, drawn.isBack)} style={{ strokeWidth: weight }} marker-end={`url(#arrow-${kind})`} />
      {branches && (
        <text x={x} y={y}>
          {label.length > 13 ? short(edge.count!) : label}
        </text>
      )}
    </g>
  );
}

function curve(points: number[], isBack: boolean): string {
  let path = `M${points[0]},${points[1]}`;
  for (let i = 2; i < points.length; i += 2) {
    const [x0, y0, x1, y1] = [points[i - 2]!, points[i - 1]!, points[i]!, points[i + 1]!];
    if (x0 === x1) path += `V${y1}`;
    else if (isBack && (i === 2 || i === points.length - 2)) {
      // Around the end of a block: down and up again, or up and down.
      const bend = i === 2 ? 34 : -34;
      path += `C${x0},${y0 + bend} ${x1},${y1 + bend} ${x1},${y1}`;
    } else {
      const half = (y1 - y0) / 2;
      path += `C${x0},${y0 + half} ${x1},${y1 - half} ${x1},${y1}`;
    }
  }
  return path;
}

function boundsOf(points: number[]): number[] {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i < points.length; i += 2) {
    left = Math.min(left, points[i]!);
    right = Math.max(right, points[i]!);
    top = Math.min(top, points[i + 1]! - 34);
    bottom = Math.max(bottom, points[i + 1]! + 34);
  }
  return [left, top, right, bottom];
}
