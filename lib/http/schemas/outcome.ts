import Type from 'typebox';
import type { PlanOutcome, PlanResult, RunOutcome, RunResult } from '../../execution/results.js';
import { TaskEventSchema } from './event.js';
import { json, nullable, wire } from './wire.js';

export const eventsField = nullable(
  Type.Array(TaskEventSchema, { description: 'Null unless collect_events was set.' }),
);

const ofRun = {
  outputs: Type.Record(Type.String(), json('What the task returned.'), { description: 'Task id to output.' }),
  waves_executed: Type.Integer({ minimum: 0, description: 'Waves that settled.' }),
  tasks_executed: Type.Integer({
    minimum: 0,
    description: 'Tool invocations, each item of a fan-out counted.',
  }),
};

export const RunOutcomeSchema = wire<RunOutcome>()(
  Type.Object(ofRun, {
    title: 'RunOutcome',
    description: 'What a run of a pipeline that succeeded produced.',
  }),
);

export const RunResultSchema = wire<RunResult>()(
  Type.Object(
    { ...ofRun, events: eventsField },
    { title: 'RunResult', description: 'What a synchronous run of a pipeline answers.' },
  ),
);

const ofPlan = {
  plan_id: Type.String(),
  sub_results: Type.Record(Type.String(), RunResultSchema, {
    description: 'Sub-pipeline id to what its pipeline produced.',
  }),
  blackboard: Type.Record(Type.String(), json('What was stored under the key.'), {
    description: 'Every key of the blackboard and its value at the end.',
  }),
  total_tasks_executed: Type.Integer({
    minimum: 0,
    description: 'Tool invocations of all sub-pipelines, each item of a fan-out counted.',
  }),
  total_waves: Type.Integer({
    minimum: 0,
    description: 'Waves that settled, of all sub-pipelines together.',
  }),
};

export const PlanOutcomeSchema = wire<PlanOutcome>()(
  Type.Object(ofPlan, { title: 'PlanOutcome', description: 'What a run of a plan that succeeded produced.' }),
);

export const PlanResultSchema = wire<PlanResult>()(
  Type.Object(
    { ...ofPlan, events: eventsField },
    { title: 'PlanResult', description: 'What a synchronous run of a plan answers.' },
  ),
);
