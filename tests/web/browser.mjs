import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

// A page in a headless Chromium: the attributes of <html> after it has run, and its console
// messages.
export function open(chromium, file) {
  const profile = mkdtempSync(join(tmpdir(), "foretrace-page-"));
  try {
    const result = spawnSync(
      chromium,
      [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        `--user-data-dir=${profile}`, "--window-size=1280,800", "--enable-logging=stderr",
        "--virtual-time-budget=2000", "--dump-dom", pathToFileURL(file).href,
      ],
      { encoding: "utf8", timeout: 90000, maxBuffer: 1 << 28 },
    );
    assert.equal(result.status, 0, result.stderr);
    const tag = /<html[^>]*>/.exec(result.stdout)?.[0] ?? "";
    const attribute = (name) =>
      new RegExp(`data-${name}="([^"]*)"`).exec(tag)?.[1].replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&nbsp;", " ").replaceAll("&amp;", "&");
    const messages = result.stderr.split("\n").filter((line) => line.includes("CONSOLE"));
    return { attribute, messages };
  } finally {
    rmSync(profile, { recursive: true, force: true });
  }
}
