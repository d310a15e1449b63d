import { expect } from 'chai';
import { WavetrainError } from '../../../lib/common/errors.js';
import { assertAuthenticatedBinding } from '../../../lib/http/auth/authenticate.js';
import { readServerConfig } from '../../../lib/common/config/server-config.js';
import { catchRejection } from '../../support/rejection.js';
import { startTestServer } from '../../support/http/test-server.js';

const LOOPBACK = [
  '127.0.0.1',
  '127.8.9.10',
  '::1',
  '0:0:0:0:0:0:0:1',
  'localhost',
  'LocalHost',
  '::ffff:127.0.0.1',
];
const EXPOSED = [
  '0.0.0.0',
  '::',
  '10.0.0.1',
  '192.168.1.5',
  '128.0.0.1',
  '::2',
  'example.com',
  'localhost.example.com',
  '127.0.0.1.example.com',
  '0',
];

function check(host: string, hasKeys: boolean, env: Record<string, string> = {}): void {
  assertAuthenticatedBinding(readServerConfig({ SERVICE_API_HOST: host, ...env }), hasKeys);
}

describe('A server without keys (D37)', () => {
  for (const host of LOOPBACK) {
    it(`may listen on ${host}, which only this machine can reach`, () =>
      expect(() => check(host, false)).not.to.throw());
  }

  for (const host of EXPOSED) {
    it(`must not listen on ${host}, unless SERVICE_ALLOW_ANONYMOUS allows it`, () => {
      expect(() => check(host, false)).to.throw(WavetrainError, `listening on ${host}`);
      expect(() => check(host, true)).not.to.throw();
      expect(() => check(host, false, { SERVICE_ALLOW_ANONYMOUS: 'true' })).not.to.throw();
    });
  }

  it('fails to start on an address that the network can reach; the error lists the alternatives', async () => {
    const error = await catchRejection(startTestServer({ env: { SERVICE_API_HOST: '0.0.0.0' } }));
    expect(error).to.have.property('code', 'bad_usage');
    for (const words of [
      'SERVICE_API_KEYS_FILE',
      'wavetrain keys new',
      'SERVICE_ALLOW_ANONYMOUS=true',
      '127.0.0.1',
    ]) {
      expect(error).to.have.property('message').that.contains(words);
    }
  });
});
