import assert from "node:assert/strict";
import { test } from "node:test";
import { detectPlatform } from "../src/platform.ts";
import { chooseLeaveOrder } from "../src/stop.ts";

const nowhere = detectPlatform({}, () => false);
const kubernetes = detectPlatform({ KUBERNETES_SERVICE_HOST: "10.0.0.1" }, () => false);

test("the clients are told first where a router is known or has asked within the last 30 s, else the listener goes first", () => {
  assert.equal(chooseLeaveOrder("auto", kubernetes, Number.POSITIVE_INFINITY), "announce-first");
  assert.equal(chooseLeaveOrder(undefined, nowhere, Number.POSITIVE_INFINITY), "listener-first");
  assert.equal(chooseLeaveOrder("auto", nowhere, 30_000), "announce-first");
  assert.equal(chooseLeaveOrder("auto", nowhere, 30_001), "listener-first");
});

test("an order that was asked for is kept wherever the process runs", () => {
  assert.equal(chooseLeaveOrder("listener-first", kubernetes, 0), "listener-first");
  assert.equal(chooseLeaveOrder("announce-first", nowhere, Number.POSITIVE_INFINITY), "announce-first");
});
