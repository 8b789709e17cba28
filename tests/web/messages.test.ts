import assert from "node:assert/strict";
import { test } from "node:test";

import { Kind } from "../../web/src/events";
import { messagesIn, messagesOf, pairMessages } from "../../web/src/messages";
import { type Call, buildTrace } from "./build_trace";

const kNames = ["call"];
// Two ranks: the other one is peer 1, relatively.
const send = (gap: number, tag: number): Call => ({ gap, takes: 1, shape: { kind: Kind.send, sendPeer: 1, sendTag: tag } });
const recv = (gap: number, takes: number, tag: number): Call => ({ gap, takes, shape: { kind: Kind.recv, recvPeer: 1, recvTag: tag } });

test("the k-th send of a channel meets its k-th receive, each tag by itself", () => {
  // Rank 0 sends tags 1, 2, 1; rank 1 takes 2 first.
  const trace = buildTrace(kNames, [[send(0, 1), send(9, 2), send(9, 1)], [recv(0, 50, 2), recv(0, 5, 1), recv(0, 5, 1)]]);
  const messages = pairMessages(trace);
  assert.equal(messages.count, 3);
  assert.equal(messages.unmatched, 0);
  assert.deepEqual([...messages.sendEvent], [0, 1, 2]);
  assert.deepEqual([...messages.recvEvent], [1, 0, 2]);
  assert.deepEqual([...messages.recvTime], [55, 50, 60]);
});

test("posted receives count in the order of their posting, and end where they complete", () => {
  const irecv = (done: number): Call => ({ gap: 1, takes: 1, done, shape: { kind: Kind.irecv, recvPeer: 1, recvTag: 3 } });
  const wait: Call = { gap: 1, takes: 10, shape: { kind: Kind.complete } };
  // Rank 1 posts two, completes the second first; the third is never completed.
  const trace = buildTrace(kNames, [[send(0, 3), send(5, 3), send(5, 3)], [irecv(3), irecv(2), wait, wait, irecv(0)]]);
  const messages = pairMessages(trace);
  assert.equal(messages.count, 2);
  assert.equal(messages.unmatched, 1);
  assert.deepEqual([...messages.recvEvent], [0, 1]);
  assert.deepEqual([...messages.doneEvent], [3, 2]);
  assert.deepEqual(messagesOf(messages, 1, 2), [1]);
  assert.deepEqual(messagesOf(messages, 1, 0), [0]);
  assert.deepEqual(messagesOf(messages, 0, 1), [1]);
});

test("a query finds what is under way, also messages sent long before", () => {
  // 200 short messages, and a first one that is received at the very end.
  const count = 200;
  const sends = [send(0, 9), ...Array.from({ length: count }, () => send(99, 1))];
  const recvs = [...Array.from({ length: count }, () => recv(96, 4, 1)), recv(0, 10, 9)];
  const messages = pairMessages(buildTrace(kNames, [sends, recvs]));
  // Message k of tag 1 is sent at 100 k - 1 + ... and received within 100 ps.
  const found = messagesIn(messages, 10000, 10050, 1000);
  assert.ok(found.includes(0));
  assert.ok(found.length >= 2 && found.length <= 4, `${found.length} found`);
  for (const i of found) {
    assert.ok(messages.sendTime[i]! <= 10050);
    assert.ok(messages.recvTime[i]! >= 10000);
  }
  assert.equal(messagesIn(messages, 0, 1e6, 10).length, 11);
});
