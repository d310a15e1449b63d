/** Lazy boundary: the JSON Schemas of definitions. Imported by `schema` and `init`, because building them loads TypeBox. */
export { pipelineJsonSchema, planJsonSchema } from '../../definition/schema/json-schema.js';
