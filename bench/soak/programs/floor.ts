import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';

/** A server that does nothing but read bodies and answer what the honest tenant expects: `floor.mjs`. Prints its address. */
const app = new Koa({ proxy: false });
app.silent = true;
app.use(
  bodyParser({
    enableTypes: ['json', 'text'],
    extendTypes: { text: ['application/yaml'] },
    jsonLimit: '1mb',
    textLimit: '1mb',
  }),
);
app.use((ctx) => {
  const { pipeline } = (ctx.request.body ?? {}) as { pipeline?: { id?: string } };
  ctx.status = ctx.path.endsWith('/run_async') ? 202 : 200;
  ctx.body = {
    ok: true,
    run_id: ctx.get('idempotency-key') || 'run',
    status: 'succeeded',
    outputs: { a: pipeline?.id === 'sum' ? 7 : [1, 2, 4] },
  };
});
const server = app.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`http://127.0.0.1:${port}\n`);
});
