import { expect } from 'chai';
import fc from 'fast-check';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import type { RunPage } from '../../../lib/runs/views/run-listing.js';
import type { RunRecord } from '../../../lib/runs/record.js';
import type { TestResponse } from '../../support/http/test-server.js';
import { type ControlledServer, TWO_WAVES } from './controlled-server.js';
import { ModelRun, type ModelServer } from './run-model.js';

type Act = (model: ModelServer, server: ControlledServer) => Promise<void>;
type ResponseBody = Partial<ErrorBody> & {
  readonly run_id?: string;
  readonly status?: string;
  readonly rerun?: object;
};

/** The actions of clients and tools, in any order; after each the server must match the model. */
export const RUN_COMMANDS = [
  fc.constant(command('submit', submit)),
  fc.constant(command('complete', complete)),
  fc.constant(command('fail', fail)),
  ...['cancel', 'force'].map((name) =>
    fc.nat(20).map((number) => command(`${name} ${number}`, cancel(number, name === 'force'))),
  ),
  ...[undefined, 'failed', 'a', 'b'].map((from) =>
    fc.nat(20).map((number) => command(`rerun ${number} from ${from}`, rerun(number, from))),
  ),
  fc.nat(20).map((number) => command(`delete ${number}`, remove(number))),
];

function command(name: string, act: Act): fc.AsyncCommand<ModelServer, ControlledServer> {
  return {
    check: () => true,
    run: async (model, server) => {
      await act(model, server);
      await server.waitUntilIdle();
      await expectAlike(model, server);
    },
    toString: () => name,
  };
}

async function submit(model: ModelServer, server: ControlledServer): Promise<void> {
  const response = await server.request<ResponseBody>('POST', '/pipelines/run_async', {
    pipeline: TWO_WAVES,
  });
  accepted(response, model, null);
}

let values = 0;

async function complete(model: ModelServer, server: ControlledServer): Promise<void> {
  const run = model.activeRun;
  if (run === undefined) return;
  const value = `value ${++values}`;
  server.findCall(run.id).resolve(value);
  run.complete(value);
  model.fill();
}

async function fail(model: ModelServer, server: ControlledServer): Promise<void> {
  const run = model.activeRun;
  if (run === undefined) return;
  const error = `error ${++values}`;
  server.findCall(run.id).reject(new Error(error));
  run.fail(error);
  model.fill();
}

function cancel(number: number, force: boolean): Act {
  return about(number, async (run, model, server) => {
    const response = await server.request<ResponseBody>('POST', `/pipelines/runs/${run.id}/cancel`, {
      force,
    });
    if (run.isSettled || (run.isTerminal && !force))
      return expectRefused(response, 400, 'run_already_terminal');
    expect(response.status).to.equal(200);
    expect(response.body.status).to.equal('cancelled');
    run.cancel(force);
    model.fill();
  });
}

function rerun(number: number, from: string | undefined): Act {
  return about(number, async (run, model, server) => {
    const body = from === undefined ? undefined : { from };
    const response = await server.request<ResponseBody>('POST', `/pipelines/runs/${run.id}/rerun`, body);
    if (!run.isSettled) return expectRefused(response, 409, 'run_not_settled');
    if (from === 'failed' && run.state === 'succeeded')
      return expectRefused(response, 400, 'nothing_to_rerun');
    accepted(response, model, run.id, reused(run, from));
  });
}

/** Task b depends on task a (D35). */
function reused({ outputs }: ModelRun, from: string | undefined): Map<string, string> {
  const kept: Record<string, readonly string[]> = { failed: ['a', 'b'], a: [], b: ['a'] };
  const names = from === undefined ? [] : (kept[from] ?? []);
  return new Map([...outputs].filter(([task]) => names.includes(task)));
}

function remove(number: number): Act {
  return about(number, async (run, model, server) => {
    const response = await server.request<ResponseBody>('DELETE', `/pipelines/runs/${run.id}`);
    if (!run.isSettled) return expectRefused(response, 409, 'run_not_settled');
    expect(response.status).to.equal(204);
    model.forget(run);
  });
}

/** Does something with the run that a number means; one that was forgotten is not there. */
function about(
  number: number,
  act: (run: ModelRun, model: ModelServer, server: ControlledServer) => Promise<void>,
): Act {
  return async (model, server) => {
    const run = model.pick(number);
    if (run === undefined) return;
    if (!model.forgotten.includes(run)) return act(run, model, server);
    for (const [method, action] of [
      ['POST', '/cancel'],
      ['POST', '/rerun'],
      ['DELETE', ''],
      ['GET', ''],
    ]) {
      const response = await server.request<ResponseBody>(method ?? '', `/pipelines/runs/${run.id}${action}`);
      expectRefused(response, 404, 'run_not_found');
    }
  };
}

function accepted(
  { status, headers, body }: TestResponse<ResponseBody>,
  model: ModelServer,
  rerunOf: string | null,
  outputs?: Map<string, string>,
): void {
  expect(status, JSON.stringify(body)).to.equal(202);
  const { run_id = '', rerun, ...others } = body;
  expect(others).to.deep.equal({ status: 'queued' });
  expect(rerun !== undefined).to.equal(rerunOf !== null);
  expect(headers.get('location')).to.equal(`/pipelines/runs/${run_id}`);
  model.accept(new ModelRun(run_id, rerunOf, outputs));
}

function expectRefused(
  { status, body }: TestResponse<ResponseBody>,
  expectedStatus: number,
  code: string,
): void {
  expect(`${status} ${body?.detail?.code}`).to.equal(`${expectedStatus} ${code}`);
}

async function expectAlike(model: ModelServer, server: ControlledServer): Promise<void> {
  for (const run of model.runs) {
    const { body } = await server.request<RunRecord>('GET', `/pipelines/runs/${run.id}`);
    expect(body).to.deep.include(run.expectedRecord);
    model.seen.add(run.state);
  }
  const { body } = await server.request<RunPage>('GET', '/pipelines/runs?limit=500');
  expect(body.runs.map(({ run_id }) => run_id)).to.deep.equal(model.runs.map(({ id }) => id).toReversed());
  const ready = await server.request('GET', '/ready');
  expect(ready.body).to.include({
    queued: model.queuedRuns.length,
    running: model.activeRun === undefined ? 0 : 1,
  });
}
