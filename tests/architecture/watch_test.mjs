// node watch_test.mjs CHROMIUM FORETRACE FOLDER: the page of a run on an architecture, in a browser.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { open } from "../web/browser.mjs";

const [, , chromium, foretrace, folder] = process.argv;
mkdirSync(folder, { recursive: true });
const run = (...words) => execFileSync(foretrace, words, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });

// Every rank of a torus sends to the one a quarter further on.
function page(side, name) {
  const ranks = side * side;
  let goal = `num_ranks ${ranks}\n`;
  for (let r = 0; r < ranks; r++) {
    const to = (r + ranks / 4) % ranks, from = (r + ranks - ranks / 4) % ranks;
    goal += `rank ${r} {\nl0: send 20000b to ${to} tag 1\nl1: recv 20000b from ${from} tag 1\n}\n`;
  }
  writeFileSync(join(folder, `${name}.goal`), goal);
  run("architecture", "convert", `torus:${side}x${side}?latency=1us&bandwidth=1GB/s`, "-o", `${name}.arch.toml`);
  run("simulate", `${name}.goal`, "--loggps", "o=1us", "--network", `arch:${name}.arch.toml`, "--watch", `${name}.html`);
  return open(chromium, join(folder, `${name}.html`));
}

const small = page(4, "small");
assert.deepEqual(small.messages, []);
assert.equal(small.attribute("entities"), "16");
// 16 messages: entered, arrived, and 10 packets over one link each.
assert.equal(small.attribute("records"), String(16 * 2 + 16 * 10));
assert.ok(Number(small.attribute("moving")) > 0, "something moves where a packet is half way");

// 1,024 entities: a frame takes less than a sixtieth of a second.
const large = page(32, "large");
assert.deepEqual(large.messages, []);
assert.equal(large.attribute("entities"), "1024");
console.log(`16 entities ${small.attribute("frame-ms")} ms a frame, 1024 ${large.attribute("frame-ms")} ms`);
