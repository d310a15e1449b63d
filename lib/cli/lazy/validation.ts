/** Lazy boundary: reads and checks definitions. Imported when a command needs one, because loading YAML takes longer than a short command. */
export { resolveParams } from '../../definition/params.js';
export { detectKindOfText, findRoot } from '../../definition/schema/root.js';
export { formatShape } from '../../definition/shapes/format-shape.js';
export { readSource } from '../../definition/text/source.js';
export { createCheckContext } from '../../pipelines/check-context.js';
export { checkSource } from '../../pipelines/check.js';
export { createReport } from '../../pipelines/report.js';
export { createSearchWeb } from '../../tools/builtin/web/search-web.js';
export { createSecEdgar } from '../../tools/builtin/web/fetch-data/sec-edgar.js';
export { builtinCatalog } from '../../tools/catalog.js';
