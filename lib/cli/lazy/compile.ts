/** Lazy boundary: has a language model write a definition. Imported by `compile` alone, because it loads XState and the models. */
export { compile } from '../../compile/compile.js';
export { CompileFailedError } from '../../compile/result.js';
export { createModels } from '../../models/create-models.js';
