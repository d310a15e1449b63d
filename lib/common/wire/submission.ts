import Type from 'typebox';
import type { JsonObject } from '../json/json.js';
import { anyJsonObject, described, list, nullable, text } from './shape.js';

export const EditableDefinitionSchema = described(
  'EditableDefinition',
  'What a run was submitted with. The values of secrets are masked.',
  {
    kind: Type.Enum(['pipeline', 'plan']),
    definition: anyJsonObject(
      'The definition, as a rerun takes it in `pipeline` or `plan`; that of a plan has its pipelines in it.',
    ),
    yaml: nullable(
      text(
        'The same as text: as it was sent, with its comments, or as YAML in the order of its keys. Null when that would be longer than 1 MiB.',
      ),
    ),
    yaml_source: Type.Enum(['submitted', 'generated'], {
      description:
        '`submitted` when `yaml` is the text that was sent, or that of the file of the server; `generated` when the definition came as JSON, when the text has the value of a secret, or when it is a plan without its pipelines.',
    }),
    params: anyJsonObject('The params that were sent; the others have their defaults. Empty for a plan.'),
    inputs: anyJsonObject('The inputs that were sent; the others have their defaults.'),
    session: anyJsonObject('The session values that were sent.'),
    options: Type.Unsafe<JsonObject>({ type: 'object', title: 'ExecutionOptions' }),
    plan_concurrency: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'How many sub-pipelines of a plan run at once; only when it is not what the plan says.',
      }),
    ),
  },
);

export const BlackboardSchema = described('Blackboard', 'The session of a run, before and after.', {
  before: anyJsonObject('The session values that the run was submitted with.'),
  after: anyJsonObject('The same, with what its tasks have stored until now.'),
  cut: list(
    Type.String(),
    'JSON pointers, within this response, to what was cut; empty when everything is whole.',
  ),
});
