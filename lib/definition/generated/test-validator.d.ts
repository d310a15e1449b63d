// Generated from lib/definition/schema/test-schema.ts by "npm run generate".
import type { ValidateFunction } from 'ajv';

declare const validate: ValidateFunction;
export { validate };
