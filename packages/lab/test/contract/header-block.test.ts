import assert from "node:assert/strict";
import { test } from "node:test";
import { huffman, readBlock, requestBlock } from "../../src/contract/header-block.ts";

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(" ", ""), "hex");

test("a status is read out of every form that HPACK has for it", () => {
  const forms: readonly (readonly [string, Buffer, number])[] = [
    ["indexed", hex("88"), 200],
    ["indexed, behind a change of the table's size", hex("20 8b"), 304],
    ["a literal of an indexed name", Buffer.concat([hex("48 03"), Buffer.from("503")]), 503],
    // RFC 7541, appendix C.6.1: 302 in Huffman's code.
    ["the same, coded", hex("48 82 6402"), 302],
    ["never indexed", Buffer.concat([hex("18 03"), Buffer.from("429")]), 429],
    [
      "a literal of a name that is written out",
      Buffer.concat([hex("00 07"), Buffer.from(":status"), hex("03"), Buffer.from("204")]),
      204,
    ],
  ];
  for (const [form, block, status] of forms) {
    assert.equal(readBlock(block).status, status, form);
  }
});

test("grpc-status is found between other fields, plain and coded, and a long field is passed over whole", () => {
  const long = requestBlock([["x-long", "y".repeat(400)]]);
  const plain = requestBlock([["grpc-status", "14"]]);
  const name = huffman("grpc-status");
  const value = huffman("14");
  const coded = Buffer.concat([
    Buffer.from([0x40, 0x80 | name.length]),
    name,
    Buffer.from([0x80 | value.length]),
    value,
  ]);
  for (const status of [plain, coded]) {
    assert.deepEqual(readBlock(Buffer.concat([hex("88"), long, status, long])), {
      status: 200,
      grpcStatus: 14,
    });
  }
  assert.equal(readBlock(long).grpcStatus, null);
});
