/** A real Chromium, driven over its debugging pipe: pages are opened from disk, looked at, and measured. */

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Null where it may be missing; in CI that is a failure. */
export function chromiumProgram(): string | null {
  const named = process.env["LASTCALL_CHROMIUM"];
  const found = named ?? PLACES.find((place) => existsSync(place)) ?? null;
  if (found === null && process.env["LASTCALL_CI"] !== undefined) {
    throw new Error("Chromium is missing, and CI should have it: apt-get install chromium");
  }
  return found;
}

type Message = Readonly<Record<string, unknown>>;

export interface Page {
  send(method: string, params?: Message): Promise<Message>;
  /** The value of an expression, awaited. */
  evaluate<T>(expression: string): Promise<T>;
  /** Resolves when the page's load event has fired. */
  open(file: string): Promise<void>;
  /** Requests that the page made, other than for itself. */
  readonly requested: readonly string[];
  /** Errors that it threw or logged. */
  readonly errors: readonly string[];
  screenshot(whole?: boolean): Promise<Buffer>;
}

export interface Look {
  readonly width: number;
  readonly height: number;
  readonly dark?: boolean;
  readonly script?: boolean;
  readonly ratio?: number;
}

export interface Chromium {
  page(look: Look): Promise<Page>;
  close(): Promise<void>;
}

export async function startChromium(program: string): Promise<Chromium> {
  const profile = mkdtempSync(path.join(tmpdir(), "lastcall-chromium-"));
  const child = spawn(
    program,
    [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--hide-scrollbars",
      `--user-data-dir=${profile}`,
      "--remote-debugging-pipe",
      "about:blank",
    ],
    { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"], detached: true },
  );
  const gone = once(child, "exit");
  const toChild = child.stdio[3] as Writable;
  const fromChild = child.stdio[4] as Readable;
  const waiting = new Map<number, { resolve: (value: Message) => void; reject: (error: Error) => void }>();
  const listeners = new Set<(method: string, params: Message, session: string) => void>();
  let serial = 0;
  let rest = "";
  fromChild.setEncoding("utf8").on("data", (part: string) => {
    const messages = (rest + part).split("\u0000");
    rest = messages.pop() ?? "";
    for (const text of messages) {
      const { id, result, error, method, params, sessionId } = JSON.parse(text) as {
        readonly id?: number;
        readonly result?: Message;
        readonly error?: { readonly message: string };
        readonly method?: string;
        readonly params?: Message;
        readonly sessionId?: string;
      };
      const call = id === undefined ? undefined : waiting.get(id);
      if (id !== undefined && call !== undefined) {
        waiting.delete(id);
        if (error === undefined) {
          call.resolve(result ?? {});
        } else {
          call.reject(new Error(error.message));
        }
      } else if (method !== undefined) {
        for (const listener of listeners) {
          listener(method, params ?? {}, sessionId ?? "");
        }
      }
    }
  });
  void gone.then(() => {
    for (const { reject } of waiting.values()) {
      reject(new Error("Chromium has ended"));
    }
  });

  const send = (method: string, params: Message = {}, sessionId?: string): Promise<Message> =>
    new Promise((resolve, reject) => {
      serial += 1;
      waiting.set(serial, { resolve, reject });
      // A lost call is an error that says what was asked, not a test that hangs.
      const patience = setTimeout(() => reject(new Error(`Chromium did not answer ${method}`)), 90_000);
      patience.unref();
      toChild.write(`${JSON.stringify({ id: serial, method, params, sessionId })}\u0000`);
    });

  async function page({ width, height, dark = false, script = true, ratio = 1 }: Look): Promise<Page> {
    const { targetId } = await send("Target.createTarget", { url: "about:blank" });
    const attached = await send("Target.attachToTarget", { targetId, flatten: true });
    const session = String(attached["sessionId"]);
    const own = (method: string, params?: Message): Promise<Message> => send(method, params, session);
    const requested: string[] = [];
    const errors: string[] = [];
    let loaded: () => void = () => undefined;
    listeners.add((method, params, from) => {
      if (from !== session) {
        return;
      }
      if (method === "Page.loadEventFired") {
        loaded();
      } else if (method === "Network.requestWillBeSent") {
        const { url } = params["request"] as { readonly url: string };
        if (!url.startsWith("data:") && !url.startsWith("blob:")) {
          requested.push(url);
        }
      } else if (method === "Runtime.exceptionThrown" || method === "Log.entryAdded") {
        errors.push(JSON.stringify(params));
      }
    });
    await Promise.all([own("Page.enable"), own("Network.enable"), own("Runtime.enable"), own("Log.enable")]);
    await own("Emulation.setDeviceMetricsOverride", {
      width,
      height,
      deviceScaleFactor: ratio,
      mobile: width < 640,
    });
    await own("Emulation.setEmulatedMedia", {
      features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }],
    });
    await own("Emulation.setScriptExecutionDisabled", { value: !script });
    return {
      send: own,
      requested,
      errors,
      evaluate: async <T>(expression: string): Promise<T> => {
        const { result, exceptionDetails } = await own("Runtime.evaluate", {
          expression,
          awaitPromise: true,
          returnByValue: true,
        });
        if (exceptionDetails !== undefined) {
          throw new Error(JSON.stringify(exceptionDetails));
        }
        return (result as { readonly value: T }).value;
      },
      open: async (file) => {
        const load = new Promise<void>((resolve) => (loaded = resolve));
        await own("Page.navigate", { url: pathToFileURL(file).href });
        await load;
      },
      screenshot: async (whole = false) => {
        const { data } = await own("Page.captureScreenshot", {
          format: "png",
          captureBeyondViewport: whole,
          ...(whole ? await clip(own, width) : {}),
        });
        return Buffer.from(String(data), "base64");
      },
    };
  }

  return {
    page,
    close: async () => {
      void send("Browser.close").catch(() => undefined); // It may be gone before it answers.
      const patience = setTimeout(() => process.kill(-(child.pid ?? 0), "SIGKILL"), 5000);
      await gone;
      clearTimeout(patience);
      rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

/** The page from top to bottom. */
async function clip(own: Page["send"], width: number): Promise<Message> {
  const { cssContentSize } = await own("Page.getLayoutMetrics");
  const { height } = cssContentSize as { readonly height: number };
  return { clip: { x: 0, y: 0, width, height, scale: 1 } };
}
