import assert from "node:assert/strict";
import { test } from "node:test";
import { nginxConfig, type NginxFacts } from "../../src/router/nginx-config.ts";
import { PLAIN } from "./behaviour.ts";

const FACTS: NginxFacts = {
  options: { ...PLAIN, port: 0, folder: "/x" },
  port: 18_080,
  upstreams: [
    { copy: "A", host: "127.0.0.1", port: 9001 },
    { copy: "B", host: "127.0.0.1", port: 9002 },
  ],
  generation: 3,
  root: false,
  platform: "linux",
};
const configured = (options: Partial<NginxFacts["options"]>): string =>
  nginxConfig({ ...FACTS, options: { ...FACTS.options, ...options } });

test("one worker, in the foreground, on 127.0.0.1, with the experiments' timeouts and no passive marks", () => {
  const config = nginxConfig(FACTS);
  for (const words of [
    "daemon off;",
    "worker_processes 1;",
    "listen 127.0.0.1:18080;",
    "server 127.0.0.1:9001 max_fails=0; # A",
    "server 127.0.0.1:9002 max_fails=0; # B",
    "proxy_connect_timeout 5s;",
    "proxy_read_timeout 20s;",
    "client_max_body_size 0;",
    'return 200 "3";',
  ]) {
    assert.ok(config.includes(words), words);
  }
});

test("retries are nginx's own default, or off", () => {
  assert.match(configured({ retries: true }), /proxy_next_upstream error timeout;/);
  assert.match(configured({ retries: false }), /proxy_next_upstream off;/);
  assert.match(
    configured({ retries: true, retryPosts: true }),
    /proxy_next_upstream error timeout non_idempotent;/,
  );
});

test("upstream keep-alive is a pool of 16 with HTTP/1.1 and no Connection header", () => {
  const on = configured({ upstreamKeepAlive: true });
  assert.match(on, /keepalive 16;/);
  assert.match(on, /proxy_http_version 1\.1;/);
  assert.match(on, /proxy_set_header Connection "";/);
  assert.doesNotMatch(configured({}), /keepalive 16|proxy_http_version/);
});

test("client keep-alive is on for 75 s, or off", () => {
  assert.match(configured({ clientKeepAlive: true }), /keepalive_timeout 75s;/);
  assert.match(configured({}), /keepalive_timeout 0;/);
});

test("only a root master names its worker's user", () => {
  assert.doesNotMatch(nginxConfig(FACTS), /^user /m);
  assert.match(nginxConfig({ ...FACTS, root: true }), /^user root root;$/m);
  assert.match(nginxConfig({ ...FACTS, root: true, platform: "darwin" }), /^user root wheel;$/m);
});

test("with no upstream left it answers 502 itself", () => {
  const config = nginxConfig({ ...FACTS, upstreams: [] });
  assert.match(config, /return 502;/);
  assert.doesNotMatch(config, /upstream copies/);
});

test("passive marks are nginx's own, in whole seconds, where they are asked for", () => {
  const config = configured({ passive: { maxFails: 3, failTimeoutMs: 2500 } });
  assert.match(config, /server 127\.0\.0\.1:9001 max_fails=3 fail_timeout=3s;/);
});
