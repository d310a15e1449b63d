import { deepStrictEqual, strictEqual } from 'node:assert';
import type { Blackboard } from '../blackboard/blackboard.js';
import type { ConformanceCase } from './conformance.js';

export interface BlackboardSuiteOptions {
  /** A blackboard with nothing on it, made anew for every case. */
  readonly create: () => Blackboard | Promise<Blackboard>;
}

/** What every blackboard must do (Blackboard, rules 1 to 5; D23). */
export function blackboardSuite({ create }: BlackboardSuiteOptions): readonly ConformanceCase[] {
  const cases: [string, (blackboard: Blackboard) => Promise<void>][] = [
    ['gives nothing for a tenant that never wrote', givesNothing],
    ['gives back what was written', givesBack],
    ['reads only the keys asked for, and of those only the ones that exist', readsMany],
    ['overwrites without append', overwrites],
    ['appends to a list, making it when the key is absent', appends],
    ['appends to a value that is no list by making it the first of two (D23)', appendsToValue],
    ['keeps every one of many appends made at once, in the order of the calls', appendsAtOnce],
    ['keeps every one of many writes to different keys made at once', writesAtOnce],
    ['keeps writes and appends of different tenants made at once', tenantsAtOnce],
    ['appends to what an overwritten list was replaced with', appendsAfterOverwriting],
    ['gives a key that is asked for twice once', readsTwice],
    ['keeps tenants apart (rule 1)', keepsTenantsApart],
    ['takes any name for a tenant or key', takesAnyName],
    ['holds every kind of JSON value', holdsJson],
    ['does not let a reader change what stands', isNotChangedByReaders],
    ['does not change what a reader holds by a later append', doesNotChangeReaders],
  ];
  return cases.map(([title, check]) => ({
    title,
    run: async () => leavingPrototypesAlone(async () => check(await create())),
  }));
}

/** A blackboard that takes a name for a property of every object would break whatever runs after it. */
async function leavingPrototypesAlone(check: () => Promise<void>): Promise<void> {
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
    'a tenant or key called "__proto__" changed every object of the process: keep them in a Map, or in objects made by Object.create(null)',
  );
  if (thrown !== undefined) throw thrown;
}

async function givesNothing(blackboard: Blackboard): Promise<void> {
  deepStrictEqual(entries(await blackboard.get_all('nobody')), []);
  deepStrictEqual(entries(await blackboard.read_many('nobody', ['a'])), []);
}

async function givesBack(blackboard: Blackboard): Promise<void> {
  await blackboard.write('t', 'a', 1);
  await blackboard.write('t', 'b', { deep: [true] });
  deepStrictEqual(entries(await blackboard.get_all('t')), [
    ['a', 1],
    ['b', { deep: [true] }],
  ]);
}

async function readsMany(blackboard: Blackboard): Promise<void> {
  await blackboard.write('t', 'a', 1);
  await blackboard.write('t', 'b', 2);
  deepStrictEqual(entries(await blackboard.read_many('t', ['b', 'absent'])), [['b', 2]]);
  deepStrictEqual(entries(await blackboard.read_many('t', [])), []);
}

async function overwrites(blackboard: Blackboard): Promise<void> {
  await blackboard.write('t', 'a', [1]);
  await blackboard.write('t', 'a', 2);
  await blackboard.write('t', 'a', 3, false);
  strictEqual((await blackboard.get_all('t'))['a'], 3);
}

async function appends(blackboard: Blackboard): Promise<void> {
  await blackboard.write('t', 'a', 'x', true);
  deepStrictEqual((await blackboard.get_all('t'))['a'], ['x']);
  await blackboard.write('t', 'a', ['y'], true);
  deepStrictEqual((await blackboard.get_all('t'))['a'], ['x', ['y']]);
}

async function appendsToValue(blackboard: Blackboard): Promise<void> {
  await blackboard.write('t', 'a', null);
  await blackboard.write('t', 'a', 1, true);
  deepStrictEqual((await blackboard.get_all('t'))['a'], [null, 1]);
}

async function appendsAtOnce(blackboard: Blackboard): Promise<void> {
  const values = Array.from({ length: 200 }, (_, i) => i);
  await Promise.all(values.map((value) => blackboard.write('t', 'a', value, true)));
  deepStrictEqual((await blackboard.get_all('t'))['a'], values);
}

async function writesAtOnce(blackboard: Blackboard): Promise<void> {
  const keys = Array.from({ length: 50 }, (_, i) => `k${i}`);
  const appending = keys.map((key) => blackboard.write('t', 'list', key, true));
  await Promise.all([...appending, ...keys.map((key, i) => blackboard.write('t', key, i))]);
  const { list, ...others } = await blackboard.get_all('t');
  deepStrictEqual(list, keys);
  deepStrictEqual(others, Object.fromEntries(keys.map((key, i) => [key, i])));
}

async function tenantsAtOnce(blackboard: Blackboard): Promise<void> {
  const tenants = Array.from({ length: 20 }, (_, i) => `t${i}`);
  await Promise.all(
    tenants.flatMap((tenant) => [
      blackboard.write(tenant, 'a', tenant),
      blackboard.write(tenant, 'list', null, true),
      blackboard.write(tenant, 'list', tenant, true),
    ]),
  );
  for (const tenant of tenants) {
    deepStrictEqual(entries(await blackboard.get_all(tenant)), [
      ['a', tenant],
      ['list', [null, tenant]],
    ]);
  }
}

async function appendsAfterOverwriting(blackboard: Blackboard): Promise<void> {
  await blackboard.write('t', 'a', 1, true);
  await blackboard.write('t', 'a', 2, true);
  await blackboard.write('t', 'a', [3]);
  await blackboard.write('t', 'a', 4, true);
  deepStrictEqual((await blackboard.get_all('t'))['a'], [3, 4]);
}

async function readsTwice(blackboard: Blackboard): Promise<void> {
  await blackboard.write('t', 'a', 1);
  deepStrictEqual(entries(await blackboard.read_many('t', ['a', 'a'])), [['a', 1]]);
}

async function keepsTenantsApart(blackboard: Blackboard): Promise<void> {
  await blackboard.write('one', 'a', 1);
  await blackboard.write('two', 'a', 2);
  await blackboard.write('one', 'list', 1, true);
  deepStrictEqual(entries(await blackboard.get_all('one')), [
    ['a', 1],
    ['list', [1]],
  ]);
  deepStrictEqual(entries(await blackboard.get_all('two')), [['a', 2]]);
}

async function takesAnyName(blackboard: Blackboard): Promise<void> {
  const names = ['__proto__', 'constructor', 'toString', '', 'ä/ö', 'a.b', '0'];
  for (const tenant of names)
    for (const key of names) await blackboard.write(tenant, key, `${tenant}|${key}`);
  for (const tenant of names) {
    const all = await blackboard.get_all(tenant);
    deepStrictEqual(Object.keys(all).sort(), [...names].sort());
    const some = await blackboard.read_many(tenant, names);
    for (const key of names) {
      strictEqual(Object.getOwnPropertyDescriptor(all, key)?.value, `${tenant}|${key}`);
      strictEqual(Object.getOwnPropertyDescriptor(some, key)?.value, `${tenant}|${key}`);
    }
  }
  strictEqual(({} as Record<string, unknown>)['__proto__|__proto__'], undefined);
}

async function holdsJson(blackboard: Blackboard): Promise<void> {
  const value = { text: 'ä', number: 1.5, none: null, yes: true, list: [[], {}], empty: '' };
  await blackboard.write('t', 'a', value);
  deepStrictEqual((await blackboard.get_all('t'))['a'], value);
}

async function isNotChangedByReaders(blackboard: Blackboard): Promise<void> {
  await blackboard.write('t', 'a', 1);
  const read = await blackboard.get_all('t');
  read['a'] = 2;
  read['b'] = 3;
  deepStrictEqual(entries(await blackboard.get_all('t')), [['a', 1]]);
}

async function doesNotChangeReaders(blackboard: Blackboard): Promise<void> {
  await blackboard.write('t', 'a', 1, true);
  const before = (await blackboard.get_all('t'))['a'];
  await blackboard.write('t', 'a', 2, true);
  deepStrictEqual(before, [1]);
}

function entries(record: Record<string, unknown>): [string, unknown][] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}
