import { Agent, get } from 'node:http';
import { performance } from 'node:perf_hooks';
import { serveParent } from './ipc.js';

/** Requests /health again and again, one request at a time, and records the response times. */
const [, , url = ''] = process.argv;
const PAUSE_MS = 5;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let times: number[] = [];

serveParent('', {
  /** Returns the response times since the previous call, in milliseconds. */
  times: () => {
    const taken = times;
    times = [];
    return taken;
  },
});
void probe();

async function probe(): Promise<void> {
  for (;;) {
    const began = performance.now();
    await health();
    times.push(performance.now() - began);
    await new Promise((next) => {
      setTimeout(next, PAUSE_MS);
    });
  }
}

async function health(): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    get(`${url}/health`, { agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`/health responded ${response.statusCode}`));
      response.resume().once('end', resolve);
    }).once('error', reject);
  });
}
