// Counts that keep every digit: numbers while they are exact, big integers beyond.

export type Count = number | bigint;
/** As it stands in the data: text beyond 2^53. */
export type Written = number | string;

export function read(written: Written): Count {
  return typeof written === "string" ? BigInt(written) : written;
}

export function add(a: Count, b: Count): Count {
  if (typeof a === "number" && typeof b === "number") {
    const sum = a + b;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return BigInt(a) + BigInt(b);
}

export function subtract(a: Count, b: Count): Count {
  if (typeof a === "number" && typeof b === "number") return a - b;
  const rest = BigInt(a) - BigInt(b);
  return rest <= BigInt(Number.MAX_SAFE_INTEGER) && rest >= -BigInt(Number.MAX_SAFE_INTEGER) ? Number(rest) : rest;
}

export function sum(counts: Iterable<Count>): Count {
  let total: Count = 0;
  for (const count of counts) total = add(total, count);
  return total;
}

/** Orders from large to small. */
export function descending(a: Count, b: Count): number {
  return a < b ? 1 : a > b ? -1 : 0;
}

/** All digits, with a comma between thousands. */
export function digits(count: Count): string {
  const text = String(count);
  return text.length <= 3 ? text : text.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** A few characters, for marks on edges where the exact number has no room; the exact one is never far. */
export function short(count: Count): string {
  const value = Number(count);
  if (value < 10_000) return digits(count);
  for (const [unit, size] of [["T", 1e12], ["G", 1e9], ["M", 1e6], ["k", 1e3]] as const) {
    if (value >= size) {
      const scaled = value / size;
      return scaled >= 1e6 ? scaled.toExponential(2) + unit : (scaled < 100 ? scaled.toFixed(1) : scaled.toFixed(0)) + unit;
    }
  }
  return digits(count);
}

/** All digits, with a sign unless it is nothing. */
export function signed(count: Count): string {
  return count > 0 ? `+${digits(count)}` : digits(count).replace("-", "−");
}

/** How much more than before, in percent of that. */
export function relative(change: Count, before: Count): string {
  if (change == 0) return "0.0 %";
  if (before == 0) return "new";
  const share = (Number(change) / Number(before)) * 100;
  const sign = share > 0 ? "+" : "−";
  return Math.abs(share) < 0.05 ? `${sign}<0.1 %` : `${sign}${Math.abs(share).toLocaleString("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 })} %`;
}

/** The part of a whole, 0 to 1. */
export function ratio(part: Count, whole: Count): number {
  return whole == 0 ? 0 : Number(part) / Number(whole);
}

/** With one decimal. What is not all is never 100.0, and what is not nothing never 0.0. */
export function percent(part: Count, whole: Count): string {
  if (whole == 0) return "–";
  if (part == 0) return "0.0 %";
  if (part >= whole) return part == whole ? "100.0 %" : `${(ratio(part, whole) * 100).toFixed(1)} %`;
  const tenths = Math.min(999, Math.round(ratio(part, whole) * 1000));
  return tenths === 0 ? "<0.1 %" : `${Math.floor(tenths / 10)}.${tenths % 10} %`;
}
