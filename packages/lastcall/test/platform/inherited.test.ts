import assert from "node:assert/strict";
import { test } from "node:test";
import {
  askedAddress,
  describeSocket,
  findListener,
  pickSocket,
  readListenVariables,
  type InheritedSocket,
} from "../../src/platform/inherited.ts";

const env = (fds: string, pid = "7", names?: string): Record<string, string> => ({
  LISTEN_FDS: fds,
  LISTEN_PID: pid,
  ...(names === undefined ? {} : { LISTEN_FDNAMES: names }),
});

test("the sockets that systemd names are read in their order, with their names", () => {
  assert.deepEqual(readListenVariables({}, 7), { kind: "none" });
  assert.deepEqual(readListenVariables(env("2", "7", "web:metrics"), 7), {
    kind: "told",
    fds: [
      { fd: 3, name: "web" },
      { fd: 4, name: "metrics" },
    ],
  });
  assert.deepEqual(readListenVariables(env("1"), 7), { kind: "told", fds: [{ fd: 3, name: "unknown" }] });
});

test("variables that cannot be true are refused with what is wrong", () => {
  for (const fds of ["0", "-1", "x", "1.5", "99999"]) {
    assert.match(JSON.stringify(readListenVariables(env(fds), 7)), /"wrong".*no number from 1 to 1024/, fds);
  }
  assert.match(JSON.stringify(readListenVariables(env("1", "8"), 7)), /for process 8, and this is 7/);
  assert.match(JSON.stringify(readListenVariables({ LISTEN_FDS: "1" }, 7)), /LISTEN_PID is not set/);
});

test("what an app gives to listen() is read as Node reads it", () => {
  const at = (port: number, host: string | null = null): unknown => ({ port, host, path: null });
  const cases: readonly (readonly [readonly unknown[], unknown])[] = [
    [[], at(0)],
    [[() => {}], at(0)],
    [[8080], at(8080)],
    [["8080"], at(8080)],
    [[8080, "127.0.0.1", () => {}], at(8080, "127.0.0.1")],
    [[8080, () => {}], at(8080)],
    [[{ port: 8080, host: "::1" }], at(8080, "::1")],
    [[{ port: undefined }], at(0)],
    [["/run/app.sock"], { port: null, host: null, path: "/run/app.sock" }],
    [[{ path: "/run/app.sock" }], { port: null, host: null, path: "/run/app.sock" }],
    [[{ fd: 3 }], null],
    [[{ _handle: {} }], null],
    [[{}], null],
    [["0x"], { port: null, host: null, path: "0x" }],
  ];
  for (const [args, expected] of cases) {
    assert.deepEqual(askedAddress(args), expected, JSON.stringify(args));
  }
});

const socket = (fd: number, port: number, host: string | null, name = "unknown"): InheritedSocket => {
  return { fd, port, host, path: null, name };
};

test("the socket of the same port is meant, the same address before another", () => {
  const sockets = [socket(3, 80, "0.0.0.0"), socket(4, 80, "::"), socket(5, 443, "::", "3000")];
  const pick = (port: number, host: string | null = null): number | undefined =>
    pickSocket(sockets, { port, host, path: null })?.fd;
  assert.deepEqual([pick(80), pick(80, "::"), pick(443, "127.0.0.1")], [3, 4, 5]);
  assert.equal(pick(3000), 5, "the one that bears the port as its name");
  assert.equal(pick(8080), undefined);
  assert.equal(pick(0), undefined);
});

const TCP = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0000000000000000 100 0 0 10 0
   1: 0100007F:1F90 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0000000000000000 20 4 30 10 -1
`;
const TCP6 = `  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000000000000000000000000000:0050 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4811 1 0000000000000000 100 0 0 10 0
   1: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4812 1 0000000000000000 100 0 0 10 0
`;
const UNIX = `Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 4911 /run/app.sock
0000000000000000: 00000003 00000000 00000000 0001 03 4912
`;

test("where a socket listens is read from the system's tables", () => {
  const tables = { tcp: TCP, tcp6: TCP6, unix: UNIX };
  const find = (inode: string): string | null => {
    const found = findListener(inode, tables);
    return found === null ? null : describeSocket(found);
  };
  assert.equal(find("4711"), "127.0.0.1:8080");
  assert.equal(find("4811"), "[::]:80");
  assert.equal(find("4812"), "[0:0:0:0:0:0:0:1]:80");
  assert.equal(find("4911"), "/run/app.sock");
  assert.equal(find("4712"), null, "a connection is no listener");
  assert.equal(find("4912"), null);
  assert.equal(find("47"), "an address that the system does not show", "of another network namespace, say");
});
