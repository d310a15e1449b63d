import fc from 'fast-check';
import { isObject } from '../../../lib/common/json/json.js';

type Kind = 'replace' | 'remove' | 'add' | 'rename';

interface Mutation {
  readonly kind: Kind;
  /** Selects one of the places in the value. */
  readonly place: number;
  readonly garbage: unknown;
}

/** Values that nobody expects in a request. */
export const GARBAGE: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, -1, -0, 1.5, 2 ** 53, 1e308, -1e308, 5e-324),
  fc.constantFrom(
    '',
    ' ',
    '\u0000',
    '\ud800',
    '😀',
    '__proto__',
    'constructor',
    '{{',
    '{{a.output}}',
    '\\{{',
  ),
  fc.constantFrom(
    '{{session.x ?? "y"}}',
    '{{params.p}}',
    '{{item}}',
    '../../etc',
    '${7}',
    '%00',
    '\r\nX: y',
    'Infinity',
  ),
  fc.constantFrom<unknown>([], {}, [[]], [{}], { '': null }, JSON.parse('{"__proto__": {"a": 1}}')),
  fc.integer({ min: 1, max: 990 }).map(nested),
  fc.integer({ min: 1, max: 5000 }).map((length) => 'a'.repeat(length)),
  fc.string({ unit: 'binary' }),
  fc.jsonValue(),
);

const MUTATION: fc.Arbitrary<Mutation> = fc.record({
  kind: fc.constantFrom<Kind[]>('replace', 'replace', 'remove', 'add', 'rename'),
  place: fc.nat(),
  garbage: GARBAGE,
});

/** The same values, with something wrong in about half of them. */
export function mutateSome(values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const few = fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    fc.array(MUTATION, { minLength: 1, maxLength: 3 }),
  );
  return fc.tuple(values, few).map(([value, mutations]) => mutations.reduce(mutated, value));
}

function nested(depth: number): unknown {
  let value: unknown = 'deep';
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { in: value };
  return value;
}

/** Everything that holds something, with the name under which it holds it. */
function listLocations(value: unknown, depth = 0): { readonly holder: object; readonly key: string }[] {
  if (typeof value !== 'object' || value === null || depth > 20) return [];
  return Object.keys(value).flatMap((key) => [
    { holder: value, key },
    ...listLocations((value as Record<string, unknown>)[key], depth + 1),
  ]);
}

function mutated(value: unknown, { kind, place, garbage }: Mutation): unknown {
  const copy = structuredClone(value);
  const places = listLocations(copy);
  const chosen = places[place % (places.length + 1)];
  if (chosen === undefined) return garbage;
  const holder = chosen.holder as Record<string, unknown>;
  const before = holder[chosen.key];
  if (kind === 'remove')
    Array.isArray(holder) ? holder.splice(Number(chosen.key), 1) : delete holder[chosen.key];
  else if (kind === 'add' && isObject(before)) before['extra'] = garbage;
  else if (kind === 'rename' && !Array.isArray(holder)) {
    delete holder[chosen.key];
    holder[`${chosen.key}s`] = before;
  } else holder[chosen.key] = garbage;
  return copy;
}
