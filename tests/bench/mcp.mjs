// What calls of a tool cost that an official client makes of several servers by turns, and what the
// servers take before the first.
//
//     node mcp.mjs JSON
//
// JSON: {"modules": folder of the packages, "env": variables of the servers,
//        "servers": {name: command}, "rounds": n, "calls": a round, "bytes": of the message,
//        "starts": how often each of "started": {name: command} is started}
// Out comes for each server: "median_us", one a round; "memory_mb", before the first call; and for
// each that is started: "start_ms", from the start to the answer to tools/list.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { createInterface } from 'node:readline';

const plan = JSON.parse(process.argv[2]);
const load = createRequire(path.join(plan.modules, 'package.json'));
const now = () => process.hrtime.bigint();
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

// ---- calls -------------------------------------------------------------------------------------

const settled = () => new Promise((resolve) => setTimeout(resolve, 300));

function memory(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024;
}

async function open([command, ...args]) {
  const { Client } = load('@modelcontextprotocol/sdk/client/index.js');
  const { StdioClientTransport } = load('@modelcontextprotocol/sdk/client/stdio.js');
  const client = new Client({ name: 'bench', version: '1' }, { capabilities: {} });
  const transport = new StdioClientTransport({ command, args, env: plan.env, stderr: 'ignore' });
  await client.connect(transport);
  await client.listTools();
  await settled();
  return { client, memory_mb: memory(transport.pid), median_us: [] };
}

async function measure(server, count) {
  const message = 'x'.repeat(plan.bytes);
  const times = [];
  for (let i = 0; i < count; i++) {
    const start = now();
    const result = await server.client.callTool({ name: 'echo', arguments: { message } });
    times.push(Number(now() - start) / 1e3);
    if (result.isError || !result.content[0].text.endsWith(message)) throw new Error('no echo');
  }
  return median(times);
}

async function callAll(commands) {
  const servers = {};
  for (const [name, command] of Object.entries(commands)) servers[name] = await open(command);
  for (const server of Object.values(servers)) await measure(server, plan.calls);
  for (let round = 0; round < plan.rounds; round++)
    for (const server of Object.values(servers))
      server.median_us.push(await measure(server, plan.calls));
  for (const server of Object.values(servers)) {
    await server.client.close();
    delete server.client;
  }
  return servers;
}

// ---- starts ------------------------------------------------------------------------------------

const REQUESTS = [
  { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25',
    capabilities: {}, clientInfo: { name: 'bench', version: '1' } } },
  { jsonrpc: '2.0', method: 'notifications/initialized' },
  { jsonrpc: '2.0', id: 2, method: 'tools/list' },
].map((request) => `${JSON.stringify(request)}\n`);

function start([command, ...args]) {
  return new Promise((resolve, reject) => {
    const begun = now();
    const child = spawn(command, args, { env: plan.env, stdio: ['pipe', 'pipe', 'ignore'] });
    let took;
    child.on('error', reject);
    child.stdin.write(REQUESTS[0]);
    createInterface({ input: child.stdout }).on('line', (line) => {
      const message = JSON.parse(line);
      if (message.id === 1) child.stdin.write(REQUESTS[1] + REQUESTS[2]);
      if (message.id !== 2) return;
      took = Number(now() - begun) / 1e6;
      child.stdin.end();
    });
    child.on('exit', () => (took ? resolve(took) : reject(new Error('no list of tools'))));
  });
}

async function startAll(commands) {
  const started = {};
  for (const name of Object.keys(commands)) started[name] = { start_ms: [] };
  for (let round = 0; round <= plan.starts; round++)
    for (const [name, command] of Object.entries(commands)) {
      const took = await start(command);
      if (round > 0) started[name].start_ms.push(took);
    }
  return started;
}

const figures = plan.servers ? await callAll(plan.servers) : await startAll(plan.started);
process.stdout.write(JSON.stringify(figures), () => process.exit(0));
