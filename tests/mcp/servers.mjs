// Calls of one official server by the first SDK, one after the other; what came of each is printed
// as a list of JSON.
//
//     node servers.mjs JSON
//
// JSON: {"modules": folder, "command": […], "env": {…}, "prefix": before the names of tools,
//        "calls": [{"tool", "arguments", "progress", "cancelAfterMs", "killAtProgress"}]}
//
// killAtProgress: the processes that the command started are killed when the first progress is
// heard.
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const plan = JSON.parse(process.argv[2]);
const load = createRequire(path.join(plan.modules, 'package.json'));
const { Client } = load('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = load('@modelcontextprotocol/sdk/client/stdio.js');

// ---- processes ---------------------------------------------------------------------------------

// The last that a process started directly or indirectly: wrappers are not meant.
function descendants(pid) {
  const parents = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map((name) => {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      return [Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])];
    } catch {
      return [0, 0];
    }
  });
  const children = (of) => parents.filter(([, parent]) => parent === of).map(([child]) => child);
  return children(pid).flatMap((child) => {
    const below = descendants(child);
    return below.length ? below : [child];
  });
}

// ---- calls -------------------------------------------------------------------------------------

const [command, ...args] = plan.command;
const client = new Client({ name: 'mortise-tests', version: '1.0.0' }, { capabilities: {} });
const carrier = new StdioClientTransport({ command, args, env: plan.env, stderr: 'inherit' });

async function call({ tool, arguments: values, progress, cancelAfterMs, killAtProgress }) {
  const heard = [];
  const options = { timeout: 60000 };
  let killed;
  if (progress || killAtProgress)
    options.onprogress = (said) => {
      heard.push([said.progress, said.total]);
      if (!killAtProgress || killed) return;
      killed = Date.now();
      for (const pid of descendants(carrier.pid)) process.kill(pid, 'SIGKILL');
    };
  if (cancelAfterMs) options.signal = AbortSignal.timeout(cancelAfterMs);
  const start = Date.now();
  const outcome = await client.callTool({ name: plan.prefix + tool, arguments: values }, undefined,
    options).then((result) => ({ result }), (error) => ({ error: String(error.message) }));
  return { ...outcome, heard, ms: Date.now() - start,
    ...(killed && { afterKillMs: Date.now() - killed }) };
}

await client.connect(carrier);
const tools = (await client.listTools()).tools;
const outcomes = [];
for (const each of plan.calls) outcomes.push(await call(each));
await client.close();
process.stdout.write(JSON.stringify({ tools, outcomes }), () => process.exit(0));
