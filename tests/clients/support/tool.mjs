// Foundry's programs: from npm, or on other platforms from the PATH.
import { existsSync } from 'node:fs';
import path from 'node:path';

export function tool(program) {
  const installed = path.join(
    import.meta.dirname,
    `../node_modules/@foundry-rs/${program}-linux-amd64/bin/${program}`,
  );
  return existsSync(installed) ? installed : program;
}
