// Heat: five steps of a share of executed instructions, a sixth for what never ran. The steps are thirds of decades.

import { ratio, type Count } from "./count";

/** From 0 (never ran) to 5 (30 % or more). */
export function heat(part: Count, whole: Count, ran: boolean): number {
  if (!ran) return 0;
  const share = ratio(part, whole);
  return share >= 0.3 ? 5 : share >= 0.1 ? 4 : share >= 0.03 ? 3 : share >= 0.01 ? 2 : 1;
}

export const HEAT_NAMES = ["never ran", "below 1 %", "1–3 %", "3–10 %", "10–30 %", "30 % and more"];
