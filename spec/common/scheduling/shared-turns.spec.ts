import { expect } from 'chai';
import { type EndTurn, SharedTurns } from '../../../lib/common/scheduling/shared-turns.js';
import { settle } from '../../support/deferred.js';

describe('SharedTurns (D25)', () => {
  let turns: SharedTurns;
  let begun: string[];
  let ends: Map<string, EndTurn>;

  beforeEach(() => {
    turns = new SharedTurns({ total: 2, guaranteed: 1 });
    begun = [];
    ends = new Map();
  });

  /** Takes turns, each under the name of its tenant and a number. */
  async function take(...names: readonly string[]): Promise<void> {
    for (const name of names) {
      void turns.take(name.split(' ')[0] ?? '').then((end) => {
        begun.push(name);
        ends.set(name, end);
      });
    }
    await settle();
  }

  async function end(name: string): Promise<void> {
    ends.get(name)?.();
    await settle();
  }

  it('lets a tenant have two turns at once, and its others wait in their order', async () => {
    await take('alice 1', 'alice 2', 'alice 3', 'alice 4');
    expect(begun).to.deep.equal(['alice 1', 'alice 2']);
    await end('alice 2');
    expect(begun).to.deep.equal(['alice 1', 'alice 2', 'alice 3']);
    await end('alice 1');
    expect(begun.at(-1)).to.equal('alice 4');
  });

  it('lets another tenant have one while the first has used up all, but no more than four in all', async () => {
    await take('alice 1', 'alice 2', 'alice 3', 'bob 1', 'bob 2', 'carol 1', 'dave 1');
    expect(begun).to.deep.equal(['alice 1', 'alice 2', 'bob 1', 'carol 1']);
    await end('alice 1');
    expect(begun.at(-1)).to.equal('dave 1');
  });

  it('serves the tenants that wait in turns', async () => {
    await take('alice 1', 'alice 2', 'alice 3', 'alice 4', 'bob 1', 'bob 2');
    for (const name of ['alice 1', 'alice 2', 'bob 1']) await end(name);
    expect(begun.slice(3)).to.deep.equal(['alice 3', 'bob 2']);
  });

  it('gives a tenant its guaranteed turn as soon as it has none, even if another takes the one that was left', async () => {
    await take('alice 1', 'alice 2', 'bob 1', 'bob 2', 'alice 3');
    await end('alice 1');
    expect(begun).to.deep.equal(['alice 1', 'alice 2', 'bob 1']);
    await end('alice 2');
    expect(begun.slice(3)).to.deep.equal(['bob 2', 'alice 3']);
  });

  it('ends a turn once, however often that is said', async () => {
    await take('alice 1', 'alice 2', 'alice 3', 'alice 4');
    await end('alice 1');
    await end('alice 1');
    expect(begun).to.deep.equal(['alice 1', 'alice 2', 'alice 3']);
  });
});
