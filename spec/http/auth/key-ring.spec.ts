import { expect } from 'chai';
import { KeyRing } from '../../../lib/http/auth/key-ring.js';
import { Revocation } from '../../../lib/http/auth/revocation.js';
import type { ApiKey, Caller } from '../../../lib/http/auth/authenticate.js';
import { deferred } from '../../support/deferred.js';
import { catchRejection } from '../../support/rejection.js';
import { sha256 } from '../../support/http/api-key.js';

const keyOf = (name: string, more: Partial<ApiKey> = {}): ApiKey => ({
  name,
  sha256: sha256(name),
  tenants: ['acme'],
  scopes: ['read'],
  ...more,
});

describe('KeyRing (D37)', () => {
  let ring: KeyRing;
  const callerOf = (key: string): Caller | undefined =>
    ring.authenticate({ headersDistinct: { 'x-api-key': [key] } });

  beforeEach(() => {
    ring = new KeyRing([keyOf('ann'), keyOf('bob')], false);
  });

  it('accepts the keys that it was given last, and no others', () => {
    const changes = ring.replace([keyOf('ann'), keyOf('cyd')]);
    expect(changes).to.deep.equal({ added: ['cyd'], removed: ['bob'], changed: [] });
    expect(callerOf('bob')).to.equal(undefined);
    expect(callerOf('cyd')?.name).to.equal('cyd');
  });

  it('revokes keys that are gone or changed, and no others', () => {
    const [ann, bob] = [callerOf('ann'), callerOf('bob')];
    expect(ring.replace([keyOf('ann'), keyOf('bob', { scopes: ['read', 'run'] })]).changed).to.deep.equal([
      'bob',
    ]);
    expect(bob?.revocation?.isRevoked).to.equal(true);
    expect(ann?.revocation?.isRevoked).to.equal(false);
    expect(callerOf('bob')?.revocation?.isRevoked).to.equal(false);
    ring.replace([keyOf('bob', { scopes: ['read', 'run'] })]);
    expect(ann?.revocation?.isRevoked).to.equal(true);
  });

  it('calls another key of the same name a changed one', () => {
    const changes = ring.replace([keyOf('ann', { sha256: sha256('other') }), keyOf('bob')]);
    expect(changes).to.deep.equal({ added: [], removed: [], changed: ['ann'] });
    expect(callerOf('ann')).to.equal(undefined);
  });

  it('has nothing to revoke without keys', () => {
    expect(new KeyRing(undefined, true).authenticate({ headersDistinct: {} })?.revocation).to.equal(
      undefined,
    );
  });
});

describe('Revocation (D37)', () => {
  it('ends each thing that is open once, and at once what is opened later', () => {
    const revocation = new Revocation();
    const ended: string[] = [];
    revocation.onRevoked(() => void ended.push('stream'));
    const forget = revocation.onRevoked(() => void ended.push('forgotten'));
    forget();
    revocation.revoke();
    revocation.revoke();
    revocation.onRevoked(() => void ended.push('late'));
    expect(ended).to.deep.equal(['stream', 'late']);
  });

  it('ends the wait for work with unauthorized, unless the work is done before', async () => {
    const revocation = new Revocation();
    expect(await revocation.during(Promise.resolve(1))).to.equal(1);
    const { promise } = deferred<void>();
    const waiting = catchRejection(revocation.during(promise));
    revocation.revoke();
    expect(await waiting).to.include({ code: 'unauthorized' });
  });
});
