import Type from 'typebox';
import type { RunArtifact } from '../../execution/results.js';
import type { ArtifactPage } from '../../runs/run-files.js';
import { count, nullable, schemaFor } from './wire.js';

export const RunArtifactSchema = schemaFor<RunArtifact>()(
  Type.Object(
    {
      name: Type.String({ description: 'Unique in the run.' }),
      sub_pipeline: Type.Optional(Type.String({ description: 'Only in a run of a plan.' })),
      task_id: Type.String({ description: 'The task that made the file, or ran the pipeline that did.' }),
      item: Type.Optional(count('Index of the item of a fan-out, from 0.')),
      media_type: Type.String({ description: 'As in `text/csv`.' }),
      size: count('In bytes.'),
    },
    { title: 'RunArtifact', description: 'A file that a tool has written, or bytes that it has returned.' },
  ),
);

export const ArtifactPageSchema = schemaFor<ArtifactPage>()(
  Type.Object(
    {
      artifacts: Type.Array(RunArtifactSchema, { description: 'In the order of their names.' }),
      total: count('Number of files of the run.'),
      next_cursor: nullable(Type.String({ description: 'Send it as `cursor` to get the next page.' })),
    },
    { title: 'ArtifactPage' },
  ),
);
