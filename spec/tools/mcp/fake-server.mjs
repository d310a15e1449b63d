// An MCP server that misbehaves as its tools and its first argument say. It speaks the protocol by itself.
import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

const [mode = 'normal', watcherPort] = process.argv.slice(2);
const cancelled = [];

const object = (properties = {}, more = {}) => ({ type: 'object', properties, ...more });
const TOOLS = [
  { name: 'env', inputSchema: object() },
  {
    name: 'echo',
    description: 'says\nit \u001b[31magain',
    inputSchema: object({ text: { type: 'string' } }, { required: ['text'] }),
  },
  {
    name: 'hang',
    inputSchema: object(),
    outputSchema: {
      ...object({ rows: { type: 'array', items: { $ref: '#/$defs/row' } } }, { additionalProperties: false }),
      $defs: { row: object({ id: { type: 'integer' }, next: { $ref: '#/$defs/row' } }) },
    },
  },
  { name: 'forget', description: 'has no echo any more', inputSchema: object() },
  { name: 'cancelled', inputSchema: object() },
  { name: 'die', inputSchema: object() },
  { name: 'refuse', inputSchema: object() },
  { name: 'get user/name', inputSchema: object() },
  { name: 'get_user_name', inputSchema: object() },
  { name: 'x'.repeat(200), inputSchema: object() },
  { name: 'huge', inputSchema: object({ a: { enum: ['x'.repeat(100_000)] } }) },
];

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value) => ({ content: [{ type: 'text', text: value }] });

const HANDLERS = {
  initialize: ({ params }) => ({
    protocolVersion: params.protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'fake', version: '1' },
  }),
  ping: () => ({}),
  'tools/list': () => ({
    tools:
      mode === 'many'
        ? Array.from({ length: 5000 }, (_, n) => ({ name: `t${n}`, inputSchema: object() }))
        : TOOLS,
  }),
  'tools/call': ({ id, params: { name, arguments: args } }) => {
    if (name === 'env') return text(JSON.stringify(process.env));
    if (name === 'echo') return text(args.text);
    if (name === 'hang') return undefined;
    if (name === 'forget') {
      TOOLS.splice(1, 1);
      send({ method: 'notifications/tools/list_changed' });
      return text('forgotten');
    }
    if (name === 'cancelled') return text(JSON.stringify(cancelled.length));
    if (name === 'die') {
      process.stderr.write(`dying of ${process.env.KEY}\n`, () => process.exit(3));
      return undefined;
    }
    send({ id, error: { code: -32602, message: `no tool "${name}" for ${process.env.KEY}` } });
    return undefined;
  },
};

if (mode === 'broken') {
  process.stderr.write('cannot find the module "x"', () => process.exit(1));
}
if (mode === 'stubborn') process.on('SIGTERM', () => undefined);
if (mode === 'stubborn') setInterval(() => undefined, 1000);
// The spec sees the end of the process in the end of the connection.
if (watcherPort !== undefined) connect({ host: '127.0.0.1', port: Number(watcherPort) }).unref();
if (mode === 'parent') {
  spawn(process.execPath, [import.meta.filename, 'stubborn', watcherPort], { stdio: 'inherit' });
} else serve();

function serve() {
  process.stdout.write('a careless line\n');

  createInterface({ input: process.stdin }).on('line', (line) => {
    const message = JSON.parse(line);
    if (message.method === 'notifications/cancelled') cancelled.push(message.params.requestId);
    if (message.id === undefined || mode === 'silent') return;
    const result = HANDLERS[message.method]?.(message);
    if (result !== undefined) send({ id: message.id, result });
  });
}
