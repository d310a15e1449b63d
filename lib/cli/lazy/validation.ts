/** What it takes to check a definition, to be imported when one is checked: YAML costs more than a short command. */
export { kindOfDefinition } from '../../definition/schema/root.js';
export { resolveParams } from '../../definition/params.js';
export { readSource } from '../../definition/text/source.js';
export { checkPipelineSource } from '../../pipelines/check.js';
export { reportOf } from '../../pipelines/report.js';
export { builtinCatalog } from '../../tools/catalog.js';
