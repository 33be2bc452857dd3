// Writes editor.js and the licences of all that is in it, from the pinned packages, into ../static or a folder that is
// named: npm ci && npm run build

import { build } from "esbuild";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "..", "static");
const result = await build({
  entryPoints: [join(here, "editor.js")],
  outfile: join(out, "editor.js"),
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  banner: { js: "// CodeMirror 6 and what it needs, from grader/web/bundle; licences: editor.LICENSES.txt" },
  metafile: true,
});

const packages = new Set();
for (const file of Object.keys(result.metafile.inputs)) {
  const found = file.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//);
  if (found) packages.add(found[1]);
}
const texts = [...packages].sort().map((name) => {
  const folder = join(here, "node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  if (!file) throw new Error(`${name} has no licence file`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
});
const line = `\n${"-".repeat(80)}\n\n`;
writeFileSync(join(out, "editor.LICENSES.txt"), `What editor.js is made of.\n${line}${texts.join(line)}`);
