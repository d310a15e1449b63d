import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { serveParent } from './ipc.js';

/** A bare Koa server: parses a body and echoes it, or responds with a fixed object. */
const app = new Koa();
const router = new Router();
let record: unknown = {};
router.post('/pipelines/run', echo);
router.post('/pipelines/run_async', echo);
router.get('/pipelines/runs/:run_id', (ctx) => {
  ctx.body = record;
});
app.use(bodyParser());
app.use(router.routes());

const server = app.listen(0, '127.0.0.1', () => {
  serveParent(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    cpu: () => process.cpuUsage(),
    /** Sets the response of GET. */
    hold: (value) => {
      record = value;
    },
  });
});

function echo(ctx: Koa.Context): void {
  ctx.body = (ctx.request as { body?: unknown }).body;
}
