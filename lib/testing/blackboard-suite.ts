import { deepStrictEqual, strictEqual } from 'node:assert';
import type { Blackboard } from '../execution/session/blackboard.js';
import type { ConformanceCase } from './conformance.js';

export interface BlackboardSuiteOptions {
  /** Creates an empty blackboard for each case. */
  readonly create: () => Blackboard | Promise<Blackboard>;
}

/** The requirements on every implementation of Blackboard (Blackboard, rules 1 to 5; D23). */
export function blackboardSuite({ create }: BlackboardSuiteOptions): readonly ConformanceCase[] {
  const cases: [string, (blackboard: Blackboard) => Promise<void>][] = [
    ['returns no values for a tenant without writes', testEmptyTenant],
    ['returns the written values', testReadBack],
    ['reads those of the requested keys that exist', testReadMany],
    ['overwrites a value without append', testOverwrite],
    ['appends to a list, and creates it for an absent key', testAppend],
    ['appends to a value that is not a list by making it the first of two (D23)', testAppendToValue],
    ['keeps all concurrent appends in the order of the calls', testConcurrentAppends],
    ['keeps all concurrent writes to different keys', testConcurrentWrites],
    ['keeps concurrent writes and appends of different tenants', testConcurrentTenants],
    ['appends to the list that has overwritten another', testAppendAfterOverwrite],
    ['returns a key once that is requested twice', testDuplicateKey],
    ['isolates tenants (rule 1)', testIsolation],
    ['accepts any string as a tenant or key', testAnyName],
    ['stores every kind of JSON value', testJsonValues],
    ['is not changed through the objects that it returns', testReaderIsolation],
    ['does not change a returned list by a later append', testAppendAfterRead],
  ];
  return cases.map(([title, check]) => ({
    title,
    run: async () => assertPrototypesUnchanged(async () => check(await create())),
  }));
}

/** Detects a blackboard that writes the key `__proto__` into the prototype of all objects, and cleans up after it. */
async function assertPrototypesUnchanged(check: () => Promise<void>): Promise<void> {
  const before = new Set(Object.getOwnPropertyNames(Object.prototype));
  let thrown: unknown;
  await check().catch((error: unknown) => {
    thrown = error;
  });
  const added = Object.getOwnPropertyNames(Object.prototype).filter((name) => !before.has(name));
  for (const name of added) Reflect.deleteProperty(Object.prototype, name);
  strictEqual(
    added.join(', '),
    '',
    'a tenant or key named "__proto__" changed the prototype of all objects: store values in a Map, or in objects created by Object.create(null)',
  );
  if (thrown !== undefined) throw thrown;
}

async function testEmptyTenant(blackboard: Blackboard): Promise<void> {
  deepStrictEqual(sortedEntries(await blackboard.getAll('nobody')), []);
  deepStrictEqual(sortedEntries(await blackboard.readMany('nobody', ['a'])), []);
}

async function testReadBack(blackboard: Blackboard): Promise<void> {
  await blackboard.write('t', 'a', 1);
  await blackboard.write('t', 'b', { deep: [true] });
  deepStrictEqual(sortedEntries(await blackboard.getAll('t')), [
    ['a', 1],
    ['b', { deep: [true] }],
  ]);
}

async function testReadMany(blackboard: Blackboard): Promise<void> {
  await blackboard.write('t', 'a', 1);
  await blackboard.write('t', 'b', 2);
  deepStrictEqual(sortedEntries(await blackboard.readMany('t', ['b', 'absent'])), [['b', 2]]);
  deepStrictEqual(sortedEntries(await blackboard.readMany('t', [])), []);
}

async function testOverwrite(blackboard: Blackboard): Promise<void> {
  await blackboard.write('t', 'a', [1]);
  await blackboard.write('t', 'a', 2);
  await blackboard.write('t', 'a', 3, false);
  strictEqual((await blackboard.getAll('t'))['a'], 3);
}

async function testAppend(blackboard: Blackboard): Promise<void> {
  await blackboard.write('t', 'a', 'x', true);
  deepStrictEqual((await blackboard.getAll('t'))['a'], ['x']);
  await blackboard.write('t', 'a', ['y'], true);
  deepStrictEqual((await blackboard.getAll('t'))['a'], ['x', ['y']]);
}

async function testAppendToValue(blackboard: Blackboard): Promise<void> {
  await blackboard.write('t', 'a', null);
  await blackboard.write('t', 'a', 1, true);
  deepStrictEqual((await blackboard.getAll('t'))['a'], [null, 1]);
}

async function testConcurrentAppends(blackboard: Blackboard): Promise<void> {
  const values = Array.from({ length: 200 }, (_, i) => i);
  await Promise.all(values.map((value) => blackboard.write('t', 'a', value, true)));
  deepStrictEqual((await blackboard.getAll('t'))['a'], values);
}

async function testConcurrentWrites(blackboard: Blackboard): Promise<void> {
  const keys = Array.from({ length: 50 }, (_, i) => `k${i}`);
  const appends = keys.map((key) => blackboard.write('t', 'list', key, true));
  await Promise.all([...appends, ...keys.map((key, i) => blackboard.write('t', key, i))]);
  const { list, ...others } = await blackboard.getAll('t');
  deepStrictEqual(list, keys);
  deepStrictEqual(others, Object.fromEntries(keys.map((key, i) => [key, i])));
}

async function testConcurrentTenants(blackboard: Blackboard): Promise<void> {
  const tenants = Array.from({ length: 20 }, (_, i) => `t${i}`);
  await Promise.all(
    tenants.flatMap((tenant) => [
      blackboard.write(tenant, 'a', tenant),
      blackboard.write(tenant, 'list', null, true),
      blackboard.write(tenant, 'list', tenant, true),
    ]),
  );
  for (const tenant of tenants) {
    deepStrictEqual(sortedEntries(await blackboard.getAll(tenant)), [
      ['a', tenant],
      ['list', [null, tenant]],
    ]);
  }
}

async function testAppendAfterOverwrite(blackboard: Blackboard): Promise<void> {
  await blackboard.write('t', 'a', 1, true);
  await blackboard.write('t', 'a', 2, true);
  await blackboard.write('t', 'a', [3]);
  await blackboard.write('t', 'a', 4, true);
  deepStrictEqual((await blackboard.getAll('t'))['a'], [3, 4]);
}

async function testDuplicateKey(blackboard: Blackboard): Promise<void> {
  await blackboard.write('t', 'a', 1);
  deepStrictEqual(sortedEntries(await blackboard.readMany('t', ['a', 'a'])), [['a', 1]]);
}

async function testIsolation(blackboard: Blackboard): Promise<void> {
  await blackboard.write('one', 'a', 1);
  await blackboard.write('two', 'a', 2);
  await blackboard.write('one', 'list', 1, true);
  deepStrictEqual(sortedEntries(await blackboard.getAll('one')), [
    ['a', 1],
    ['list', [1]],
  ]);
  deepStrictEqual(sortedEntries(await blackboard.getAll('two')), [['a', 2]]);
}

async function testAnyName(blackboard: Blackboard): Promise<void> {
  const names = ['__proto__', 'constructor', 'toString', '', 'ä/ö', 'a.b', '0'];
  for (const tenant of names)
    for (const key of names) await blackboard.write(tenant, key, `${tenant}|${key}`);
  for (const tenant of names) {
    const all = await blackboard.getAll(tenant);
    deepStrictEqual(Object.keys(all).sort(), [...names].sort());
    const some = await blackboard.readMany(tenant, names);
    for (const key of names) {
      strictEqual(Object.getOwnPropertyDescriptor(all, key)?.value, `${tenant}|${key}`);
      strictEqual(Object.getOwnPropertyDescriptor(some, key)?.value, `${tenant}|${key}`);
    }
  }
  strictEqual(({} as Record<string, unknown>)['__proto__|__proto__'], undefined);
}

async function testJsonValues(blackboard: Blackboard): Promise<void> {
  const value = { text: 'ä', number: 1.5, none: null, yes: true, list: [[], {}], empty: '' };
  await blackboard.write('t', 'a', value);
  deepStrictEqual((await blackboard.getAll('t'))['a'], value);
}

async function testReaderIsolation(blackboard: Blackboard): Promise<void> {
  await blackboard.write('t', 'a', 1);
  const read = await blackboard.getAll('t');
  read['a'] = 2;
  read['b'] = 3;
  deepStrictEqual(sortedEntries(await blackboard.getAll('t')), [['a', 1]]);
}

async function testAppendAfterRead(blackboard: Blackboard): Promise<void> {
  await blackboard.write('t', 'a', 1, true);
  const before = (await blackboard.getAll('t'))['a'];
  await blackboard.write('t', 'a', 2, true);
  deepStrictEqual(before, [1]);
}

function sortedEntries(record: Record<string, unknown>): [string, unknown][] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}
