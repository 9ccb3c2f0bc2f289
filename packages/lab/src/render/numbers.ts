/** Numbers and times as every report writes them. */

/** `12,400`. */
export function grouped(value: number): string {
  return String(Math.round(value)).replaceAll(/\B(?=(\d{3})+$)/g, ",");
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${grouped(value)} ${value === 1 ? one : many}`;
}

/** `0.42 ms`, `8.1 ms`, `120 ms`, `1.25 s`, `2 min 5 s`. */
export function duration(ms: number | null): string {
  if (ms === null) {
    return "-";
  }
  const size = Math.abs(ms);
  if (size === 0) {
    return "0 s";
  }
  if (size < 1) {
    return `${ms.toFixed(2)} ms`;
  }
  if (size < 999.5) {
    return `${size < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  }
  if (size < 60_000) {
    return `${(ms / 1000).toFixed(size < 10_000 ? 2 : 1)} s`;
  }
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/** `12.3 %`, with as many digits as say something. */
export function percent(share: number): string {
  const value = share * 100;
  return `${value === 0 ? "0" : value >= 10 ? value.toFixed(1) : value >= 1 ? value.toFixed(2) : value.toPrecision(2)} %`;
}
