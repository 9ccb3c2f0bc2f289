import { suite, test } from "node:test";
import { CLAUSES } from "../../src/contract/index.ts";
import type { Subject } from "../../src/contract/subject.ts";
import { keeps, proves } from "./proving.ts";
import { fixture, naive, planted, service } from "./services.ts";

const overTls: Subject = {
  ...service,
  name: "the contract service over TLS",
  tls: true,
  env: { ...service.env, TLS: "1" },
};

/** The same service where only this one way to HTTP/2 is named. */
function only(subject: Subject, way: "h2c" | "h2"): Subject {
  return { ...subject, modes: { [way]: service.modes[way] ?? {} } };
}

// Judges mostly wait, so that two of them share a core without disturbing each other.
suite("F. Protocols", { concurrency: 2 }, () => {
  test(
    "F1 WebSocket clients get a close frame spread over the drain delay, and time to answer it",
    proves(CLAUSES.F1, [
      [naive("exit"), /ended with (?:fin|reset|closed) instead of a close frame/],
      [planted({ BREACH: "tells all at once" }), /were told within \d+ ms of a drain delay/],
      [planted({ BREACH: "does not wait for the answer" }), /before its client could answer/],
    ]),
  );
  test(
    "F2 HTTP/2 sessions are told with GOAWAY, no stream is left unanswered, and the sessions close",
    proves(CLAUSES.F2, [
      [only(naive("exit"), "h2"), /was not made|got no answer/],
      [only(naive("close"), "h2c"), /./],
      [
        only(planted({ BREACH: "one GOAWAY" }), "h2c"),
        /were sent before the client could know, and not answered/,
      ],
    ]),
  );
  test(
    "F3 event streams end as their route says, with the terminating chunk",
    proves(CLAUSES.F3, [
      [naive("cuts cleanly"), /cut short|got no answer/],
      [naive("close"), /cut short \(timeout\)/],
      [planted({ BREACH: "forgets the policy" }), /ended only \d+ ms after t0|before its time/],
    ]),
  );
  test(
    "F4 upgraded and CONNECT sockets of unknown protocols are ended at the deadline, not before",
    proves(CLAUSES.F4, [
      [naive("exit"), /was ended \(\w+\) in the drain delay, before the deadline/],
      [naive("close"), /still running/],
    ]),
  );
  test(
    "F5 a request that expects 100-continue and is in flight is answered",
    proves(CLAUSES.F5, [[naive("exit"), /was not answered|got no answer|was not made/]]),
  );
  test(
    "F6 gRPC calls follow F2: the client sees OK or UNAVAILABLE, and never a cut before the deadline",
    proves(CLAUSES.F6, [
      [only(naive("exit"), "h2c"), /ended with the connection and no status/],
      [only(planted({ BREACH: "one GOAWAY" }), "h2c"), /were sent before the client could know/],
    ]),
  );
  test("F2 holds at a further port of a service that announces nothing", (t) =>
    keeps(
      CLAUSES.F2,
      {
        ...service,
        name: "a service with a port for HTTP/2",
        command: [process.execPath, fixture("http2-port-service")],
        announces: false,
        routes: { ordinary: "GET /", slow: "GET /slow?seconds={seconds}" },
        modes: {},
        http2Port: { env: "HTTP2_PORT" },
      },
      t,
    ));
  for (const id of ["F1", "F3", "F4", "F5"] as const) {
    test(`${id} holds over TLS too`, (t) => keeps(CLAUSES[id], overTls, t));
  }
});
