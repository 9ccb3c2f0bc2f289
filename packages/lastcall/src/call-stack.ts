/** Where a thread stands, in words. Pure. */

/** As the inspector tells it. */
export interface Frame {
  readonly functionName: string;
  readonly url: string;
  readonly location: { readonly lineNumber: number };
}

/** How many callers are named. */
const NAMED_FRAMES = 4;

/** `spin (routes.js:12) < route (app.js:30)`: the innermost frames that are not Node's own, if there are any. */
export function describeStack(frames: readonly Frame[]): string {
  const own = frames.filter(({ url }) => !url.startsWith("node:"));
  return (own.length > 0 ? own : frames)
    .slice(0, NAMED_FRAMES)
    .map(({ functionName, url, location }) => {
      const file = url.split("/").at(-1) ?? "";
      const place = file === "" ? "" : ` (${file}:${location.lineNumber + 1})`;
      return `${functionName === "" ? "a function" : functionName}${place}`;
    })
    .join(" < ");
}
