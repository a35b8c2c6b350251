// A session of one official client with a server, step by step; what came of each step is one JSON
// object on standard output.
//
//     node clients.mjs JSON
//
// JSON: {"modules": folder, "client": "sdk1" | "sdk2", "era": "legacy" | "auto" | "modern",
//        "command": […] or "url": "…", "calls": {tool: arguments}, "replace": [from, to]}
//
// A server that does not answer makes a step fail by the client's own time limit.
import { renameSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const plan = JSON.parse(process.argv[2]);
const load = createRequire(path.join(plan.modules, 'package.json'));
const isFirst = plan.client === 'sdk1';
const listens = Boolean(plan.command) || plan.era !== 'legacy';
const LIMIT_MS = 30000;

// ---- the two SDKs ------------------------------------------------------------------------------

let toolsChanged = () => {};

function open() {
  const info = { name: 'mortise-tests', version: '1.0.0' };
  if (isFirst) {
    const { Client } = load('@modelcontextprotocol/sdk/client/index.js');
    const { ToolListChangedNotificationSchema } = load('@modelcontextprotocol/sdk/types.js');
    const client = new Client(info, { capabilities: {} });
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => toolsChanged());
    return client;
  }
  const { Client } = load('@modelcontextprotocol/client');
  const mode = plan.era === 'modern' ? { pin: '2026-07-28' } : plan.era;
  const tools = { autoRefresh: false, onChanged: () => toolsChanged() };
  const more = listens ? { listChanged: { tools } } : {};
  return new Client(info, { capabilities: {}, versionNegotiation: { mode }, ...more });
}

function transport() {
  const file = isFirst ? '@modelcontextprotocol/sdk/client/' : '@modelcontextprotocol/client';
  if (plan.url) {
    const { StreamableHTTPClientTransport } =
      load(isFirst ? `${file}streamableHttp.js` : file);
    return new StreamableHTTPClientTransport(new URL(plan.url));
  }
  const { StdioClientTransport } = load(isFirst ? `${file}stdio.js` : `${file}/stdio`);
  const [command, ...args] = plan.command;
  return new StdioClientTransport({ command, args, env: plan.env, stderr: 'inherit' });
}

const client = open();
let carrier;

function call(name, args = {}, options = {}) {
  options = { timeout: LIMIT_MS, ...options };
  return isFirst ? client.callTool({ name, arguments: args }, undefined, options)
    : client.callTool({ name, arguments: args }, options);
}

const list = async () =>
  (await (isFirst ? client.listTools() : client.listTools(undefined, { cacheMode: 'refresh' })))
    .tools;

const told = (error) => ({ code: error.code, message: String(error.message) });

const attempt = (promise) => promise.then((result) => ({ result }), (error) => ({ error: told(error) }));

// ---- the steps ---------------------------------------------------------------------------------

async function connect() {
  carrier = transport();
  let version;
  const keep = carrier.setProtocolVersion?.bind(carrier);
  carrier.setProtocolVersion = (chosen) => { version = chosen; keep?.(chosen); };
  await client.connect(carrier);
  return { version: client.getNegotiatedProtocolVersion?.() ?? version,
    server: client.getServerVersion(), capabilities: client.getServerCapabilities() };
}

async function contents() {
  const results = {};
  for (const [name, args] of Object.entries(plan.calls)) results[name] = await call(name, args);
  return results;
}

async function progress() {
  const heard = [];
  const result = await call('test_tool_with_progress', {}, { onprogress: (said) => heard.push(said) });
  return { heard, result };
}

async function cancel() {
  const count = async () => Number((await call('test_cancelled_calls')).content[0].text);
  const before = await count();
  const abort = new AbortController();
  let begun;
  const hasBegun = new Promise((resolve) => { begun = resolve; });
  const end = attempt(call('test_wait', {}, { signal: abort.signal, onprogress: () => begun() }));
  await hasBegun;
  abort.abort();
  const { result, error } = await end;
  const deadline = Date.now() + LIMIT_MS;
  let cancelled = 0;
  while (cancelled === 0 && Date.now() < deadline) cancelled = (await count()) - before;
  return { result, error, cancelled };
}

const errors = async () => ({
  unknownTool: await attempt(call('no_such_tool')),
  missingArgument: await attempt(call('echo')),
  wrongArgument: await attempt(call('echo', { message: 5 })),
  missingCapability: await attempt(call('test_missing_capability')),
});

async function atOnce() {
  const texts = Array.from({ length: 32 }, (_, index) => `call ${index}`);
  const results = await Promise.all(texts.map((message) => call('echo', { message })));
  return results.every((result, index) => result.content[0].text === texts[index]);
}

async function large() {
  const message = 'Grüße 世界 '.repeat(60000);
  return (await call('echo', { message })).content[0].text === message;
}

// What `change` does is told; then the tools are others.
async function changed(change) {
  const isTold = new Promise((resolve, reject) => {
    toolsChanged = resolve;
    setTimeout(() => reject(new Error('nothing was told')), LIMIT_MS).unref();
  });
  await change();
  if (listens) await isTold;
  const deadline = Date.now() + LIMIT_MS;
  const before = JSON.stringify(names);
  do names = (await list()).map((tool) => tool.name);
  while (JSON.stringify(names) === before && Date.now() < deadline);
  return names;
}

let names;

async function changes() {
  names = (await list()).map((tool) => tool.name);
  const brought = await changed(() => call('test_trigger_tool_change'));
  const answer = await attempt(call('test_here_for_now'));
  const taken = await changed(() => call('test_trigger_tool_change'));
  return { brought, answer, taken };
}

const replace = async () => ({ now: await changed(() => renameSync(...plan.replace)) });

async function close() {
  const start = Date.now();
  await client.close();
  return { ms: Date.now() - start };
}

const steps = { connect, tools: list, contents, progress, cancel, errors, atOnce, large, changes };
if (plan.replace) steps.replace = replace;
const outcome = { ms: {} };
try {
  for (const [name, step] of Object.entries({ ...steps, close })) {
    const start = Date.now();
    outcome[name] = await step();
    outcome.ms[name] = Date.now() - start;
  }
} catch (error) {
  outcome.failed = String(error.stack);
}
process.stdout.write(JSON.stringify(outcome), () => process.exit(outcome.failed ? 1 : 0));
