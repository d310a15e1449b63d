import { startTestServer, type TestServer, type TestServerOptions } from '../../support/http/test-server.js';

/** A server that starts before the specs of a suite, and is closed after them. Call it where the suite is described. */
export function suiteServer(options?: TestServerOptions): TestServer {
  let server: TestServer | undefined;
  before(async () => {
    server = await startTestServer(options);
  });
  after(() => server?.close(0));
  return new Proxy({} as TestServer, {
    get: (_, name) => {
      if (server === undefined) throw new Error('the server starts with the first spec of its suite');
      return Reflect.get(server, name) as unknown;
    },
  });
}
