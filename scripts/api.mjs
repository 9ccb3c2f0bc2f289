// The public surface of the library as text, reviewed like code: etc/*.api.md. Fails when it has changed; --update
// writes it anew.
import { Extractor, ExtractorConfig, ExtractorLogLevel } from "@microsoft/api-extractor";
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import path from "node:path";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const project = path.join(root, "packages/lastcall");
const update = process.argv.includes("--update");
const manifest = JSON.parse(readFileSync(path.join(project, "package.json"), "utf8"));
const entries = Object.values(manifest.exports)
  .filter((entry) => typeof entry === "object")
  .map((entry) => path.basename(entry.types, ".d.ts"));

let changed = 0;
for (const name of entries) {
  const reportFolder = path.join(project, "etc");
  const tempFolder = path.join(project, "temp");
  mkdirSync(tempFolder, { recursive: true });
  const config = ExtractorConfig.prepare({
    configObject: {
      projectFolder: project,
      mainEntryPointFilePath: path.join(project, `dist/src/${name}.d.ts`),
      compiler: { tsconfigFilePath: path.join(project, "tsconfig.json") },
      apiReport: {
        enabled: true,
        reportFileName: `${name}.api.md`,
        reportFolder,
        reportTempFolder: tempFolder,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Warning } },
        extractorMessageReporting: {
          default: { logLevel: ExtractorLogLevel.Warning },
          // Release tags are for packages with several audiences; ours has one.
          "ae-missing-release-tag": { logLevel: ExtractorLogLevel.None },
          "ae-undocumented": { logLevel: ExtractorLogLevel.None },
        },
        tsdocMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
      },
    },
    configObjectFullPath: path.join(project, "api-extractor.json"),
    packageJsonFullPath: path.join(project, "package.json"),
  });
  const result = Extractor.invoke(config, {
    localBuild: false,
    messageCallback(message) {
      message.handled = true;
      if (message.logLevel === ExtractorLogLevel.Error) console.error(message.text);
    },
  });
  const made = path.join(tempFolder, `${name}.api.md`);
  const kept = path.join(reportFolder, `${name}.api.md`);
  if (update) {
    copyFileSync(made, kept);
  } else if (!existsSync(kept) || result.apiReportChanged) {
    changed += 1;
    console.error(
      `The public surface '${name}' has changed: read the change, then run \`node scripts/api.mjs --update\`.`,
    );
  }
}
process.exit(changed === 0 ? 0 : 1);
