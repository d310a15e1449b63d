import Type from 'typebox';
import { pipelineNotFound, RESERVED_IDS } from '../../../library/read-definition.js';
import type { HttpServices, LibraryServices } from '../../services.js';

/** The path of one pipeline or plan of the folder; runs and tools are found beside them. */
export const NAMED_PATH = {
  path: '/pipelines/{id}',
  reserved: RESERVED_IDS,
  params: Type.Object({
    id: Type.String({ description: 'The id of the pipeline or the plan, as in its file.' }),
  }),
} as const;

/** @throws WavetrainError `pipeline_not_found` when the server has no folder */
export function requireLibrary({ library }: HttpServices, id: string): LibraryServices {
  if (library === undefined) throw pipelineNotFound(id);
  return library;
}
