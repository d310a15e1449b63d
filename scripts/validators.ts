import { Ajv2020 } from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { PlanDefinition } from '../lib/definition/schema/plan-schema.js';
import { PipelineDefinition } from '../lib/definition/schema/schema.js';

/** The validators of definitions as plain code: compiling a schema would cost each `wavetrain run` 40 ms. */
export function validators(): Record<string, string> {
  return {
    ...validatorOf(PipelineDefinition, 'pipeline-validator', 'lib/definition/schema/schema.ts'),
    ...validatorOf(PlanDefinition, 'plan-validator', 'lib/definition/schema/plan-schema.ts'),
  };
}

function validatorOf(schema: object, name: string, origin: string): Record<string, string> {
  const ajv = new Ajv2020({
    allErrors: true,
    strict: true,
    // Text is either empty or not: counting characters as people do would take code of ajv's. It warns of that.
    unicode: false,
    logger: false,
    code: { source: true, esm: true, lines: true },
  });
  const validate = ajv.compile(JSON.parse(JSON.stringify(schema)) as object);
  const code = standaloneCode.default(ajv, validate);
  if (code.includes('require('))
    throw new Error(`the ${name} needs parts of ajv at run time; leave them out of its schema`);
  const heading = `// Generated from ${origin} by "npm run generate".\n`;
  return {
    [`lib/definition/generated/${name}.js`]: `${heading}${code}\n`,
    [`lib/definition/generated/${name}.d.ts`]: `${heading}${DECLARATION}`,
  };
}

const DECLARATION = `import type { ValidateFunction } from 'ajv';

declare const validate: ValidateFunction;
export { validate };
`;
