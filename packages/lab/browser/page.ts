/**
 * The script of a report: zooms and reads the figure over time. Without it the page is whole, only still. It stands in the
 * page as one element, so it is one file: first the requests are unpacked, then the view, its drawing, and what moves it.
 */

interface Head {
  readonly count: number;
  readonly scale: { readonly fromPower: number; readonly toPower: number };
  readonly kinds: readonly {
    readonly title: string;
    readonly shape: string;
    readonly colour: readonly number[];
  }[];
  readonly places: readonly string[];
}

interface Requests {
  /** Tenths of a millisecond since the load began, ascending. */
  readonly at: Uint32Array;
  readonly level: Uint16Array;
  readonly kind: Uint8Array;
  /** Indices of those that failed. */
  readonly failed: Uint32Array;
}

const LEVELS = 1024;
const HEIGHT = 220;
const STRIP_HEIGHT = 16;
/** Below this many good requests in view each is a dot. */
const DOTS = 4000;
/** With more restarts in view only their signals are marked. */
const CROWDED = 24;
/** The deepest view, in milliseconds. */
const LEAST_MS = 20;
const DOT = "104 122 148";
const STEPS_S = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1200, 1800,
  3600, 7200, 14_400, 28_800,
];

const figure = document.querySelector<HTMLElement>("#time");
const tools = document.querySelector<HTMLElement>(".tools");
const readout = document.querySelector<HTMLElement>(".readout");
const latency = document.querySelector<HTMLElement>(".latency");
const plot = latency?.querySelector<SVGElement>(".plot");

if (figure && tools && readout && latency && plot && "DecompressionStream" in globalThis) {
  zooming(figure, tools, readout, latency, plot);
}

function textOf(id: string): string {
  return document.querySelector(`#${id}`)?.textContent ?? "";
}

/** The counterpart of report/packed.ts. */
async function unpack(count: number): Promise<Requests> {
  const text = atob(textOf("packed"));
  const deflated = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index += 1) {
    deflated[index] = text.charCodeAt(index);
  }
  const stream = new Blob([deflated]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const at = new Uint32Array(count);
  let [offset, last] = [0, 0];
  for (let index = 0; index < count; index += 1) {
    let [shift, byte] = [1, 0];
    do {
      byte = bytes[offset++] ?? 0;
      last += (byte & 127) * shift;
      shift *= 128;
    } while (byte > 127);
    at[index] = last;
  }
  const level = new Uint16Array(count);
  const kind = bytes.subarray(offset + 2 * count, offset + 3 * count);
  const failed: number[] = [];
  for (let index = 0; index < count; index += 1) {
    level[index] = (bytes[offset + index] ?? 0) | ((bytes[offset + count + index] ?? 0) << 8);
    if (kind[index] !== 0) {
      failed.push(index);
    }
  }
  return { at, level, kind, failed: Uint32Array.from(failed) };
}

/** The first index whose value is not below. */
function lowerBound(values: (index: number) => number, length: number, wanted: number): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values(middle) < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

function timeLabel(ms: number, stepMs: number): string {
  const seconds = ms / 1000;
  if (stepMs >= 60_000 || (seconds >= 120 && stepMs >= 1000)) {
    const minutes = Math.floor(seconds / 60);
    return `${minutes}:${String(Math.round(seconds - minutes * 60)).padStart(2, "0")}`;
  }
  return `${seconds.toFixed(stepMs >= 1000 ? 0 : stepMs >= 100 ? 1 : stepMs >= 10 ? 2 : 3)} s`;
}

function latencyLabel(level: number, { fromPower, toPower }: Head["scale"]): string {
  const ms = 10 ** (fromPower + (level / (LEVELS - 1)) * (toPower - fromPower));
  return ms < 1000 ? `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;
}

/** A canvas over a row's plot, in place of what stands there still. */
interface Sheet {
  readonly canvas: HTMLCanvasElement;
  readonly pen: CanvasRenderingContext2D;
  readonly height: number;
}

function sheetOver(row: HTMLElement, height: number): Sheet | null {
  const canvas = document.createElement("canvas");
  const pen = canvas.getContext("2d");
  if (pen === null) {
    return null;
  }
  canvas.style.height = `${height}px`;
  row.append(canvas);
  row.querySelector<SVGElement>(".zoom")?.style.setProperty("display", "none");
  return { canvas, pen, height };
}

/** Empty, and as wide as the screen's own pixels ask for. */
function clear({ canvas, pen, height }: Sheet, width: number, ratio: number): void {
  if (canvas.width !== width) {
    canvas.width = width;
    canvas.height = height * ratio;
  }
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, canvas.width, canvas.height);
}

function zooming(
  root: HTMLElement,
  toolbar: HTMLElement,
  words: HTMLElement,
  latencyRow: HTMLElement,
  latencyPlot: SVGElement,
): void {
  const head = JSON.parse(textOf("head")) as Head;
  const length = Number(root.dataset["length"]);
  const zooms = [...root.querySelectorAll<SVGElement>(".zoom")];
  const ticks = root.querySelector<SVGElement>(".ticks");
  const grid = root.querySelector<SVGElement>(".grid");
  const cursor = root.querySelector<HTMLElement>(".cursor");
  const shapes = head.kinds.map(({ shape }) => new Path2D(shape));
  const colours = head.kinds.map(({ colour }) => `rgb(${colour.join(" ")})`);
  let sheet: Sheet | null = null;
  // One for each kind that has failures; those without any stand at the end of the kinds.
  let strips: readonly (Sheet | null)[] = [];
  let [from, to] = [0, length];
  let requests: Requests | null = null;
  let asked = false;
  let counts = new Uint32Array(0);
  toolbar.hidden = false;
  const keysText = document.querySelector<HTMLElement>(".keys");
  if (keysText) {
    keysText.hidden = false;
  }

  function load(): void {
    if (!asked) {
      asked = true;
      // Each section a layer of its own: while the figure zooms the others are not painted again, a third of the work.
      document.body.classList.add("live");
      void unpack(head.count).then((all) => {
        requests = all;
        sheet = sheetOver(latencyRow, HEIGHT);
        strips = [...root.querySelectorAll<HTMLElement>(".strip")].map((row) => sheetOver(row, STRIP_HEIGHT));
        show();
      });
    }
  }

  function drawTicks(width: number): void {
    const stepS = STEPS_S.find((step) => (to - from) / 1000 / step <= Math.max(3, width / 150)) ?? 28_800;
    const stepMs = stepS * 1000;
    let [labels, lines] = ["", ""];
    for (let n = Math.ceil(from / stepMs); n * stepMs <= to; n += 1) {
      const share = (n * stepMs - from) / (to - from);
      const x = `${(share * 100).toFixed(3)}%`;
      const anchor = share < 0.03 ? "start" : share > 0.97 ? "end" : "middle";
      labels += `<text x="${x}" y="14" text-anchor="${anchor}">${timeLabel(n * stepMs, stepMs)}</text>`;
      lines += `<line x1="${x}" x2="${x}" y1="0" y2="100%"/>`;
    }
    if (ticks && grid) {
      ticks.innerHTML = labels;
      grid.innerHTML = lines;
    }
  }

  function drawDensity(
    { canvas: { width, height }, pen }: Sheet,
    { at, level, kind }: Requests,
    low: number,
    high: number,
  ): void {
    const scale = width / ((to - from) * 10);
    const origin = from * 10;
    const rows = new Uint32Array(LEVELS);
    for (let step = 0; step < LEVELS; step += 1) {
      rows[step] = Math.min(height - 1, Math.floor((1 - step / (LEVELS - 1)) * height)) * width;
    }
    if (counts.length !== width * height) {
      counts = new Uint32Array(width * height);
    }
    counts.fill(0);
    let most = 1;
    for (let index = low; index < high; index += 1) {
      if (kind[index] === 0) {
        const x = Math.min(width - 1, ((at[index]! - origin) * scale) | 0);
        const n = ++counts[rows[level[index]!]! + x]!;
        if (n > most) {
          most = n;
        }
      }
    }
    const image = pen.createImageData(width, height);
    const [red = 0, green = 0, blue = 0] = DOT.split(" ").map(Number);
    const whole = Math.log1p(most);
    const alphas = new Uint8Array(Math.min(most, 4096) + 1).map((_, n) =>
      n === 0 ? 0 : Math.round(70 + 185 * Math.min(1, Math.log1p(n) / whole)),
    );
    const last = alphas.length - 1;
    const pixels = new Uint32Array(image.data.buffer);
    const colour = (blue << 16) | (green << 8) | red;
    for (let cell = 0; cell < counts.length; cell += 1) {
      const n = counts[cell]!;
      if (n !== 0) {
        pixels[cell] = ((alphas[n > last ? last : n]! << 24) | colour) >>> 0;
      }
    }
    pen.putImageData(image, 0, 0);
  }

  function draw(): void {
    const box = latencyPlot.getBoundingClientRect();
    drawTicks(box.width);
    const share = length / (to - from);
    root.classList.toggle("busy", Number(root.dataset["restarts"]) / share > CROWDED);
    for (const layer of zooms) {
      layer.setAttribute("width", `${100 * share}%`);
      layer.setAttribute("x", `${(-100 * from) / (to - from)}%`);
    }
    if (requests === null || sheet === null) {
      return;
    }
    const ratio = Math.min(2, globalThis.devicePixelRatio || 1);
    const width = Math.max(1, Math.round(box.width * ratio));
    for (const one of [sheet, ...strips]) {
      if (one !== null) {
        clear(one, width, ratio);
      }
    }
    const { pen } = sheet;
    const { at, level, kind, failed } = requests;
    const low = lowerBound((index) => at[index]!, at.length, from * 10);
    const high = lowerBound((index) => at[index]!, at.length, to * 10 + 1);
    const xOf = (index: number): number => ((at[index]! / 10 - from) / (to - from)) * box.width;
    const yOf = (index: number): number => (1 - level[index]! / (LEVELS - 1)) * HEIGHT;
    if (high - low > DOTS) {
      drawDensity(sheet, requests, low, high);
    } else {
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen.fillStyle = `rgb(${DOT} / .75)`;
      for (let index = low; index < high; index += 1) {
        if (kind[index] === 0) {
          pen.beginPath();
          pen.arc(xOf(index), yOf(index), 1.8, 0, 7);
          pen.fill();
        }
      }
    }
    // Failures are never thinned out; two that would cover the same point are drawn once.
    const first = lowerBound((one) => failed[one]!, failed.length, low);
    const drawn = new Set<number>();
    const stamp = (on: Sheet | null | undefined, k: number, x: number, y: number): void => {
      const key = ((Math.round(x * 2) * 512 + Math.round(y * 2)) * 64 + k) * 2 + (on === sheet ? 0 : 1);
      const [shape, colour] = [shapes[k], colours[k]];
      if (on && shape !== undefined && colour !== undefined && !drawn.has(key)) {
        drawn.add(key);
        on.pen.lineWidth = 1.7;
        on.pen.setTransform(ratio, 0, 0, ratio, x * ratio, y * ratio);
        on.pen.fillStyle = on.pen.strokeStyle = colour;
        on.pen.fill(shape);
        on.pen.stroke(shape);
      }
    };
    for (let one = first; one < failed.length && failed[one]! < high; one += 1) {
      const index = failed[one]!;
      const k = kind[index]! - 1;
      stamp(sheet, k, xOf(index), yOf(index));
      stamp(strips[k], k, xOf(index), STRIP_HEIGHT / 2);
    }
  }

  let waiting = false;
  function show(): void {
    if (!waiting) {
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        draw();
      });
    }
  }

  function look(newFrom: number, newTo: number): void {
    const size = Math.min(length, Math.max(LEAST_MS, newTo - newFrom));
    from = Math.min(Math.max(0, newFrom), length - size);
    to = from + size;
    load();
    show();
  }

  function zoom(factor: number, aroundMs: number): void {
    look(aroundMs - (aroundMs - from) * factor, aroundMs + (to - aroundMs) * factor);
  }

  function jump(step: 1 | -1): void {
    load();
    if (requests === null || requests.failed.length === 0) {
      return;
    }
    const { at, failed } = requests;
    const middle = ((from + to) / 2) * 10;
    const times = (one: number): number => at[failed[one]!]!;
    const edge = to - from >= length ? (step > 0 ? -1 : length * 10 + 1) : middle + step * 10;
    const found = lowerBound(times, failed.length, step > 0 ? edge : edge + 1) - (step > 0 ? 0 : 1);
    const target = times((found + failed.length) % failed.length) / 10;
    const size = Math.min(to - from, Math.max(LEAST_MS, length / 40));
    look(target - size / 2, target + size / 2);
  }

  function msAt(clientX: number): number {
    const box = latencyPlot.getBoundingClientRect();
    return from + ((clientX - box.left) / box.width) * (to - from);
  }

  function read(clientX: number): void {
    const ms = msAt(clientX);
    const box = latencyPlot.getBoundingClientRect();
    if (cursor === null || ms < from || ms > to) {
      return;
    }
    cursor.hidden = false;
    cursor.style.left = `${clientX - root.getBoundingClientRect().left}px`;
    let text = timeLabel(ms, (to - from) / 1000);
    if (requests !== null) {
      const { at, level, kind } = requests;
      const half = ((to - from) / box.width) * 3;
      const low = lowerBound((index) => at[index]!, at.length, (ms - half) * 10);
      const high = lowerBound((index) => at[index]!, at.length, (ms + half) * 10);
      let failures = 0;
      let last = -1;
      for (let index = low; index < high; index += 1) {
        if (kind[index] !== 0) {
          failures += 1;
          last = index;
        }
      }
      text += ` · ${high - low} request${high - low === 1 ? "" : "s"}`;
      if (failures > 0) {
        text += ` · ${failures} × ${head.kinds[kind[last]! - 1]?.title ?? "failure"}`;
      } else if (high - low > 0) {
        text += ` · ${latencyLabel(level[(low + high) >>> 1]!, head.scale)}`;
      }
    }
    words.textContent = text;
  }

  const keys: Readonly<Record<string, () => void>> = {
    "+": () => zoom(0.6, (from + to) / 2),
    "=": () => zoom(0.6, (from + to) / 2),
    "-": () => zoom(1 / 0.6, (from + to) / 2),
    ArrowLeft: () => look(from - (to - from) / 6, to - (to - from) / 6),
    ArrowRight: () => look(from + (to - from) / 6, to + (to - from) / 6),
    "0": () => look(0, length),
    Escape: () => look(0, length),
    Home: () => look(0, to - from),
    End: () => look(length - (to - from), length),
    n: () => jump(1),
    p: () => jump(-1),
  };
  root.addEventListener("keydown", (event) => {
    const act = keys[event.key];
    if (act !== undefined && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      act();
    }
  });
  toolbar.addEventListener("click", (event) => {
    const what = (event.target as HTMLElement).dataset["do"];
    const middle = (from + to) / 2;
    if (what === "in" || what === "out") {
      zoom(what === "in" ? 0.5 : 2, middle);
    } else if (what === "next") {
      jump(1);
    } else if (what === "all") {
      look(0, length);
    }
  });
  // A wheel without a key scrolls the page, unless the figure has been chosen by a click or by Tab.
  root.addEventListener(
    "wheel",
    (event) => {
      if (event.ctrlKey || event.metaKey || document.activeElement === root) {
        event.preventDefault();
        if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
          const byMs = (event.deltaX / 800) * (to - from);
          look(from + byMs, to + byMs);
        } else {
          zoom(Math.exp(Math.max(-0.5, Math.min(0.5, event.deltaY / 250))), msAt(event.clientX));
        }
      }
    },
    { passive: false },
  );
  const fingers = new Map<number, number>();
  root.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, event.clientX);
    load();
  });
  root.addEventListener("pointermove", (event) => {
    const beforeX = fingers.get(event.pointerId);
    if (beforeX === undefined) {
      read(event.clientX);
      return;
    }
    const others = [...fingers].filter(([id]) => id !== event.pointerId).map(([, x]) => x);
    const other = others[0];
    fingers.set(event.pointerId, event.clientX);
    if (other === undefined) {
      const byMs = msAt(beforeX) - msAt(event.clientX);
      look(from + byMs, to + byMs);
    } else {
      zoom(Math.abs(beforeX - other) / Math.max(8, Math.abs(event.clientX - other)), msAt(other));
    }
  });
  for (const name of ["pointerup", "pointercancel", "pointerleave"] as const) {
    root.addEventListener(name, (event) => {
      fingers.delete(event.pointerId);
      if (name === "pointerleave" && cursor !== null) {
        cursor.hidden = true;
        words.textContent = "";
      }
    });
  }
  root.addEventListener("dblclick", (event) => zoom(0.4, msAt(event.clientX)));
  root.addEventListener("pointerenter", load, { once: true });
  root.addEventListener("focus", load, { once: true });
  addEventListener("resize", show);
}
