import { createSecEdgar } from './sec-edgar.js';
import { createUrlSource } from './url.js';
import { fileSource } from './file.js';
import { callRegistered } from '../../../inputs/validate.js';
import { shapeOfRegistered } from '../../../schemas/output-shape.js';
import { type DataSource, defineTool } from '../../../tool.js';

/** The sources that come with the package (D49); `sec` and `edgar` are short names of `sec_edgar`. */
export const BUILTIN_SOURCES: readonly DataSource[] = [fileSource, createUrlSource(), ...createSecEdgar()];

/** Reads data from a source of the catalog (D49): those that come with the package, and those of tool files. */
export const fetchData = defineTool({
  name: 'fetch_data',
  description: 'Reads data from a registered source with the other inputs',
  inputs: {
    source: {
      type: 'string',
      registry: 'sources',
      required: true,
      description: 'the name of the source; all other inputs are for it',
    },
  },
  openInputs: true,
  output: {
    name: 'data',
    description:
      'what the source gives; of the sources that are always there, status and source, and the data',
    type: 'any',
  },
  deriveOutput: ({ source, ...inputs }, shapeOf, registries) =>
    shapeOfRegistered(registries?.sources, source, inputs, shapeOf),
  run({ source: name, ...inputs }, context, registries) {
    return callRegistered('source', registries?.sources, name, inputs, context);
  },
});
