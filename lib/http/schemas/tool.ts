import Type from 'typebox';
import type { ToolMetadata } from '../../tools/catalog.js';
import { json, wire } from './wire.js';

const ToolMetadataSchema = wire<ToolMetadata>()(
  Type.Object(
    {
      name: Type.String(),
      description: Type.String(),
      inputs: Type.Record(
        Type.String(),
        Type.Object({
          name: Type.String(),
          description: Type.String(),
          required: Type.Boolean(),
          default: json('Used when the input is not given; null when there is none.'),
          type: Type.Optional(Type.String()),
          enum: Type.Optional(Type.Array(json('An allowed value.'))),
          verbatim: Type.Optional(
            Type.Literal(true, {
              description: 'A list or an object is taken as it is written, templates and all.',
            }),
          ),
        }),
      ),
      output: Type.Object({ name: Type.String(), description: Type.String(), type: Type.String() }),
    },
    { title: 'ToolMetadata' },
  ),
);

export const ToolListSchema = Type.Object(
  { tools: Type.Array(Type.String()), metadata: Type.Array(ToolMetadataSchema) },
  { title: 'ToolList' },
);
