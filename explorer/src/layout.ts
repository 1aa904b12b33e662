// Layered drawing of a control-flow graph (Sugiyama, Tagawa, Toda 1981): blocks in rows from the entry down, jumps back drawn
// upwards beside them. Every step is close to linear, since a function may have thousands of blocks:
//
//   1. edges back to a block on the depth-first path are taken as loops;
//   2. a block's row is the longest way to it from the entry over the other edges;
//   3. an edge over several rows gets a point in each, unless that is too many: then it
//      is cut, and both its ends say where it goes;
//   4. rows are ordered by the mean position of neighbours, down and up (Warfield's barycentres);
//   5. horizontally, each row takes the least-squares place under its neighbours that keeps distances (isotonic regression,
//      pool adjacent violators); long edges weigh more, so that they come out straight.

export interface Box {
  width: number;
  height: number;
}

export interface DrawnEdge {
  /** Position in the list of edges. */
  edge: number;
  /** x, y of its points, from source to target; of a cut edge: its two stubs. */
  points: number[];
  isBack: boolean;
  isCut: boolean;
}

export interface Layout {
  /** Left upper corner by block; those left out are NaN. */
  x: Float64Array;
  y: Float64Array;
  row: Int32Array;
  edges: DrawnEdge[];
  /** By edge. */
  isBack: Uint8Array;
  width: number;
  height: number;
  cuts: number;
}

const ROW_GAP = 58;
const COLUMN_GAP = 26;
const BEND_WIDTH = 14;
/** Points that long edges may take in all; more of them and the longest are cut. Keeps the drawing of 5,000 blocks within 0.3 s. */
const MOST_BENDS = 6_000;
const ORDER_SWEEPS = 6;
const PLACE_SWEEPS = 8;

/** Draws the blocks `0..blocks` that `isShown`, with the edges between them. */
export function layOut(blocks: number, isShown: (block: number) => boolean, from: number[], to: number[], box: Box): Layout {
  const shown: number[] = [];
  for (let block = 0; block < blocks; block++) if (isShown(block)) shown.push(block);
  const usable: number[] = [];
  for (let edge = 0; edge < from.length; edge++) if (isShown(from[edge]!) && isShown(to[edge]!)) usable.push(edge);

  const out: number[][] = Array.from({ length: blocks }, () => []);
  for (const edge of usable) out[from[edge]!]!.push(edge);
  const { isBack, order } = findLoops(blocks, shown, out, to);
  const row = rows(blocks, order, out, isBack, to);
  const grid = makeGrid(blocks, shown, usable, isBack, row, from, to);
  orderRows(grid);
  placeRows(grid, box);
  return draw(blocks, grid, box, row, usable, isBack, from, to);
}

/** Depth-first search from block 0, then from what it does not reach. Gives reverse postorder. */
function findLoops(blocks: number, shown: number[], out: number[][], to: number[]) {
  const state = new Uint8Array(blocks);
  const isBack = new Uint8Array(to.length);
  const postorder: number[] = [];
  const stack: number[] = [];
  const next = new Int32Array(blocks);
  for (const root of shown) {
    if (state[root]) continue;
    stack.push(root);
    state[root] = 1;
    while (stack.length) {
      const block = stack[stack.length - 1]!;
      const edges = out[block]!;
      if (next[block]! < edges.length) {
        const edge = edges[next[block]!++]!;
        const target = to[edge]!;
        if (state[target] === 1) isBack[edge] = 1;
        else if (state[target] === 0) {
          state[target] = 1;
          stack.push(target);
        }
      } else {
        state[block] = 2;
        postorder.push(block);
        stack.pop();
      }
    }
  }
  return { isBack, order: postorder.reverse() };
}

function rows(blocks: number, order: number[], out: number[][], isBack: Uint8Array, to: number[]): Int32Array {
  const row = new Int32Array(blocks);
  for (const block of order) {
    for (const edge of out[block]!) {
      if (!isBack[edge]) row[to[edge]!] = Math.max(row[to[edge]!]!, row[block]! + 1);
    }
  }
  return row;
}

interface Grid {
  /** By point (blocks first, then bends): row, position in it, x of its middle. */
  row: number[];
  position: Float64Array;
  middle: Float64Array;
  rows: number[][];
  above: number[][];
  below: number[][];
  firstBend: number;
  /** By edge: its bends from top to bottom. */
  bends: Map<number, number[]>;
  cut: Set<number>;
}

function makeGrid(blocks: number, shown: number[], usable: number[], isBack: Uint8Array, row: Int32Array, from: number[], to: number[]): Grid {
  const span = (edge: number) => {
    const distance = row[to[edge]!]! - row[from[edge]!]!;
    return isBack[edge] ? 1 - distance : distance - 1;
  };
  const cut = new Set<number>();
  let bends = 0;
  for (const edge of [...usable].sort((a, b) => span(a) - span(b) || a - b)) {
    bends += span(edge);
    if (bends > MOST_BENDS && span(edge) > 3) cut.add(edge);
  }
  const grid: Grid = {
    row: Array.from(row),
    position: new Float64Array(0),
    middle: new Float64Array(0),
    rows: [],
    above: [],
    below: [],
    firstBend: blocks,
    bends: new Map(),
    cut,
  };
  const put = (point: number) => (grid.rows[grid.row[point]!] ??= []).push(point);
  for (let point = 0; point < blocks; point++) {
    grid.above.push([]);
    grid.below.push([]);
  }
  for (const block of shown) put(block);
  const link = (upper: number, lower: number) => {
    grid.below[upper]!.push(lower);
    grid.above[lower]!.push(upper);
  };
  for (const edge of usable) {
    if (cut.has(edge)) continue;
    const [source, target] = [from[edge]!, to[edge]!];
    // Upwards, an edge passes beside both its ends: it leaves below its source and comes in above its target.
    const [top, bottom] = isBack[edge] ? [row[target]!, row[source]!] : [row[source]! + 1, row[target]! - 1];
    const points: number[] = [];
    for (let at = top; at <= bottom; at++) {
      const point = grid.row.length;
      grid.row.push(at);
      grid.above.push([]);
      grid.below.push([]);
      put(point);
      if (points.length) link(points[points.length - 1]!, point);
      points.push(point);
    }
    grid.bends.set(edge, points);
    if (!isBack[edge]) {
      link(source, points[0] ?? target);
      if (points.length) link(points[points.length - 1]!, target);
    }
  }
  for (let at = 0; at < grid.rows.length; at++) grid.rows[at] ??= [];
  grid.position = new Float64Array(grid.row.length);
  grid.middle = new Float64Array(grid.row.length);
  for (const points of grid.rows) points.forEach((point, position) => (grid.position[point] = position));
  return grid;
}

function orderRows(grid: Grid) {
  const key = new Float64Array(grid.row.length);
  const settle = (points: number[], neighbours: number[][]) => {
    for (const point of points) {
      const near = neighbours[point]!;
      let total = 0;
      for (const neighbour of near) total += grid.position[neighbour]!;
      key[point] = near.length ? total / near.length : grid.position[point]!;
    }
    points.sort((a, b) => key[a]! - key[b]! || grid.position[a]! - grid.position[b]!);
    points.forEach((point, position) => (grid.position[point] = position));
  };
  for (let sweep = 0; sweep < ORDER_SWEEPS; sweep++) {
    if (sweep % 2 === 0) for (let at = 1; at < grid.rows.length; at++) settle(grid.rows[at]!, grid.above);
    else for (let at = grid.rows.length - 2; at >= 0; at--) settle(grid.rows[at]!, grid.below);
  }
  for (let at = 1; at < grid.rows.length; at++) settle(grid.rows[at]!, grid.above);
}

function placeRows(grid: Grid, box: Box) {
  const isBend = (point: number) => point >= grid.firstBend;
  const widthOf = (point: number) => (isBend(point) ? BEND_WIDTH : box.width);
  // Distance of the middle of each point from that of the row's first, when they stand as close as they may.
  const offset = new Float64Array(grid.row.length);
  for (const points of grid.rows) {
    let at = 0;
    points.forEach((point, position) => {
      if (position) at += (widthOf(points[position - 1]!) + widthOf(point)) / 2 + (isBend(point) && isBend(points[position - 1]!) ? 4 : COLUMN_GAP);
      offset[point] = at;
    });
    const half = at / 2;
    for (const point of points) grid.middle[point] = offset[point]! - half;
  }
  const settle = (points: number[], neighbours: number[][]) => {
    // Pools: weighted mean of (wish - offset), not decreasing from pool to pool.
    const means: number[] = [];
    const weights: number[] = [];
    const sizes: number[] = [];
    for (const point of points) {
      const near = neighbours[point]!;
      let wish = grid.middle[point]!;
      let weight = 0.2;
      if (near.length) {
        wish = 0;
        for (const neighbour of near) wish += grid.middle[neighbour]!;
        wish /= near.length;
        weight = isBend(point) ? (isBend(near[0]!) ? 8 : 2) : 1;
      }
      let mean = wish - offset[point]!;
      let size = 1;
      while (means.length && means[means.length - 1]! > mean) {
        const otherWeight = weights.pop()!;
        mean = (mean * weight + means.pop()! * otherWeight) / (weight + otherWeight);
        weight += otherWeight;
        size += sizes.pop()!;
      }
      means.push(mean);
      weights.push(weight);
      sizes.push(size);
    }
    let next = 0;
    means.forEach((mean, pool) => {
      for (let i = 0; i < sizes[pool]!; i++, next++) grid.middle[points[next]!] = mean + offset[points[next]!]!;
    });
  };
  for (let sweep = 0; sweep < PLACE_SWEEPS; sweep++) {
    if (sweep % 2 === 0) for (let at = 1; at < grid.rows.length; at++) settle(grid.rows[at]!, grid.above);
    else for (let at = grid.rows.length - 2; at >= 0; at--) settle(grid.rows[at]!, grid.below);
  }
}

function draw(
  blocks: number,
  grid: Grid,
  box: Box,
  row: Int32Array,
  usable: number[],
  isBack: Uint8Array,
  from: number[],
  to: number[],
): Layout {
  let left = Infinity;
  let right = -Infinity;
  for (const points of grid.rows) {
    for (const point of points) {
      const half = (point < blocks ? box.width : BEND_WIDTH) / 2;
      left = Math.min(left, grid.middle[point]! - half);
      right = Math.max(right, grid.middle[point]! + half);
    }
  }
  if (left > right) left = right = 0;
  const x = new Float64Array(blocks).fill(NaN);
  const y = new Float64Array(blocks).fill(NaN);
  const top = (at: number) => at * (box.height + ROW_GAP);
  for (const points of grid.rows) {
    for (const point of points) {
      if (point < blocks) {
        x[point] = grid.middle[point]! - left - box.width / 2;
        y[point] = top(grid.row[point]!);
      }
    }
  }
  // Where edges leave and come in: side by side, in the order of where they go.
  const middle = (point: number) => grid.middle[point]! - left;
  const firstStop = (edge: number) => {
    const bends = grid.bends.get(edge) ?? [];
    return isBack[edge] ? bends[bends.length - 1]! : (bends[0] ?? to[edge]!);
  };
  const lastStop = (edge: number) => {
    const bends = grid.bends.get(edge) ?? [];
    return isBack[edge] ? bends[0]! : (bends[bends.length - 1] ?? from[edge]!);
  };
  const leaving = ports(blocks, usable, from, (edge) => (grid.cut.has(edge) ? Infinity : middle(firstStop(edge))), box.width);
  const coming = ports(blocks, usable, to, (edge) => (grid.cut.has(edge) ? -Infinity : middle(lastStop(edge))), box.width);
  const edges = usable.map((edge): DrawnEdge => {
    const [source, target] = [from[edge]!, to[edge]!];
    const [x1, y1] = [x[source]! + leaving.get(edge)!, y[source]! + box.height];
    const [x2, y2] = [x[target]! + coming.get(edge)!, y[target]!];
    const isCut = grid.cut.has(edge);
    if (isCut) return { edge, points: [x1, y1, x1, y1 + 20, x2, y2 - 20, x2, y2], isBack: isBack[edge] === 1, isCut };
    const points = [x1, y1];
    const bends = grid.bends.get(edge) ?? [];
    if (isBack[edge]) {
      for (let i = bends.length - 1; i >= 0; i--) {
        const at = top(grid.row[bends[i]!]!);
        points.push(middle(bends[i]!), at + box.height, middle(bends[i]!), at);
      }
    } else {
      for (const bend of bends) {
        const at = top(grid.row[bend]!);
        points.push(middle(bend), at, middle(bend), at + box.height);
      }
    }
    points.push(x2, y2);
    return { edge, points, isBack: isBack[edge] === 1, isCut };
  });
  const height = grid.rows.length ? top(grid.rows.length - 1) + box.height : 0;
  return { x, y, row, edges, isBack, width: right - left, height, cuts: grid.cut.size };
}

function ports(blocks: number, usable: number[], end: number[], wish: (edge: number) => number, width: number): Map<number, number> {
  const at: number[][] = Array.from({ length: blocks }, () => []);
  for (const edge of usable) at[end[edge]!]!.push(edge);
  const ports = new Map<number, number>();
  for (const edges of at) {
    edges.sort((a, b) => wish(a) - wish(b) || a - b);
    const gap = Math.min(40, (width - 30) / Math.max(1, edges.length - 1));
    edges.forEach((edge, position) => ports.set(edge, width / 2 + (position - (edges.length - 1) / 2) * gap));
  }
  return ports;
}
