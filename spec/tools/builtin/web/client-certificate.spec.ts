import { createPrivateKey, type X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server, type ServerOptions } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { readOutbound } from '../../../../lib/common/config/outbound-config.js';
import { environmentSecrets } from '../../../../lib/definition/secrets/sources.js';
import type { LiveEvent } from '../../../../lib/execution/events/event.js';
import { parsePipeline } from '../../../../lib/pipelines/load.js';
import { RunRegistry } from '../../../../lib/runs/registry.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { type Pair, TestAuthority } from '../../fetching/test-authority.js';
import { loopbackNetwork } from '../../fetching/loopback-server.js';

interface Settled {
  readonly output: unknown;
  readonly error: string | null;
  /** The record, the events, the tasks and the failures, as JSON. */
  readonly told: string;
}

/** The certificate that the client of a request has shown. */
function shownCertificate({ socket }: IncomingMessage): X509Certificate | undefined {
  return (socket as TLSSocket).getPeerX509Certificate();
}

describe('The input client_certificate (D62)', () => {
  const folder = new TemporaryFolder();
  const servers: Server[] = [];
  let authority: TestAuthority;
  let client: Pair;
  let secrets: Record<string, string>;
  /** Serves those alone who show a certificate. */
  let shop: string;
  /** Asks for a certificate, and serves everybody. */
  let other: string;

  const serve = async (
    name: string,
    options: ServerOptions,
    answer: (request: IncomingMessage, response: ServerResponse) => void,
  ): Promise<string> => {
    const trusted = { ...authority.sign(name), ca: authority.cert, requestCert: true };
    const server = createServer({ ...trusted, ...options }, answer);
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return `https://${name}:${(server.address() as AddressInfo).port}`;
  };

  before(async function () {
    if (TestAuthority.isMissing) {
      if (process.env['CI'] !== undefined) throw new Error('openssl is missing: apt-get install openssl');
      this.skip();
    }
    authority = new TestAuthority(folder);
    client = authority.sign('client');
    const locked = createPrivateKey(client.key)
      .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'any' })
      .toString();
    secrets = { CERT: client.cert, KEY: client.key, LOCKED: locked, WRONG: 'no-pem-98765' };
    other = await serve('other.example', { rejectUnauthorized: false }, (request, response) =>
      response.end(shownCertificate(request)?.subject ?? 'nobody'),
    );
    shop = await serve('shop.example', {}, (request, response) => {
      if (request.url === '/away') response.writeHead(302, { location: other }).end();
      else if (request.url === '/within') response.writeHead(302, { location: '/' }).end();
      else if (request.url === '/echo') response.end(shownCertificate(request)?.toString());
      else response.end(shownCertificate(request)?.subject);
    });
  });
  after(() => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
    folder.remove();
  });

  const settle = async (task: string): Promise<Settled> => {
    const outbound = readOutbound({ SERVICE_CA_FILE: authority.file });
    const resolve = async () => [{ address: '127.0.0.1', family: 4 as const }];
    const registry = new RunRegistry({
      secrets: environmentSecrets(secrets),
      network: loopbackNetwork({ outbound, resolve }),
      eventBuffer: 1000,
    });
    const events: LiveEvent[] = [];
    const runId = await registry.submit(
      {
        pipeline: parsePipeline(
          `{id: p, goal: g, params: {LONG: {type: string, default: ${'x'.repeat(8193)}}}, tasks: [{id: a, ${task}}]}`,
        ),
        collect_events: true,
      },
      { onEvent: (event) => void events.push(event) },
    );
    const record = await registry.settled(runId);
    const failures = [
      registry.queries.failure(runId),
      await registry.queries.failedCalls(runId, { most: 20 }),
    ];
    const told = JSON.stringify([record, events, await registry.tasks(runId), failures]);
    const { outputs } = (record.result ?? { outputs: {} }) as { outputs: Record<string, unknown> };
    return { output: outputs['a'], error: record.error, told };
  };
  const request = (url: string, certificate: string): Promise<Settled> =>
    settle(
      `tool: http_request, inputs: {url: "${url}", parse: text${certificate && `, client_certificate: ${certificate}`}}`,
    );

  const PAIR = '{cert: "{{secrets.CERT}}", key: "{{secrets.KEY}}"}';

  const expectNothingTold = ({ told }: Settled): void => {
    const lines = Object.values(secrets).flatMap((secret) => secret.trim().split('\n'));
    for (const line of lines.filter((each) => !each.startsWith('-----')))
      expect(told.includes(line), `told: ${line}`).to.equal(false);
  };

  it('shows a certificate from secrets to a server that requires one, and nobody else sees it', async () => {
    const settled = await request(shop, PAIR);
    expect(settled).to.deep.include({ error: null });
    expect(settled.output).to.include({ status: 200, body: 'CN=client' });
    expectNothingTold(settled);
    expect(settled.told).to.include('"client_certificate":{"cert":"***","key":"***"}');
    const without = await request(shop, '');
    expect(without.error).to.match(/^GET https:\/\/shop\.example:\d+\/ failed: /);
  });

  it('is masked in what the server makes of it', async () => {
    const settled = await request(`${shop}/echo`, PAIR);
    expect(settled.output).to.include({ status: 200 });
    expect(settled.told).to.match(/"body":"\*\*\*/);
    expectNothingTold(settled);
  });

  it('follows a redirect within the origin with the certificate, and to another origin without it', async () => {
    expect((await request(`${shop}/within`, PAIR)).output).to.include({ body: 'CN=client' });
    expect((await request(other, PAIR)).output).to.include({ body: 'CN=client' });
    expect((await request(`${shop}/away`, PAIR)).output).to.include({ url: `${other}/`, body: 'nobody' });
  });

  for (const [certificate, reason] of [
    [
      '{cert: "{{secrets.WRONG}}", key: "{{secrets.KEY}}"}',
      /client_certificate cannot be used: .*each as PEM/,
    ],
    [
      '{cert: "{{secrets.CERT}}", key: "{{secrets.WRONG}}"}',
      /client_certificate cannot be used: .*each as PEM/,
    ],
    ['{cert: "{{secrets.CERT}}"}', /"client_certificate" needs texts: \{cert: .*each with PEM/],
    [
      '{cert: "{{secrets.CERT}}", key: "{{secrets.LOCKED}}"}',
      /the key of "client_certificate" has a passphrase: decrypt it with "openssl pkey/,
    ],
    [
      '{cert: "{{params.LONG}}", key: "{{secrets.KEY}}"}',
      /"client_certificate" has a text with more than 8,192 characters/,
    ],
  ] as const)
    it(`fails once, and names the input, with ${certificate}`, async () => {
      const settled = await request(shop, certificate);
      expect(settled.error).to.match(reason);
      expect(settled.told).to.include('"attempts":1');
      expectNothingTold(settled);
    });

  it('of the source url shows it, too', async () => {
    const settled = await settle(
      `tool: fetch_data, inputs: {source: url, url: "${shop}", client_certificate: ${PAIR}}`,
    );
    expect(settled.output).to.include({ data: 'CN=client' });
    expectNothingTold(settled);
  });
});
