// Bundles src/ into one page, `../bbprof-report/assets/explorer.html` or the path given: style and code inline, marks where the
// report puts its data. Same sources and lock file, same bytes.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const output = process.argv[2] ?? join(here, "../bbprof-report/assets/explorer.html");

async function bundle(entry, loader) {
  const result = await build({
    entryPoints: [join(here, entry)],
    bundle: true,
    minify: true,
    charset: "utf8",
    format: "iife",
    target: ["chrome110", "firefox115", "safari16.4"],
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    logLevel: "warning",
    write: false,
    loader,
  });
  return result.outputFiles[0].text.trim();
}

/** The licences of what is bundled ask that they stay with it. */
function licences() {
  return ["preact", "@leeoniya/ufuzzy"]
    .map((name) => {
      const folder = join(here, "node_modules", name);
      const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      const text = readFileSync(join(folder, "LICENSE"), "utf8").trim().replaceAll("--", "- -");
      return `${name} ${version} (${license})\n${text}`;
    })
    .join("\n\n");
}

const code = (await bundle("src/main.tsx", {})).replaceAll("</script", "<\\/script");
const style = (await bundle("src/style.css", { ".css": "css" })).replaceAll("</style", "<\\/style");
const template = readFileSync(join(here, "src/page.html"), "utf8");
const digest = createHash("sha256").update(code).digest("base64");
const put = (text, mark, value) => {
  if (text.split(mark).length !== 2) throw new Error(`src/page.html: ${mark} must stand in it once`);
  return text.split(mark).join(value);
};
let page = template;
page = put(page, "%STYLE%", style);
page = put(page, "%DIGEST%", digest);
page = put(page, "%LICENCES%", licences());
page = put(page, "%CODE%", code);
writeFileSync(output, page);
console.log(`${output}: ${page.length} bytes`);
