/** Counts server-sent events in the bytes of a stream, and the gaps in their numbers where their ids are numbers. */

const LIMIT = 64 * 1024;

export class EventCounter {
  events = 0;
  /** How often an id was a number and not the one after the last. */
  gaps = 0;

  #rest = "";
  #last: number | null = null;
  #has = false;

  push(bytes: Buffer, start: number, end: number): void {
    const text = this.#rest + bytes.toString("latin1", start, end);
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    this.#rest = (lines.pop() ?? "").slice(-LIMIT);
    for (const line of lines) {
      this.#line(line);
    }
  }

  #line(line: string): void {
    if (line === "") {
      // An empty line ends an event; comments alone are none.
      this.events += this.#has ? 1 : 0;
      this.#has = false;
      return;
    }
    if (!line.startsWith(":")) {
      this.#has = true;
    }
    const id = /^id: ?(\d{1,15})$/.exec(line)?.[1];
    if (id !== undefined) {
      const number = Number(id);
      this.gaps += this.#last !== null && number !== this.#last + 1 ? 1 : 0;
      this.#last = number;
    }
  }
}
