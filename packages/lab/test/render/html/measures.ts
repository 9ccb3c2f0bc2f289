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

/** Zooms in and out by the wheel for some dozens of frames, from the whole run on: frames in a second. */
export function zoomRate(page: Page): Promise<number> {
  return page.evaluate(`(async () => {
    const figure = document.querySelector("#time");
    figure.focus();
    while (!document.querySelector("canvas")) await new Promise((done) => setTimeout(done, 20));
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
    return frames / ((performance.now() - began) / 1000);
  })()`);
}
