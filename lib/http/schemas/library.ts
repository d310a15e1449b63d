import Type from 'typebox';
import { optionalField } from '../../definition/schema/definition-fields.js';
import { NamedRunFields, TenantId } from './request.js';
import { bodySchema } from './fields.js';

export const NamedRunSchema = bodySchema('NamedRunRequest', {
  ...NamedRunFields,
  tenant_id: optionalField(TenantId),
});

export const SaveRequestSchema = bodySchema('SaveRequest', {
  text: Type.String({ description: 'The definition, as YAML or JSON.' }),
  tenant_id: optionalField(TenantId),
});

export const PauseRequestSchema = bodySchema('PauseRequest', { tenant_id: optionalField(TenantId) });

export const TestRequestSchema = bodySchema('TestRequest', {
  text: optionalField(
    Type.String({ description: 'The definition. Default: the file as it is on the disk.' }),
  ),
  tests: optionalField(
    Type.String({ description: 'The file of tests. Default: the one beside the definition.' }),
  ),
  tenant_id: optionalField(TenantId),
});
