/** An HTTP server without sockets: connections, requests and responses are made by hand and die as Node's do. */

import { EventEmitter } from "node:events";
import type { IncomingMessage, Server as HttpServer, ServerResponse } from "node:http";
import { Server } from "node:net";

/** One connection; it carries one exchange at a time. */
export class FakeSocket extends EventEmitter {
  bytesRead = 0;
  destroyed = false;
  writable = true;
  wasReset = false;
  readonly parser: object = {};
  /** The name that Node uses for the response that owns a connection. */
  _httpMessage: FakeResponse | null = null;

  destroy(): this {
    if (!this.destroyed) {
      this.destroyed = true;
      this.writable = false;
      const response = this._httpMessage;
      queueMicrotask(() => {
        response?.closeNow();
        this.emit("close");
      });
    }
    return this;
  }

  resetAndDestroy(): this {
    this.wasReset = true;
    return this.destroy();
  }

  end(): this {
    return this.destroy();
  }
}

export class FakeRequest extends EventEmitter {
  readonly complete = true;
  readonly method = "GET";
  readonly httpVersionMajor = 1;
  readonly headers: Readonly<Record<string, string>> = {};
  readonly socket: FakeSocket;
  readonly url: string;

  constructor(socket: FakeSocket, url: string) {
    super();
    this.socket = socket;
    this.url = url;
  }
}

export class FakeResponse extends EventEmitter {
  readonly req: FakeRequest;
  headersSent = false;
  writableFinished = false;
  destroyed = false;
  statusCode = 200;
  statusMessage = "";
  /** Whether the head said `Connection: close`. */
  announced = false;
  isClosed = false;

  constructor(request: FakeRequest) {
    super();
    this.req = request;
    request.socket._httpMessage = this;
  }

  hasHeader(): boolean {
    return false;
  }

  getHeaderNames(): readonly string[] {
    return [];
  }

  removeHeader(): void {}

  setHeader(name: string, value: string): this {
    this.announced ||= name === "Connection" && value === "close";
    return this;
  }

  writeHead(status: number, headers: Readonly<Record<string, unknown>> = {}): this {
    this.statusCode = status;
    this.headersSent = true;
    return this.setHeader("Connection", String(headers["Connection"]));
  }

  end(): this {
    if (this.writableFinished || this.destroyed) {
      return this;
    }
    if (!this.headersSent) {
      this.writeHead(200);
    }
    this.writableFinished = true;
    queueMicrotask(() => this.closeNow());
    return this;
  }

  closeNow(): void {
    if (this.isClosed) {
      return;
    }
    this.isClosed = true;
    this.destroyed = true;
    this.req.socket._httpMessage = null;
    this.emit("close");
    if (this.announced) {
      this.req.socket.destroy();
    }
  }
}

/** Where Node keeps its list of a server's connections. */
const CONNECTIONS = Symbol("http.server.connections");

/** net's own listener on a handle that is none, so that its own `close()` can be called on it. */
export class FakeServer extends Server {
  readonly sockets: Set<FakeSocket> = new Set();

  constructor() {
    super();
    class TCP {
      listen(): number {
        return 0;
      }
      close(): void {}
    }
    const list = {
      all: () => [...this.sockets].map((socket) => ({ socket })),
      idle: () => this.idle().map((socket) => ({ socket })),
    };
    Object.assign(this, { _handle: new TCP(), [CONNECTIONS]: list });
  }

  get asHttp(): HttpServer {
    return this as unknown as HttpServer;
  }

  closeIdleConnections(): void {}

  /** Between two requests. One that never sent a byte is busy in the eyes of Node before 26. */
  idle(): readonly FakeSocket[] {
    return [...this.sockets].filter(
      (socket) => socket.bytesRead > 0 && socket._httpMessage === null && !socket.destroyed,
    );
  }

  open(): FakeSocket {
    const socket = new FakeSocket();
    this.sockets.add(socket);
    socket.on("close", () => this.sockets.delete(socket));
    this.emit("connection", socket as never);
    return socket;
  }

  ask(socket: FakeSocket, url: string): FakeResponse {
    socket.bytesRead += 1;
    const request = new FakeRequest(socket, url);
    const response = new FakeResponse(request);
    this.emit("request", request as unknown as IncomingMessage, response as unknown as ServerResponse);
    return response;
  }
}
