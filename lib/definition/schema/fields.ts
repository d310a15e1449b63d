/*
 * The names of the schema's fields, for hints. They are separate from the schema so that a run does not load the
 * library that builds it; a spec keeps the two equal.
 */

/** The fields with which a definition is started without a request to run it (D70, D71). */
export const START_FIELDS = ['schedule', 'timezone', 'overlap', 'catch_up', 'paused', 'webhook'] as const;

export const WEBHOOK_FIELDS = ['secret', 'params', 'inputs', 'replay'] as const;

export const PIPELINE_FIELDS = [
  'id',
  'goal',
  'description',
  'version',
  'params',
  'inputs',
  'reads',
  ...START_FIELDS,
  'tasks',
] as const;

export const TASK_FIELDS = [
  'id',
  'tool',
  'inputs',
  'parallel_over',
  'fan_out_concurrency',
  'on_item_error',
  'await',
  'retry',
  'retry_delay',
  'max_retry_delay',
  'cache',
  'timeout',
] as const;

export const PARAM_FIELDS = [
  'type',
  'description',
  'default',
  'enum',
  'minimum',
  'maximum',
  'pattern',
  'items',
  'properties',
] as const;

export const PLAN_FIELDS = [
  'id',
  'goal',
  'description',
  'version',
  'inputs',
  'plan_concurrency',
  ...START_FIELDS,
  'sub_pipelines',
] as const;

export const SUB_PIPELINE_FIELDS = ['id', 'goal', 'reads', 'stores', 'inputs', 'file', 'pipeline'] as const;

/** Task ids that would hide a template namespace (D1). */
export const RESERVED_TASK_IDS: readonly string[] = ['pipeline', 'params', 'session', 'item'];
