// Pointers on the graph.

import { useEffect, useRef } from "preact/hooks";

/** Dragging, pinching, the wheel: wheel and two fingers on a touchpad move, with Ctrl or a pinch they zoom. */
export function usePointers(
  element: { current: HTMLDivElement | null },
  move: { pan: (x: number, y: number) => void; zoom: (factor: number, x: number, y: number) => void },
) {
  const latest = useRef(move);
  latest.current = move;
  useEffect(() => {
    const box = element.current!;
    const held = new Map<number, { x: number; y: number }>();
    let travelled = 0;
    const wheel = (event: WheelEvent) => {
      event.preventDefault();
      const { left, top } = box.getBoundingClientRect();
      const unit = event.deltaMode === 1 ? 20 : 1;
      if (event.ctrlKey || event.metaKey) latest.current.zoom(Math.exp(-event.deltaY * unit * 0.004), event.clientX - left, event.clientY - top);
      else latest.current.pan(-(event.shiftKey ? event.deltaY : event.deltaX) * unit, -(event.shiftKey ? 0 : event.deltaY) * unit);
    };
    const down = (event: PointerEvent) => {
      held.set(event.pointerId, { x: event.clientX, y: event.clientY });
      travelled = 0;
    };
    const moved = (event: PointerEvent) => {
      const old = held.get(event.pointerId);
      if (!old) return;
      const now = { x: event.clientX, y: event.clientY };
      travelled += Math.abs(now.x - old.x) + Math.abs(now.y - old.y);
      if (travelled > 4 && !box.hasPointerCapture(event.pointerId)) box.setPointerCapture(event.pointerId);
      const other = [...held].find(([id]) => id !== event.pointerId)?.[1];
      if (other) {
        const { left, top } = box.getBoundingClientRect();
        const distance = (a: { x: number; y: number }) => Math.hypot(a.x - other.x, a.y - other.y);
        latest.current.zoom(distance(now) / Math.max(1, distance(old)), (now.x + other.x) / 2 - left, (now.y + other.y) / 2 - top);
        latest.current.pan((now.x - old.x) / 2, (now.y - old.y) / 2);
      } else latest.current.pan(now.x - old.x, now.y - old.y);
      held.set(event.pointerId, now);
    };
    const up = (event: PointerEvent) => held.delete(event.pointerId);
    // The end of a drag is no click.
    const click = (event: MouseEvent) => travelled > 4 && event.stopPropagation();
    box.addEventListener("wheel", wheel, { passive: false });
    box.addEventListener("pointerdown", down);
    box.addEventListener("pointermove", moved);
    box.addEventListener("pointerup", up);
    box.addEventListener("pointercancel", up);
    box.addEventListener("click", click, { capture: true });
    return () => {
      box.removeEventListener("wheel", wheel);
      box.removeEventListener("pointerdown", down);
      box.removeEventListener("pointermove", moved);
      box.removeEventListener("pointerup", up);
      box.removeEventListener("pointercancel", up);
      box.removeEventListener("click", click, { capture: true });
    };
  }, []);
}
