/** One HTTP/1.1 response out of raw bytes: what came, how its end was marked, and whether that end was reached. */

/** How the end of the body is marked. */
export type Framing = "length" | "chunked" | "until close" | "no body";

export interface Parsed {
  readonly status: number;
  /** Names in lower case; a repeated header is joined with ", ". */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly framing: Framing;
  /** Whether the end marked by the framing was reached; a body that lasts until the close never is by itself. */
  readonly complete: boolean;
  /** The bytes of the head, interim (1xx) responses included. */
  readonly headBytes: number;
  /** The bytes that belong to this response so far. */
  readonly bytes: number;
}

function parseHeaders(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return headers;
}

/** Reads chunks from `start`; `end` is where the next response begins, or null while the last chunk has not come. */
function parseChunks(bytes: Buffer, start: number): { readonly body: Buffer; readonly end: number | null } {
  const parts: Buffer[] = [];
  let at = start;
  for (;;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd === -1) {
      return { body: Buffer.concat(parts), end: null };
    }
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    if (size === 0) {
      // No trailers, or a block of them that ends with an empty line.
      const end = bytes.indexOf("\r\n\r\n", lineEnd);
      return { body: Buffer.concat(parts), end: end === -1 ? null : end + 4 };
    }
    const from = lineEnd + 2;
    parts.push(bytes.subarray(from, Math.min(from + size, bytes.length)));
    at = from + size + 2;
    if (Number.isNaN(size) || at > bytes.length) {
      return { body: Buffer.concat(parts), end: null };
    }
  }
}

/** The response at the beginning of `bytes`, or null while its head is not whole or is none. `method` is that of its request. */
export function parseResponse(bytes: Buffer, method: string): Parsed | null {
  let start = 0;
  for (;;) {
    const headEnd = bytes.indexOf("\r\n\r\n", start);
    if (headEnd === -1) {
      return null;
    }
    const [statusLine = "", ...lines] = bytes.toString("latin1", start, headEnd).split("\r\n");
    const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(statusLine)?.[1]);
    if (Number.isNaN(status)) {
      return null;
    }
    const bodyStart = headEnd + 4;
    if (status >= 100 && status < 200 && status !== 101) {
      start = bodyStart;
      continue;
    }
    const headers = parseHeaders(lines);
    const whole = { status, headers, headBytes: bodyStart };
    if (method === "HEAD" || status === 101 || status === 204 || status === 304) {
      return { ...whole, body: "", framing: "no body", complete: true, bytes: bodyStart };
    }
    if (/\bchunked\b/i.test(headers["transfer-encoding"] ?? "")) {
      const { body, end } = parseChunks(bytes, bodyStart);
      return {
        ...whole,
        body: body.toString(),
        framing: "chunked",
        complete: end !== null,
        bytes: end ?? bytes.length,
      };
    }
    const length = headers["content-length"];
    const end = length === undefined ? bytes.length : Math.min(bytes.length, bodyStart + Number(length));
    return {
      ...whole,
      // Made of bytes only when somebody asks: a large response is looked at after each of its chunks.
      get body() {
        return bytes.toString("utf8", bodyStart, end);
      },
      framing: length === undefined ? "until close" : "length",
      complete: length !== undefined && end === bodyStart + Number(length),
      bytes: end,
    };
  }
}
