import { isObject } from '../../common/json/json.js';
import { MAX_NESTING_DEPTH } from '../../common/limits.js';
import type { Diagnostic, Findings } from '../../definition/problems/diagnostic.js';
import { runPipeline } from '../../tools/builtin/run-pipeline.js';
import type { DraftTask, PipelineDraft } from '../draft.js';

/** Returns true when a task runs a pipeline; it may then store whatever that pipeline stores (D49). */
export function isPipelineCall({ builtin }: DraftTask): boolean {
  return builtin === runPipeline.name;
}

/** Checks that each call names exactly one pipeline and is not nested too deep. */
export function* checkPipelineCalls(draft: PipelineDraft, depth: number): Findings {
  for (const task of draft.tasks) {
    yield;
    if (isPipelineCall(task)) yield* checkCall(task, depth);
  }
}

function checkCall({ id, path, literalInputs }: DraftTask, depth: number): Diagnostic[] {
  const inputsPath = [...path, 'inputs'];
  const { file, pipeline } = literalInputs;
  if (file === undefined && pipeline === undefined) {
    const message = `task "${id}" names no pipeline to run`;
    return [{ code: 'missing_input', message, path, hint: 'set "file" or "pipeline"' }];
  }
  if (file !== undefined && pipeline !== undefined) {
    const message = `task "${id}" has both "file" and "pipeline"`;
    return [{ code: 'invalid_input', message, path: [...inputsPath, 'file'], hint: 'keep one of them' }];
  }
  if (depth < MAX_NESTING_DEPTH || !isStaticDefinition(pipeline)) return [];
  const message = `pipelines can be nested at most ${MAX_NESTING_DEPTH} levels deep`;
  return [{ code: 'nested_too_deep', message, path: [...inputsPath, 'pipeline'] }];
}

/** Returns true for a definition without templates of the enclosing pipeline: any map, and a text without `{{`. */
export function isStaticDefinition(pipeline: unknown): pipeline is string | Record<string, unknown> {
  return typeof pipeline === 'string' ? !pipeline.includes('{{') : isObject(pipeline);
}
