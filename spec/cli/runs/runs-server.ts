import { type TestServer, startTestServer, type TestServerOptions } from '../../support/http/test-server.js';
import { invoke, type Invocation, type InvokeOptions } from '../invoke.js';

export const HELLO = { id: 'hello', goal: 'greet', tasks: [{ id: 'greet', tool: 'mock', inputs: { n: 1 } }] };
export const FAILING = {
  id: 'failing',
  goal: 'fail',
  tasks: [
    { id: 'first', tool: 'mock' },
    { id: 'second', tool: 'fail', inputs: { message: 'no luck' }, await: ['first'] },
  ],
};
export const HELD = { id: 'held', goal: 'hold', tasks: [{ id: 'a', tool: 'controlled' }] };

/** A server, and the `runs` commands with WAVETRAIN_SERVER set to it. */
export interface RunsServer extends TestServer {
  /** Submits a pipeline and resolves with the run id. */
  submit(pipeline: object, tenantId?: string): Promise<string>;
  /** Submits a pipeline and resolves with the run id once the run has settled. */
  settled(pipeline: object, tenantId?: string): Promise<string>;
  /** Runs `wavetrain runs` with the arguments, which are separated by spaces. */
  runs(args: string, options?: InvokeOptions): Promise<Invocation>;
}

export async function runsServer(options: TestServerOptions = {}): Promise<RunsServer> {
  const server = await startTestServer(options);
  const submit = async (pipeline: object, tenant_id = 'default'): Promise<string> => {
    const { body } = await server.request<{ run_id: string }>('POST', '/pipelines/run_async', {
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
    runs: (args, options = {}) =>
      invoke(['runs', ...args.split(' ')], { env: { WAVETRAIN_SERVER: server.url }, ...options }),
  };
}

/** Starts a server before the specs of a block, and closes it after them. */
export function useRunsServer(options: TestServerOptions = {}): RunsServer {
  const server = {} as RunsServer;
  before(async () => void Object.assign(server, await runsServer(options)));
  after(() => server.close(0));
  return server;
}
