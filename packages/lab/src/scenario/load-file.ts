/** A file that says what load is sent, read strictly: a typing error must not become a quieter load. */

import { withoutMark } from "./byte-order-mark.ts";
import { parseDuration } from "../duration.ts";
import { LabError } from "../errors.ts";
import type { RequestTemplate, Upload, WebSocketTalk } from "../load/load.ts";
import { didYouMean } from "../nearest.ts";
import type { LoadOptions } from "./load-options.ts";

type Fields = Readonly<Record<string, unknown>>;

class LoadFile {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  refuse(where: string, seen: unknown, wanted: string): never {
    throw new LabError(
      "LAB_LOAD_PLAN",
      `${this.#file}: ${where} is ${JSON.stringify(seen) ?? "missing"}.`,
      `It takes ${wanted}; see docs/rollout.md.`,
    );
  }

  fields(where: string, value: unknown, known: readonly string[]): Fields {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return this.refuse(where, value, "an object");
    }
    const stranger = Object.keys(value).find((name) => !known.includes(name));
    if (stranger !== undefined) {
      throw new LabError(
        "LAB_LOAD_PLAN",
        `${this.#file}: ${where} has an unknown key ${stranger}.`,
        `${didYouMean(stranger, known)}Known are ${known.join(", ")}.`,
      );
    }
    return value as Fields;
  }

  text(where: string, value: unknown, fallback: string | undefined): string {
    return typeof value === "string"
      ? value
      : value === undefined && fallback !== undefined
        ? fallback
        : this.refuse(where, value, "a string");
  }

  choice<const T extends string>(where: string, value: unknown, known: readonly T[], fallback: T): T {
    const text = value ?? fallback;
    return known.includes(text as T) ? (text as T) : this.refuse(where, value, known.join(" or "));
  }

  /** A number above 0, or with a unit: `64KB`, `8MB`. */
  bytes(where: string, value: unknown, fallback?: number): number {
    const given = value === undefined ? fallback : value;
    const text = typeof given === "string" || typeof given === "number" ? `${given}` : "";
    const [, digits, unit = ""] = /^(\d+(?:\.\d+)?) ?(B|KB|MB)?$/i.exec(text) ?? [];
    const scale = { "": 1, b: 1, kb: 1024, mb: 1024 * 1024 }[unit.toLowerCase()] ?? 1;
    const bytes = Math.round(Number(digits) * scale);
    return bytes > 0 && bytes <= 1024 ** 3
      ? bytes
      : this.refuse(where, value, "a size above 0: 65536, 64KB, 8MB (1024MB at most)");
  }

  ms(where: string, value: unknown): number {
    const ms = typeof value === "string" ? parseDuration(value) : null;
    return ms !== null && ms <= 3_600_000
      ? ms
      : this.refuse(where, value, "a duration: 10ms, 2s (1h at most)");
  }
}

function uploadOf(file: LoadFile, where: string, value: unknown): Upload {
  const fields = file.fields(where, value, ["bytes", "framing", "piece", "every"]);
  const bytes = file.bytes(`${where}.bytes`, fields["bytes"]);
  return {
    bytes,
    framing: file.choice(`${where}.framing`, fields["framing"], ["length", "chunked"], "length"),
    pieceBytes: file.bytes(`${where}.piece`, fields["piece"], Math.min(bytes, 64 * 1024)),
    everyMs: fields["every"] === undefined ? 0 : file.ms(`${where}.every`, fields["every"]),
  };
}

const KEYS: readonly string[] =
  "name method path body weight connection protocol upload eventsFor webSocketFor messageEvery message answer".split(
    " ",
  );

/** No service answers to it by chance, and no text of one message stands in that of another. */
const MESSAGE = "{id}:{n};";
const EVERY_MS = 200;

function webSocketOf(file: LoadFile, where: string, fields: Fields, isPlain: boolean): WebSocketTalk | null {
  const { webSocketFor, messageEvery, message, answer } = fields;
  if (webSocketFor === undefined) {
    const stray = ["messageEvery", "message", "answer"].find((name) => fields[name] !== undefined);
    return stray === undefined
      ? null
      : file.refuse(`${where}.webSocketFor`, undefined, `a duration, since ${stray} belongs to a WebSocket`);
  }
  if (!isPlain) {
    file.refuse(
      `${where}.webSocketFor`,
      webSocketFor,
      "a GET of HTTP/1.1 without body, upload, eventsFor and connection",
    );
  }
  const text = file.text(`${where}.message`, message, MESSAGE);
  const echo = file.choice(`${where}.answer`, answer, ["echo", "any"], "echo");
  if (echo === "echo" && !text.includes("{n}")) {
    file.refuse(
      `${where}.message`,
      message,
      "a text with {n}, by which an echo is known (or say answer: any)",
    );
  }
  return {
    forMs: file.ms(`${where}.webSocketFor`, webSocketFor),
    everyMs: messageEvery === undefined ? EVERY_MS : file.ms(`${where}.messageEvery`, messageEvery),
    message: text,
    answer: echo,
  };
}

function templateOf(file: LoadFile, value: unknown, index: number): RequestTemplate {
  const where = `mix[${index}]`;
  const fields = file.fields(where, value, KEYS);
  const method = file.choice(`${where}.method`, fields["method"], ["GET", "POST"], "GET");
  const path = file.text(`${where}.path`, fields["path"], undefined);
  if (!path.startsWith("/") || /\s/.test(path)) {
    file.refuse(`${where}.path`, path, "a path that begins with / and holds no white space");
  }
  const weight = fields["weight"] ?? 1;
  if (typeof weight !== "number" || !(weight > 0)) {
    file.refuse(`${where}.weight`, weight, "a number above 0");
  }
  const { body, upload, eventsFor } = fields;
  if (upload !== undefined && (body !== undefined || method !== "POST")) {
    file.refuse(`${where}.upload`, upload, "its place as the whole body of a POST: drop body, or say POST");
  }
  const protocol = file.choice(`${where}.protocol`, fields["protocol"], ["http/1.1", "h2"], "http/1.1");
  const isPlain =
    method === "GET" &&
    fields["protocol"] !== "h2" &&
    [body, upload, eventsFor, fields["connection"]].every((one) => one === undefined);
  const webSocket = webSocketOf(file, where, fields, isPlain);
  const text = body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body);
  return {
    method,
    path,
    body: text ?? (method === "POST" && upload === undefined ? '{"id":"{id}"}' : null),
    weight,
    name: file.text(`${where}.name`, fields["name"], method.toLowerCase()),
    connection: file.choice(`${where}.connection`, fields["connection"], ["pooled", "fresh"], "pooled"),
    ...(upload === undefined ? {} : { upload: uploadOf(file, `${where}.upload`, upload) }),
    ...(eventsFor === undefined ? {} : { eventsForMs: file.ms(`${where}.eventsFor`, eventsFor) }),
    ...(webSocket === null ? {} : { webSocket }),
    ...(protocol === "h2" ? { protocol } : {}),
  };
}

/** The text of a load file: `{"mix": [...], "arrivals": "poisson", "engine": "raw", "workers": 1, "protocol": "h2"}`. */
export function parseLoad(
  name: string,
  text: string,
): { readonly mix: readonly RequestTemplate[] } & Omit<LoadOptions, "load"> {
  const file = new LoadFile(name);
  let value: unknown;
  try {
    value = JSON.parse(withoutMark(text));
  } catch (error) {
    throw new LabError(
      "LAB_LOAD_PLAN",
      `${name} is no JSON: ${error instanceof Error ? error.message : String(error)}.`,
      'Write {"mix": [{"method": "GET", "path": "/"}]}; see docs/rollout.md.',
      { cause: error },
    );
  }
  const fields = file.fields("it", value, ["mix", "arrivals", "engine", "workers", "protocol"]);
  const mix = fields["mix"];
  if (!Array.isArray(mix) || mix.length === 0) {
    return file.refuse("mix", mix, "a list of at least one request");
  }
  const { workers } = fields;
  if (workers !== undefined && typeof workers !== "number") {
    return file.refuse("workers", workers, "a number");
  }
  const optional = (key: "arrivals" | "engine" | "protocol"): { readonly [key in typeof key]?: string } =>
    fields[key] === undefined ? {} : { [key]: file.text(key, fields[key], undefined) };
  return {
    mix: mix.map((one, index) => templateOf(file, one, index)),
    ...optional("arrivals"),
    ...optional("engine"),
    ...optional("protocol"),
    ...(workers === undefined ? {} : { "load-workers": `${workers}` }),
  };
}
