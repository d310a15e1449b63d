import { ToolError } from '../../../common/errors.js';
import { joinFirst } from '../../../common/text.js';
import { validateInputs } from '../../inputs/validate.js';
import { type DataSource, defineTool, type Registries } from '../../tool.js';

/** Maximum number of sources in an error message. */
const MAX_LISTED_SOURCES = 20;

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
  run({ source: name, ...inputs }, context, registries) {
    const source = findSource(name, registries?.sources ?? new Map());
    const validated = validateInputs(source, inputs);
    if (validated.ok) return source.run(validated.inputs, context);
    throw ToolError.nonRetryable(`source "${name}": ${validated.errors.join('; ')}`);
  },
});

/** @throws ToolError, not retryable, that lists the sources */
function findSource(name: string, sources: Registries['sources']): DataSource {
  const source = sources.get(name);
  if (source !== undefined) return source;
  const names = joinFirst([...sources.keys()].sort(), MAX_LISTED_SOURCES);
  throw ToolError.nonRetryable(`there is no source "${name}"; the sources are ${names}`);
}
