/** How soon a page is seen, and how fluidly its figure zooms: measured inside of it. */

import type { Page } from "../../chromium.ts";

/** Milliseconds from the start of the navigation to the first picture with contents. */
export function firstPaint(page: Page): Promise<number> {
  return page.evaluate(`new Promise((done) => {
    const seen = performance.getEntriesByName("first-contentful-paint")[0];
    if (seen) return done(seen.startTime);
    new PerformanceObserver((list) => done(list.getEntries().at(-1).startTime)).observe({ type: "paint", buffered: true });
  })`);
}

export interface Zooming {
  readonly framesPerSecond: number;
  /** Of the page's main thread: what a frame costs, whatever else the machine does. */
  readonly processorMsPerFrame: number;
}

/** Zooms in and out by the wheel for some dozens of frames, from the whole run on. */
export async function zoomRate(page: Page): Promise<Zooming> {
  await page.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.evaluate(`(async () => {
    document.querySelector("#time").focus();
    while (!document.querySelector("canvas")) await new Promise((done) => setTimeout(done, 20));
  })()`);
  const before = await busySeconds(page);
  const { frames, seconds } = await page.evaluate<{ frames: number; seconds: number }>(`(async () => {
    const figure = document.querySelector("#time");
    const box = figure.getBoundingClientRect();
    const frame = () => new Promise(requestAnimationFrame);
    await frame();
    const began = performance.now();
    let frames = 0;
    while (frames < 60 && performance.now() - began < 20000) {
      const deltaY = frames % 20 < 10 ? -12 : 12;
      figure.dispatchEvent(new WheelEvent("wheel", { deltaY, clientX: box.left + box.width / 2, clientY: box.top + 100, cancelable: true, bubbles: true }));
      await frame();
      frames += 1;
    }
    return { frames, seconds: (performance.now() - began) / 1000 };
  })()`);
  const spent = (await busySeconds(page)) - before;
  return { framesPerSecond: frames / seconds, processorMsPerFrame: (spent * 1000) / frames };
}

async function busySeconds(page: Page): Promise<number> {
  const { metrics } = await page.send("Performance.getMetrics");
  const all = metrics as readonly { readonly name: string; readonly value: number }[];
  return all.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN;
}
