/** Lazy boundary: what looks at a folder of pipelines. Imported by doctor. */
export { countDefinitionFiles } from '../../library/list-files.js';
