import { expect } from 'chai';
import { type TestServer, startTestServer } from '../../support/http/test-server.js';

/** The response to a body. */
export interface PostResult {
  readonly status: number;
  /** The error code. */
  readonly code: string | undefined;
  /** The error message; without an error the whole text. */
  readonly message: string;
}

/** Sends a body unchanged, and checks that the response contains no stack trace. */
export async function postBody(
  url: string,
  body: string | Uint8Array,
  type = 'application/json',
  path = '/pipelines/run',
): Promise<PostResult> {
  const response = await fetch(url + path, {
    method: 'POST',
    body: typeof body === 'string' ? Buffer.from(body) : body,
    headers: type === '' ? {} : { 'content-type': type },
  });
  const text = await response.text();
  expect(text)
    .not.to.contain('node_modules')
    .and.not.to.match(/\n\s+at /);
  const { detail } = JSON.parse(text) as { detail?: { code: string; message: string } };
  return { status: response.status, code: detail?.code, message: detail?.message ?? text };
}

/** A server for the specs of one `describe`. Checks after each that it has logged nothing but requests. */
export class BodyServer {
  #server: TestServer | undefined;

  /** Create the server inside of `describe`. */
  constructor() {
    before(async () => {
      this.#server = await startTestServer({ env: { SERVICE_BODY_LIMIT: '2000000' } });
    });
    after(() => this.server.close(0));
    afterEach(() => expect(this.server.log.filter(({ level }) => level !== 'info')).to.deep.equal([]));
  }

  get server(): TestServer {
    if (this.#server === undefined) throw new Error('the server is not open yet');
    return this.#server;
  }

  readonly post = (body: string | Uint8Array, type?: string, path?: string): Promise<PostResult> =>
    postBody(this.server.url, body, type, path);
}

/** The head of a JSON request, for a raw socket. */
export function formatRequestHead(fields: string, path = '/pipelines/validate'): string {
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${fields}\r\n\r\n`;
}
