import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import type { SecretSource } from '../../../../lib/definition/secrets/run-secrets.js';
import { startTestServer, type TestResponse, type TestServer } from '../../../support/http/test-server.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';

const SECRET = 'a-secret-of-24-letters-';
const KEY = Buffer.from('the bytes of a key, of which none needs to be a letter \u0000\u0001');
const SECRETS: Readonly<Record<string, string>> = { HOOK: SECRET, BYTES: `whsec_${KEY.toString('base64')}` };
const secrets: SecretSource = { find: (_, name) => SECRETS[name] };

const TTL_MS = 60_000;
const MINUTE_MS = 60_000;
const JSON_BODY = { 'content-type': 'application/json' };

const pipeline = (id: string, webhook: string): string =>
  `pipeline: {id: ${id}, goal: g, webhook: {${webhook}}, params: {name: {type: string, default: nobody}}, tasks: [{id: a, tool: mock}]}`;

describe('A request to a webhook that somebody has captured and sends again (D71)', () => {
  const clock = new ManualClock();
  let folder: TemporaryFolder;
  let server: TestServer;
  before(async () => {
    folder = new TemporaryFolder();
    folder.write('pipelines/open.yaml', pipeline('open', 'secret: HOOK'));
    folder.write('pipelines/once.yaml', pipeline('once', 'secret: HOOK, replay: refuse'));
    folder.write('pipelines/other.yaml', pipeline('other', 'secret: HOOK, replay: refuse'));
    folder.write('pipelines/bytes.yaml', pipeline('bytes', 'secret: BYTES'));
    server = await startTestServer({
      env: { SERVICE_PIPELINES: folder.at('pipelines'), SERVICE_IDEMPOTENCY_TTL: String(TTL_MS / 1000) },
      secrets,
      clock,
    });
    await server.restored;
  });
  after(async () => {
    await server.close(0);
    folder.remove();
  });

  type Response = TestResponse<{ readonly run_id: string }>;
  const post = (id: string, body: string, headers: Record<string, string>): Promise<Response> =>
    server.request('POST', `/pipelines/${id}/webhook`, body, { ...JSON_BODY, ...headers });
  const isReplayed = ({ headers }: Response): boolean => headers.get('idempotent-replayed') === 'true';

  describe('with a signature of its body alone', () => {
    const sign = (text: string): string =>
      `sha256=${createHmac('sha256', SECRET).update(text).digest('hex')}`;
    const signed = (text: string): Record<string, string> => ({ 'x-hub-signature-256': sign(text) });

    it('starts another run under another id of the delivery, unless the definition refuses that', async () => {
      const text = '{"name":"open"}';
      const ids = ['1', '2'].map((id) => ({ ...signed(text), 'x-github-delivery': id }));
      const responses = [...ids, signed(text), signed(text)].map((headers) => post('open', text, headers));
      const runIds = (await Promise.all(responses)).map(({ body }) => body.run_id);
      expect(new Set(runIds)).to.have.property('size', 4);
    });

    it('is answered with the first run, whatever id the delivery has, when the definition says replay: refuse', async () => {
      const text = '{"name":"once"}';
      const first = await post('once', text, { ...signed(text), 'x-github-delivery': '1' });
      expect([first.status, isReplayed(first)]).to.deep.equal([202, false]);
      const capitals = sign(text).toUpperCase().replace('SHA', 'sha');
      for (const headers of [
        { ...signed(text), 'x-github-delivery': '1' },
        { ...signed(text), 'x-github-delivery': '2' },
        { ...signed(text), 'idempotency-key': 'another' },
        { ...signed(text), 'webhook-id': 'another' },
        { 'x-hub-signature-256': capitals },
      ]) {
        const again = await post('once', text, headers);
        expect([again.status, isReplayed(again), again.body.run_id]).to.deep.equal([
          202,
          true,
          first.body.run_id,
        ]);
      }
      const next = await post('once', '{"name":"next"}', {
        ...signed('{"name":"next"}'),
        'x-github-delivery': '1',
      });
      expect(isReplayed(next)).to.equal(false);
      expect(isReplayed(await post('other', text, signed(text)))).to.equal(false);
    });

    it('is remembered after its run was deleted, for SERVICE_IDEMPOTENCY_TTL', async () => {
      const text = '{"name":"deleted"}';
      const { body } = await post('once', text, signed(text));
      await server.registry.settled(body.run_id);
      await server.request('DELETE', `/pipelines/runs/${body.run_id}`);
      clock.advance(TTL_MS - 1);
      const again = await post('once', text, signed(text));
      expect([isReplayed(again), again.body.run_id]).to.deep.equal([true, body.run_id]);
      clock.advance(1);
      const late = await post('once', text, signed(text));
      expect([isReplayed(late), late.body.run_id === body.run_id]).to.deep.equal([false, false]);
    });

    it('concerns no request with the secret itself, which can start as many runs as it likes', async () => {
      const text = '{"name":"token"}';
      const headers = { ...signed(text), 'x-webhook-token': SECRET };
      const first = await post('once', text, headers);
      const second = await post('once', text, headers);
      expect([first.status, second.status, isReplayed(second)]).to.deep.equal([202, 202, false]);
    });
  });

  describe('with a signature of its id, its time and its body, as standardwebhooks.com says', () => {
    interface Delivery {
      readonly id?: string;
      readonly sentAt?: number;
      readonly text?: string;
      readonly key?: string | Buffer;
    }
    const TEXT = '{"name":"dated"}';
    const sign = ({ id = 'msg_1', sentAt = clock.now(), text = TEXT, key = SECRET }: Delivery) => {
      const time = String(Math.floor(sentAt / 1000));
      const hmac = createHmac('sha256', key).update(`${id}.${time}.${text}`).digest('base64');
      return { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': `v1,${hmac}` };
    };

    it('is answered with the first run, whatever else is changed', async () => {
      const headers = sign({});
      const first = await post('open', TEXT, headers);
      expect([first.status, isReplayed(first)]).to.deep.equal([202, false]);
      for (const changed of [{}, { 'idempotency-key': 'x' }, { 'x-github-delivery': 'y' }]) {
        const again = await post('open', TEXT, { ...headers, ...changed });
        expect([again.status, again.body.run_id]).to.deep.equal([202, first.body.run_id]);
      }
      // The sender tries again later, with another time.
      const retried = await post('open', TEXT, sign({ sentAt: clock.now() + 1000 }));
      expect(retried.body.run_id).to.equal(first.body.run_id);
      expect(isReplayed(await post('open', TEXT, sign({ id: 'msg_2' })))).to.equal(false);
    });

    it('is refused as everything else when it is more than five minutes old, or as far ahead', async () => {
      for (const [minutes, status] of [
        [-5, 202],
        [5, 202],
        [-5.02, 404],
        [5.02, 404],
      ] as const) {
        const id = `at${minutes}`.replace('.', '_');
        const headers = sign({ id, sentAt: clock.now() + minutes * MINUTE_MS });
        expect([minutes, (await post('open', TEXT, headers)).status]).to.deep.equal([minutes, status]);
      }
    });

    it('is refused when any signed part was changed, or the scheme', async () => {
      const headers = sign({ id: 'msg_3' });
      const inBody = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${TEXT}`;
      const hex = createHmac('sha256', SECRET).update(inBody).digest('hex');
      // A signature of a body alone, which begins as an id and a time do.
      const id = '{"x":"';
      const text = `${id}.${headers['webhook-timestamp']}.${TEXT}`;
      const ofBody = createHmac('sha256', SECRET).update(text).digest('base64');
      for (const changed of [
        { ...headers, 'webhook-id': 'msg_4' },
        { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) },
        { ...headers, 'webhook-timestamp': '' },
        { ...headers, 'webhook-signature': headers['webhook-signature'].replace('v1,', 'v1a,') },
        { ...headers, 'webhook-signature': 'v1,' },
        { ...headers, 'webhook-signature': '' },
        { 'x-hub-signature-256': `sha256=${hex}` },
        { ...headers, 'webhook-id': id, 'webhook-signature': `v1,${ofBody}` },
      ]) {
        expect([changed, (await post('open', TEXT, changed)).status]).to.deep.equal([changed, 404]);
      }
      expect((await post('open', '{"name":"changed"}', headers)).status).to.equal(404);
      expect((await post('open', TEXT, headers)).status).to.equal(202);
    });

    it('may be signed with several secrets, and with a key of any bytes', async () => {
      const headers = sign({ id: 'msg_5', key: KEY });
      const others = `v1,${'x'.repeat(44)} v1a,${'x'.repeat(88)}`;
      const several = { ...headers, 'webhook-signature': `${others} ${headers['webhook-signature']}` };
      expect((await post('bytes', TEXT, several)).status).to.equal(202);
      expect((await post('bytes', TEXT, sign({ id: 'msg_6', key: SECRETS['BYTES'] ?? '' }))).status).to.equal(
        404,
      );
    });
  });
});
