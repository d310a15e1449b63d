import { Ajv2020 } from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { MAX_PROBLEMS } from '../lib/definition/problems/problem.js';
import { PlanDefinition } from '../lib/definition/schema/plan-schema.js';
import { PipelineDefinition } from '../lib/definition/schema/schema.js';
import { TestFileDefinition } from '../lib/definition/schema/test-schema.js';

/** Generates the validators of definitions as code, since compiling the schemas would add 40 ms to `wavetrain run`. */
export function generateValidators(): Record<string, string> {
  return {
    ...generateValidator(PipelineDefinition, 'pipeline-validator', 'lib/definition/schema/schema.ts'),
    ...generateValidator(PlanDefinition, 'plan-validator', 'lib/definition/schema/plan-schema.ts'),
    ...generateValidator(TestFileDefinition, 'test-validator', 'lib/definition/schema/test-schema.ts'),
  };
}

function generateValidator(schema: object, name: string, origin: string): Record<string, string> {
  const ajv = new Ajv2020({
    allErrors: true,
    strict: true,
    allowUnionTypes: true,
    // The schemas only require non-empty strings; counting code points would need ajv's run-time code.
    unicode: false,
    logger: false,
    code: { source: true, esm: true, lines: true },
  });
  const validate = ajv.compile(JSON.parse(JSON.stringify(schema)) as object);
  const code = standaloneCode.default(ajv, validate);
  if (code.includes('require('))
    throw new Error(`the ${name} needs ajv at run time: remove the keyword that requires it from the schema`);
  if (code.includes('_errs'))
    throw new Error(`the ${name} takes errors back: its errors cannot be counted up to a limit`);
  const heading = `// Generated from ${origin} by "npm run generate".\n`;
  return {
    [`lib/definition/generated/${name}.js`]: `${heading}${limitErrors(code)}\n`,
    [`lib/definition/generated/${name}.d.ts`]: `${heading}${DECLARATION}`,
  };
}

/** Ends the validation after more errors than are reported: a caller can cause hundreds of thousands. */
function limitErrors(code: string): string {
  const [, name] = /^export const validate = (\w+);$/m.exec(code) ?? [];
  return code.replaceAll(
    'errors++;',
    `if(++errors > ${MAX_PROBLEMS}){\n${name}.errors = vErrors;\nreturn false;\n}`,
  );
}

const DECLARATION = `import type { ValidateFunction } from 'ajv';

declare const validate: ValidateFunction;
export { validate };
`;
