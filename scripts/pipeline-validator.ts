import { Ajv2020 } from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { PipelineDefinition } from '../lib/definition/schema.js';

/** The validator of a definition as plain code: compiling the schema would cost each `wavetrain run` 40 ms. */
export function pipelineValidator(): Record<string, string> {
  const ajv = new Ajv2020({ allErrors: true, strict: true, code: { source: true, esm: true, lines: true } });
  const validate = ajv.compile(JSON.parse(JSON.stringify(PipelineDefinition)) as object);
  const code = standaloneCode.default(ajv, validate);
  if (code.includes('require('))
    throw new Error('the validator needs parts of ajv at run time; leave them out');
  return {
    'lib/generated/pipeline-validator.js': `// Generated from lib/definition/schema.ts by "npm run generate".\n${code}\n`,
    'lib/generated/pipeline-validator.d.ts': DECLARATION,
  };
}

const DECLARATION = `// Generated from lib/definition/schema.ts by "npm run generate".
import type { ValidateFunction } from 'ajv';

declare const validate: ValidateFunction;
export { validate };
`;
