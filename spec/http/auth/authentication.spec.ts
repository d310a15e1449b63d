import { request } from 'node:http';
import { expect } from 'chai';
import {
  ANONYMOUS,
  type ApiKey,
  type Caller,
  createAuthenticator,
} from '../../../lib/http/auth/authenticate.js';
import { sha256 } from '../../support/http/api-key.js';
import { suiteServer } from '../support/suite-server.js';

const READER = 'wt_reader-key';
const ADMIN = 'wt_admin-key';
const UMLAUT = 'schlüssel';

const KEYS: ApiKey[] = [
  { name: 'reader', sha256: sha256(READER), tenants: ['acme'], scopes: ['read'] },
  { name: 'Ädmin ☂', sha256: sha256(ADMIN), tenants: ['*'], scopes: ['read', 'run', 'metrics'] },
  { name: 'umlaut', sha256: sha256(UMLAUT), tenants: ['acme'], scopes: ['read'] },
];

describe('API key authentication (D37)', () => {
  describe('createAuthenticator', () => {
    const authenticateRequest = createAuthenticator(KEYS, false);
    const authenticate = (headers: NodeJS.Dict<string | string[]>): Caller | undefined => {
      const lists = Object.entries(headers).map(([name, value]) => [name, [value].flat()]);
      return authenticateRequest({ headersDistinct: Object.fromEntries(lists) });
    };
    const callerName = (headers: NodeJS.Dict<string | string[]>): string | null | undefined =>
      authenticate(headers)?.name;

    it('finds the caller of a key in either header, with its tenants and scopes', () => {
      expect(authenticate({ authorization: `Bearer ${READER}` })).to.deep.equal({
        name: 'reader',
        tenants: ['acme'],
        scopes: ['read'],
      });
      expect(authenticate({ 'x-api-key': ADMIN })).to.include({ name: 'Ädmin ☂', tenants: null });
    });

    const SENT: [what: string, headers: NodeJS.Dict<string | string[]>, name: string | undefined][] = [
      ['nothing', {}, undefined],
      ['an unknown key', { 'x-api-key': 'wt_other' }, undefined],
      ['an empty key', { 'x-api-key': '' }, undefined],
      ['a key and a bit', { 'x-api-key': `${READER}x` }, undefined],
      ['the hash in place of the key', { 'x-api-key': sha256(READER) }, undefined],
      ['a key of 15,000 characters', { 'x-api-key': 'x'.repeat(15_000) }, undefined],
      ['the scheme in other letters', { authorization: `bEARER   ${READER} ` }, 'reader'],
      ['the scheme alone', { authorization: 'Bearer' }, undefined],
      ['no scheme', { authorization: READER }, undefined],
      ['another scheme', { authorization: `Basic ${READER}` }, undefined],
      ['another scheme beside a key', { authorization: 'Basic eDp5', 'x-api-key': READER }, 'reader'],
      ['the same key both ways', { authorization: `Bearer ${READER}`, 'x-api-key': READER }, 'reader'],
      ['two keys that are known', { authorization: `Bearer ${READER}`, 'x-api-key': ADMIN }, undefined],
      ['a known key and another', { authorization: `Bearer ${READER}`, 'x-api-key': 'x' }, undefined],
      ['a known key and none', { authorization: 'Bearer', 'x-api-key': READER }, undefined],
      ['two bearers', { authorization: [`Bearer ${READER}`, `Bearer ${ADMIN}`] }, undefined],
      ['two keys in one header', { 'x-api-key': `${READER}, ${ADMIN}` }, undefined],
      ['the same header twice', { 'x-api-key': [READER, READER] }, 'reader'],
      ['bytes of UTF-8', { 'x-api-key': Buffer.from(UMLAUT).toString('latin1') }, 'umlaut'],
    ];
    for (const [what, headers, name] of SENT) {
      it(`${name === undefined ? 'rejects' : `authenticates ${name} by`} ${what}`, () =>
        expect(callerName(headers)).to.equal(name));
    }

    it('returns the anonymous caller when the server has no keys', () => {
      expect(createAuthenticator(undefined, false)({ headersDistinct: { 'x-api-key': ['x'] } })).to.equal(
        ANONYMOUS,
      );
      expect(createAuthenticator(undefined, true)({ headersDistinct: {} })?.scopes).to.include('admin');
      expect(ANONYMOUS.scopes).to.not.include('admin');
      expect(createAuthenticator([], true)({ headersDistinct: { 'x-api-key': ['x'] } })).to.equal(undefined);
    });
  });

  describe('over HTTP', () => {
    const server = suiteServer({ keys: KEYS });

    it('responds to a request without a key with 401, WWW-Authenticate and an error body (D32)', async () => {
      const { status, headers, body } = await server.request('GET', '/pipelines/runs');
      expect(status).to.equal(401);
      expect(headers.get('www-authenticate')).to.equal('Bearer');
      expect(body).to.have.nested.property('detail.code', 'unauthorized');
    });

    it('allows what the scopes of a key permit, and responds to the rest with 403', async () => {
      const clientRequest = { authorization: `Bearer ${READER}` };
      expect((await server.request('GET', '/pipelines/runs', undefined, clientRequest)).status).to.equal(200);
      const run = await server.request('POST', '/pipelines/run', { pipeline: {} }, clientRequest);
      expect(run.status).to.equal(403);
      expect(run.headers.get('www-authenticate')).to.equal(null);
      expect(run.body).to.have.nested.property('detail.code', 'forbidden');
    });

    it('serves GET /health without a key', async () => {
      expect((await server.request('GET', '/health')).status).to.equal(200);
    });

    it('ignores keys in the query', async () => {
      for (const name of ['key', 'api_key', 'x-api-key', 'access_token']) {
        expect((await server.request('GET', `/pipelines/runs?${name}=${ADMIN}`)).status).to.equal(401);
      }
    });

    it('rejects two Authorization headers, even if both keys are valid', async () => {
      const status = await new Promise<number | undefined>((resolve, reject) => {
        const clientRequest = request(`${server.url}/pipelines/runs`, (response) => {
          response.resume();
          resolve(response.statusCode);
        });
        clientRequest.setHeader('Authorization', [`Bearer ${READER}`, `Bearer ${ADMIN}`]);
        clientRequest.on('error', reject).end();
      });
      expect(status).to.equal(401);
    });

    it('logs the name of a key and never the key, wherever it was sent', async () => {
      const headers = { authorization: `Bearer ${ADMIN}` };
      await server.request('GET', `/pipelines/runs?key=${ADMIN}`, undefined, headers);
      await server.request('GET', `/nowhere?key=${ADMIN}`, undefined, { 'x-api-key': ADMIN });
      await server.request('POST', '/pipelines/validate', `{"key": "${ADMIN}`, {
        ...headers,
        'content-type': 'application/json',
      });
      const log = JSON.stringify(server.log);
      expect(log).to.contain('Ädmin ☂').and.to.contain('/nowhere');
      for (const key of [READER, ADMIN, sha256(ADMIN)]) expect(log).not.to.contain(key);
    });
  });
});
