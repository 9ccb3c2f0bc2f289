import assert from "node:assert/strict";
import { test } from "node:test";
import { Tasks } from "../src/tasks.ts";
import { FakeHost } from "../src/testing.ts";

const never = (): Promise<void> => new Promise(() => {});

test("D1 a task counts until it has settled, and each end is told", async () => {
  let ended = 0;
  const tasks = new Tasks(new FakeHost(), () => {
    ended += 1;
  });
  assert.equal(await tasks.run("sum", () => 42), 42);
  await assert.rejects(
    tasks.run("broken", () => Promise.reject(new Error("no"))),
    /no/,
  );
  assert.equal(tasks.size, 0);
  assert.equal(ended, 2);
  assert.deepEqual(tasks.report(), {
    counts: { completed: 1, failed: 1, aborted: 0, abandoned: 0 },
    unfinished: [],
  });
});

test("D2 at the end each open task meets its declared fate and is named with it", () => {
  const tasks = new Tasks(new FakeHost(), () => {});
  void tasks.run("mail", never);
  void tasks.run("export", never, { onDeadline: "abandon" });
  tasks.close();
  assert.deepEqual(tasks.report().unfinished, [
    { name: "mail", fate: "aborted", ageMs: 0 },
    { name: "export", fate: "abandoned", ageMs: 0 },
  ]);
});

test("D2 the signal of a task fires when tasks are aborted, but not that of one to be abandoned", () => {
  const tasks = new Tasks(new FakeHost(), () => {});
  const heard: string[] = [];
  const listen = (name: string) => (signal: AbortSignal) => {
    signal.addEventListener("abort", () => heard.push(name));
    return never();
  };
  void tasks.run("abort me", listen("abort me"));
  void tasks.run("leave me", listen("leave me"), { onDeadline: "abandon" });
  tasks.abortAll();
  assert.deepEqual(heard, ["abort me"]);
});

test("D2 a task that settles in its abort window is completed when it succeeds, aborted when it gives up", async () => {
  const tasks = new Tasks(new FakeHost(), () => {});
  let resolve: () => void = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  const finishing = tasks.run("finishes", () => promise);
  const giving = tasks.run(
    "gives up",
    (signal) =>
      new Promise<void>((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error));
      }),
  );
  tasks.abortAll();
  resolve();
  await finishing;
  await assert.rejects(giving, { name: "AbortError" });
  assert.deepEqual(tasks.report().counts, { completed: 1, failed: 0, aborted: 1, abandoned: 0 });
});

test("a task's own limit aborts it while the service serves, and makes no stop incomplete", async () => {
  const host = new FakeHost();
  const tasks = new Tasks(host, () => {});
  const limited = tasks.run(
    "slow",
    (signal) =>
      new Promise<void>((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error));
      }),
    { timeoutMs: 100 },
  );
  await Promise.all([assert.rejects(limited, /timeoutMs/), host.advance(100)]);
  assert.deepEqual(tasks.report().unfinished, []);
});

test("a task that comes after the end of work is refused with a code", async () => {
  const tasks = new Tasks(new FakeHost(), () => {});
  tasks.close();
  await assert.rejects(tasks.run("late", never), { code: "LASTCALL_STOPPING" });
});

test("D2 a task that comes when tasks are told to give up is told at once, unless it is to be abandoned", async () => {
  const tasks = new Tasks(new FakeHost(), () => {});
  tasks.abortAll();
  const told: string[] = [];
  const look = (name: string) => (signal: AbortSignal) => void told.push(`${name}: ${signal.aborted}`);
  await tasks.run("mail", look("mail"));
  await tasks.run("export", look("export"), { onDeadline: "abandon" });
  assert.deepEqual(told, ["mail: true", "export: false"]);
});

test("a task's limit is over with the task, and does not keep the process alive", async () => {
  const unref: (boolean | undefined)[] = [];
  class Watched extends FakeHost {
    override setTimer(ms: number, run: () => void, isUnref?: boolean): () => void {
      unref.push(isUnref);
      return super.setTimer(ms, run);
    }
  }
  const host = new Watched();
  const tasks = new Tasks(host, () => {});
  let signal: AbortSignal | null = null;
  await tasks.run(
    "quick",
    (given) => {
      signal = given;
    },
    { timeoutMs: 100 },
  );
  await host.advance(100);
  assert.equal((signal as AbortSignal | null)?.aborted, false);
  await tasks.run("without a limit", () => {});
  assert.deepEqual(unref, [true]);
});

test("D2 what is left is named with its age, and what still runs is told with its start", async () => {
  const host = new FakeHost();
  const tasks = new Tasks(host, () => {});
  await host.advance(100);
  void tasks.run("mail", never);
  await host.advance(40);
  assert.deepEqual(
    tasks.open().map(({ name, startedAt }) => [name, startedAt]),
    [["mail", 100]],
  );
  tasks.close();
  assert.deepEqual(tasks.report().unfinished, [{ name: "mail", fate: "aborted", ageMs: 40 }]);
  assert.deepEqual(tasks.open(), []);
});

test("D2 a task is told why it should give up", async () => {
  const tasks = new Tasks(new FakeHost(), () => {});
  const reasons: string[] = [];
  const listen = (signal: AbortSignal): Promise<void> => {
    signal.addEventListener("abort", () => reasons.push(String(signal.reason)));
    return never();
  };
  void tasks.run("early", listen);
  tasks.abortAll();
  await tasks.run("late", (signal) => void reasons.push(String(signal.reason)));
  assert.deepEqual(reasons, [
    "AbortError: Task 'early' was aborted: the deadline is near.",
    "AbortError: Task 'late' was aborted: the deadline is near.",
  ]);
});

test("a task that is refused is named in the error", async () => {
  const tasks = new Tasks(new FakeHost(), () => {});
  tasks.close();
  await assert.rejects(tasks.run("late", never), /Task 'late' came after the work had ended/);
});

test("C4 what the record says when the process is ended now: each open task is abandoned, and none has ended", async () => {
  const host = new FakeHost();
  const tasks = new Tasks(host, () => assert.fail("nothing has ended"));
  await host.advance(100);
  void tasks.run("mail", never);
  void tasks.run("export", never, { onDeadline: "abandon" });
  await host.advance(40);
  assert.deepEqual(tasks.reportAbandoned(), {
    counts: { completed: 0, failed: 0, aborted: 0, abandoned: 2 },
    unfinished: [
      { name: "mail", fate: "abandoned", ageMs: 40 },
      { name: "export", fate: "abandoned", ageMs: 40 },
    ],
  });
  assert.equal(tasks.size, 2);
});
