import { expect } from 'chai';
import fc from 'fast-check';
import { systemClock } from '../../../lib/common/clock.js';
import {
  type OpenApiDocument,
  type Operation,
  listOperations,
} from '../../support/http/open-api-document.js';
import { ControlledTool } from '../../support/controlled-tool.js';
import { DocumentedApi, type ReceivedResponse } from '../support/documented.js';
import { type FuzzRequest, createRequestArbitrary } from '../support/fuzz-request.js';
import { SchemaArbitrary } from '../support/schema-arbitrary.js';
import { cases } from '../../support/measuring/cases.js';
import { suiteServer } from '../support/suite-server.js';

/** For each operation. */
const REQUESTS = 100;

/** The many requests of `npm run spec:long` take minutes, and several times as long on a busy machine. */
const LONGEST_MS = 1_800_000;

/**
 * Requests of MAY_WAIT may wait for a tool or an event that never comes, so they are given up; every other request is
 * awaited.
 */
const GIVE_UP_MS = 200;
const MAY_WAIT = ['POST /pipelines/run', 'POST /plans/run', 'GET /pipelines/runs/{run_id}/events'];

/** Nobody waits here: what is to be in an hour is now. */
const HASTE = {
  ...systemClock,
  setTimeout: (run: () => void, ms: number) => systemClock.setTimeout(run, Math.min(ms, 2)),
};

const TOOLS = ['mock', 'store', 'sleep', 'fail', 'transform', 'controlled'];

const TASK = fc.record({
  id: fc.constantFrom('a', 'b', 'c'),
  tool: fc.constantFrom('mock', 'store', 'fail', 'sleep'),
  inputs: fc.constantFrom<object[]>(
    {},
    { key: 'k', value: '{{a.output}}' },
    { message: 'no', times: 1 },
    { seconds: 1 },
  ),
});

const PIPELINE = fc
  .uniqueArray(TASK, { selector: ({ id }) => id, minLength: 1, maxLength: 3 })
  .map((tasks) => ({ id: 'p', goal: 'g', tasks }));

/** Keys as a plan declares them: its pipelines store `k`, and nothing else. */
const PLAN = fc
  .uniqueArray(
    fc.record({
      id: fc.constantFrom('a', 'b', 'c'),
      reads: fc.constantFrom<string[]>([], [], ['k']),
      stores: fc.constantFrom<string[]>([], [], ['k'], ['l']),
      pipeline: fc.option(PIPELINE, { nil: undefined }),
    }),
    { selector: ({ id }) => id, minLength: 1, maxLength: 3 },
  )
  .map((subPipelines) => ({ id: 'p', sub_pipelines: subPipelines }));

/** Valid definitions: a pipeline that fails, one that keeps running, and a plan that succeeds. */
const SOUND_PLANS = ['mock', 'fail', 'controlled'].map((tool) => ({
  id: 'p',
  sub_pipelines: [
    { id: 'a', pipeline: { id: 'a', goal: 'g', tasks: [{ id: 'a', tool: 'mock' }] } },
    { id: 'b', pipeline: { id: 'b', goal: 'g', tasks: [{ id: 'a', tool }] } },
  ],
}));

describe('Every operation of the OpenAPI document, fuzzed by its schemas (D32)', () => {
  const server = suiteServer({
    tools: [new ControlledTool().tool],
    clock: HASTE,
    env: { SERVICE_MAX_QUEUED: '20' },
  });
  let documented: DocumentedApi;
  let schemas: SchemaArbitrary;
  let operations: { name: string; operation: Operation }[];
  const runIds: string[] = [];
  const seen = new Set<number>();
  let read = 0;

  before(async () => {
    const { body: document } = await server.request<OpenApiDocument>('GET', '/openapi.json');
    documented = new DocumentedApi(document);
    operations = listOperations(document);
    schemas = new SchemaArbitrary(document, {
      Pipeline: fc.oneof(
        PIPELINE,
        PIPELINE.map((pipeline) => ({ pipeline })),
      ),
      Plan: fc.oneof(
        PLAN,
        PLAN.map((plan) => ({ plan })),
        fc.constantFrom(...SOUND_PLANS),
      ),
      pipelines: fc.dictionary(
        fc.constantFrom('a', 'b', 'c', 'd'),
        fc.oneof(
          PIPELINE,
          PIPELINE.map((pipeline) => JSON.stringify(pipeline)),
        ),
      ),
      from: fc.constantFrom('failed', 'a', 'b'),
      tool: fc.constantFrom(...TOOLS),
      run_id: fc.nat().map((number) => runIds[number % Math.max(1, runIds.length)] ?? 'none'),
      'If-None-Match': fc.constantFrom('*', '"x"', 'W/"y", *'),
      retry: fc.nat(2),
      type: fc.constantFrom('integer', 'list', 'int', 'constructor'),
      params: fc.constant({}),
      wait: fc.constantFrom(0, 0.001),
    });
  });

  after(async () => {});

  /** Creates runs in every state, so that requests find some. */
  async function findRuns(): Promise<void> {
    for (const { run_id } of server.registry.list({ limit: 500 }).runs) server.registry.forget(run_id);
    runIds.length = 0;
    for (const tool of ['mock', 'fail', 'controlled', 'mock', 'fail', 'controlled', 'mock']) {
      const pipeline = { id: 'p', goal: 'g', tasks: [{ id: 'a', tool }] };
      const { body } = await server.request<{ run_id: string }>('POST', '/pipelines/run_async', { pipeline });
      runIds.push(body.run_id);
    }
    for (const plan of SOUND_PLANS) {
      const { body } = await server.request<{ run_id: string }>('POST', '/plans/run_async', { plan });
      runIds.push(body.run_id);
    }
  }

  /** The errors that were logged since the last call. */
  function bugs(): unknown[] {
    const errors = server.log.slice(read).filter(({ level }) => level === 'error');
    read = server.log.length;
    return errors.map(({ facts: { err, ...facts } }) => ({
      ...facts,
      stack: err instanceof Error ? err.stack : err,
    }));
  }

  async function send(
    name: string,
    { method, path, headers, body }: FuzzRequest,
  ): Promise<ReceivedResponse | undefined> {
    const givenUp = MAY_WAIT.includes(name) ? AbortSignal.timeout(GIVE_UP_MS) : null;
    const options = { method, headers, signal: givenUp, redirect: 'manual' } as const;
    try {
      const response = await fetch(server.url + path, { ...options, ...(body !== undefined && { body }) });
      const type = response.headers.get('content-type')?.split(';')[0] ?? '';
      // A stream need not end.
      if (type === 'text/event-stream') await response.body?.cancel();
      const text = type === 'text/event-stream' ? 'data: …' : await response.text();
      return { status: response.status, type, text };
    } catch (error) {
      if (givenUp?.aborted) return undefined;
      throw error;
    }
  }

  it('responds as documented, and never with an internal error', async () => {
    const expectedStatuses = [200, 202, 204, 304, 400, 404, 406, 409, 415, 500];
    const fuzz = async (name: string, operation: Operation, round: number): Promise<void> => {
      await findRuns();
      const property = fc.asyncProperty(createRequestArbitrary(name, operation, schemas), async (request) => {
        const received = await send(name, request);
        if (received === undefined) return;
        seen.add(received.status);
        // A person in a browser gets a page, which is not documented.
        if (received.status === 404 && received.type === 'text/html') return;
        documented.expect(operation, received);
        expect(bugs()).to.deep.equal([]);
      });
      await fc.assert(property, cases(REQUESTS, round));
    };
    // A status may be missing by chance after one round, but hardly after ten.
    for (let round = 0; round < 10 && expectedStatuses.some((status) => !seen.has(status)); round++) {
      for (const { name, operation } of operations) await fuzz(name, operation, round);
    }
    expect([...seen]).to.include.members(expectedStatuses);
  }).timeout(LONGEST_MS);
});
