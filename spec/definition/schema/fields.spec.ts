import { expect } from 'chai';
import {
  KEEP_FIELDS,
  PARAM_FIELDS,
  PIPELINE_FIELDS,
  PLAN_FIELDS,
  REPEAT_FIELDS,
  SUB_PIPELINE_FIELDS,
  TASK_FIELDS,
  WEBHOOK_FIELDS,
} from '../../../lib/definition/schema/fields.js';
import { repeatField } from '../../../lib/definition/schema/conditions.js';
import { PlanDefinition, SubPipelineDefinition } from '../../../lib/definition/schema/plan-schema.js';
import {
  ParamDefinition,
  PipelineDefinition,
  TaskDefinition,
} from '../../../lib/definition/schema/schema.js';
import { keepField, WebhookDefinition } from '../../../lib/definition/schema/definition-fields.js';

describe('The field names', () => {
  it('match the properties of the schemas', () => {
    expect([...PIPELINE_FIELDS]).to.have.members(Object.keys(PipelineDefinition.properties));
    expect([...TASK_FIELDS]).to.have.members(Object.keys(TaskDefinition.properties));
    expect([...PARAM_FIELDS]).to.have.members(Object.keys(ParamDefinition.properties));
    expect([...PLAN_FIELDS]).to.have.members(Object.keys(PlanDefinition.properties));
    expect([...WEBHOOK_FIELDS]).to.have.members(Object.keys(WebhookDefinition.properties));
    expect([...KEEP_FIELDS]).to.have.members(Object.keys(Reflect.get(keepField, 'properties') as object));
    expect([...REPEAT_FIELDS]).to.have.members(Object.keys(Reflect.get(repeatField, 'properties') as object));
    expect([...SUB_PIPELINE_FIELDS]).to.have.members(Object.keys(SubPipelineDefinition.properties));
  });
});
