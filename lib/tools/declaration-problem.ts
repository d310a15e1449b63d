import { nearest } from '../definition/suggest.js';
import { schemaError } from '../common/json-schema/ajv.js';
import { isFlat } from './inputs/flat-check.js';
import { inputSchemaOf, SAME_WORDS } from './inputs/input-schema.js';
import type { InputDeclaration } from './tool.js';

/** Declarations that no compiler has seen. */
export type ForeignDeclarations = Readonly<Record<string, Partial<InputDeclaration>>>;

const WORDS: readonly string[] = ['description', 'required', 'enum', 'verbatim', ...SAME_WORDS];

/** What is wrong with the declared inputs of a tool; undefined when they are sound. */
export function declarationProblem(inputs: ForeignDeclarations): string | undefined {
  for (const [name, declared] of Object.entries(inputs)) {
    const problem = wordProblem(declared);
    if (problem !== undefined) return `its input "${name}" ${problem}`;
  }
  if (isFlat(inputs)) return undefined;
  const problem = schemaError(inputSchemaOf({ inputs, openInputs: false }));
  return problem === undefined ? undefined : `its inputs make no JSON Schema: ${problem}`;
}

function wordProblem(declared: Partial<InputDeclaration>): string | undefined {
  const unknown = Object.keys(declared).find((word) => !WORDS.includes(word));
  if (unknown !== undefined) {
    const meant = nearest(unknown, WORDS);
    return `says "${unknown}", ${meant === undefined ? `but only ${WORDS.join(', ')} are known` : `and means "${meant}"?`}`;
  }
  const { required, verbatim, description } = declared;
  if (required !== undefined && typeof required !== 'boolean') return 'must say required: true or false';
  if (verbatim !== undefined && typeof verbatim !== 'boolean') return 'must say verbatim: true or false';
  return description === undefined || typeof description === 'string'
    ? undefined
    : 'must have a text as description';
}
