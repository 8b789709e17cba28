// Builds the time line page and the script of the data sheets: type check, bundle, one HTML
// file each.
//
//   node build.mjs [--modules DIR/node_modules] [--out DIR] [--tests]
//
// --tests bundles tests/web/*.test.ts into OUT/tests for `node --test` instead.
// The tools are looked up in --modules, so that CMake can keep them in its
// build directory.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const here = dirname(fileURLToPath(import.meta.url));
const { values } = parseArgs({
  options: {
    modules: { type: "string", default: join(here, "node_modules") },
    out: { type: "string", default: join(here, "dist") },
    tests: { type: "boolean", default: false },
  },
});
const modules = resolve(values.modules);
const out = resolve(values.out);
const require = createRequire(join(modules, "package.json"));
const esbuild = require("esbuild");

function check() {
  const tsc = join(modules, "typescript", "bin", "tsc");
  const arguments_ = ["-p", join(here, "tsconfig.json"), "--typeRoots", join(modules, "@types")];
  const result = spawnSync(process.execPath, [tsc, ...arguments_], { stdio: "inherit" });
  if (result.status !== 0) process.exit(1);
}

function bundle(...path) {
  const script = esbuild.buildSync({
    entryPoints: [join(here, "src", ...path)],
    bundle: true,
    minify: true,
    charset: "utf8",
    format: "iife",
    target: "es2020",
    write: false,
  }).outputFiles[0].text;
  return script.replaceAll("</script", "<\\/script");
}

function style(...path) {
  return esbuild.transformSync(readFileSync(join(here, "src", ...path), "utf8"), { loader: "css", minify: true }).code;
}

// The colours of all pages, C++'s included.
const kColours = ["..", "..", "src", "views", "draw", "colours.css"];

function buildPages() {
  const page = readFileSync(join(here, "src", "page.html"), "utf8")
    .replace("@STYLE@", () => style(...kColours) + style("style.css") + style("explain", "style.css"))
    .replace("@SCRIPT@", () => bundle("main.ts"));
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, "timeline.html"), page);
  const watch = readFileSync(join(here, "src", "watch", "page.html"), "utf8")
    .replace("@STYLE@", () => style(...kColours) + style("watch", "style.css"))
    .replace("@SCRIPT@", () => bundle("watch", "main.ts"));
  writeFileSync(join(out, "watch.html"), watch);
  const editor = readFileSync(join(here, "src", "architecture", "page.html"), "utf8")
    .replace("@STYLE@", () => style(...kColours) + style("architecture", "style.css"))
    .replace("@SCRIPT@", () => bundle("architecture", "main.ts"));
  writeFileSync(join(out, "architecture.html"), editor);
  const atwork = readFileSync(join(here, "src", "atwork", "page.html"), "utf8")
    .replace("@STYLE@", () => style(...kColours) + style("atwork", "style.css"))
    .replace("@SCRIPT@", () => bundle("atwork", "main.ts"));
  writeFileSync(join(out, "atwork.html"), atwork);
  // What goes into the head of a data sheet's page, and to its end.
  const sheet = `<style>${style("sheet", "style.css")}</style>\n<script type="module">${bundle("sheet", "main.ts")}</script>\n`;
  writeFileSync(join(out, "datasheet.html"), sheet);
}

function buildTests() {
  const folder = resolve(here, "..", "tests", "web");
  const entryPoints = readdirSync(folder)
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => join(folder, name));
  rmSync(join(out, "tests"), { recursive: true, force: true });
  esbuild.buildSync({
    entryPoints,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node18",
    outdir: join(out, "tests"),
    outExtension: { ".js": ".mjs" },
  });
}

check();
if (values.tests) buildTests();
else buildPages();
