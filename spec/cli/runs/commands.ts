import { type Serving, serving, type ServingOptions } from '../../support/http/serving.js';
import { invoke, type Invocation, type Surroundings } from '../invoke.js';

export const HELLO = { id: 'hello', goal: 'greet', tasks: [{ id: 'greet', tool: 'mock', inputs: { n: 1 } }] };
export const FAILING = {
  id: 'failing',
  goal: 'fail',
  tasks: [
    { id: 'first', tool: 'mock' },
    { id: 'second', tool: 'fail', inputs: { message: 'no luck' }, await: ['first'] },
  ],
};
export const HELD = { id: 'held', goal: 'hold', tasks: [{ id: 'a', tool: 'puppet' }] };

/** A server, and the `runs` commands as somebody types them who has named it in the environment. */
export interface AskedServer extends Serving {
  /** Submits a pipeline and answers the id of its run. */
  submit(pipeline: object, tenantId?: string): Promise<string>;
  /** Submits one and waits until it has settled. */
  settled(pipeline: object, tenantId?: string): Promise<string>;
  /** `runs` and what follows it. */
  runs(words: string, surroundings?: Surroundings): Promise<Invocation>;
}

export async function askedServer(options: ServingOptions = {}): Promise<AskedServer> {
  const server = await serving(options);
  const submit = async (pipeline: object, tenant_id = 'default'): Promise<string> => {
    const { body } = await server.ask<{ run_id: string }>('POST', '/pipelines/run_async', {
      pipeline,
      tenant_id,
    });
    return body.run_id;
  };
  return {
    ...server,
    submit,
    settled: async (pipeline, tenantId) => {
      const runId = await submit(pipeline, tenantId);
      await server.registry.settled(runId);
      return runId;
    },
    runs: (words, surroundings = {}) =>
      invoke(['runs', ...words.split(' ')], { env: { WAVETRAIN_SERVER: server.url }, ...surroundings }),
  };
}
