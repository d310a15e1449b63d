import type { TSchema } from 'typebox';
import { type CompileOptions, compileSchema } from '../../common/json-schema/ajv.js';
import { describeViolation, type Nouns, violationsOf } from '../../common/json-schema/violation.js';

/** More sentences than this help nobody; the rest is counted. */
const TOLD = 10;

/** Says what is wrong with a value; undefined when nothing is. */
export type Checker = (value: unknown) => string | undefined;

/** Compiles one of our own schemas for values of one kind, which `nouns` names. */
export function checkerOf(
  schema: TSchema,
  nouns: Nouns,
  options: Omit<CompileOptions, 'isOurs'> = {},
): Checker {
  const validate = compileSchema(schema, { ...options, isOurs: true });
  return (value) => {
    if (validate(value)) return options.isText ? infinityIn(value, nouns) : undefined;
    const violations = violationsOf(validate, value);
    const told = violations.slice(0, TOLD).map((violation) => describeViolation(violation, nouns));
    if (violations.length > TOLD) told.push(`and ${violations.length - TOLD} more`);
    return told.join('; ');
  };
}

/** The validator takes the text `Infinity` for a number, and then holds no bound against it. */
function infinityIn(value: unknown, { one }: Nouns): string | undefined {
  const found = Object.entries(value ?? {}).find(([, part]) => part === Infinity || part === -Infinity);
  return found && `${one} "${found[0]}" must be a number, not Infinity`;
}
