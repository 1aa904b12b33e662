// Which part of a drawn graph is in view, and how large.

import type { Layout } from "./layout";

export const BOX = { width: 172, height: 54 };
const MARGIN = 40;
/** Below this, blocks are no longer to be seen. */
const LEAST_SCALE = 0.03;
const MOST_SCALE = 2.5;

/** A point of the drawing is at `point * scale + (x, y)` of the screen. */
export interface Camera {
  x: number;
  y: number;
  scale: number;
}

export interface Size {
  width: number;
  height: number;
}

/** All of it, as far as blocks can be seen. */
export function fit(layout: Layout, size: Size): Camera {
  const whole = Math.min(1, (size.width - 2 * MARGIN) / layout.width, (size.height - 2 * MARGIN) / layout.height);
  const scale = Math.max(whole, LEAST_SCALE);
  return {
    scale,
    // What is too wide is seen from above the entry.
    x: scale > whole ? size.width / 2 - (layout.x[0]! + BOX.width / 2) * scale : (size.width - layout.width * scale) / 2,
    y: Math.max(MARGIN, (size.height - layout.height * scale) / 2),
  };
}

/** A block in the middle. */
export function centre(layout: Layout, size: Size, block: number, scale: number): Camera {
  return {
    scale,
    x: size.width / 2 - (layout.x[block]! + BOX.width / 2) * scale,
    y: size.height / 2.6 - (layout.y[block]! + BOX.height / 2) * scale,
  };
}

/** The selected block, or all of it where its text can be read so, or its beginning. */
export function start(layout: Layout, size: Size, selected: number | null): Camera {
  const whole = fit(layout, size);
  if (selected !== null && !Number.isNaN(layout.x[selected])) return centre(layout, size, selected, Math.max(whole.scale, 0.8));
  if (whole.scale >= 0.55) return whole;
  return { ...centre(layout, size, 0, 0.8), y: MARGIN };
}

/** Nearer or farther; what is at (x, y) of the screen stays there. */
export function zoomed(camera: Camera, factor: number, x: number, y: number): Camera {
  const scale = Math.min(MOST_SCALE, Math.max(LEAST_SCALE, camera.scale * factor));
  const change = scale / camera.scale;
  return { scale, x: x - (x - camera.x) * change, y: y - (y - camera.y) * change };
}

/** Whether all of a block is in view. */
export function isInView(layout: Layout, size: Size, camera: Camera, block: number): boolean {
  const [x, y] = [layout.x[block]! * camera.scale + camera.x, layout.y[block]! * camera.scale + camera.y];
  return x >= 0 && y >= 0 && x + BOX.width * camera.scale <= size.width && y + BOX.height * camera.scale <= size.height;
}
