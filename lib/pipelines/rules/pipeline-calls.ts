import type { Finding } from '../../definition/schema/structure.js';
import { isObject } from '../../common/json.js';
import { MOST_NESTED_PIPELINES } from '../../common/limits.js';
import { runPipeline } from '../../tools/builtin/run-pipeline.js';
import type { Draft, DraftTask } from '../draft.js';

/** A task that runs a pipeline may store whatever that one stores (D49). */
export function runsPipeline({ tool }: DraftTask): boolean {
  return tool === runPipeline.name;
}

/** What can be told of the calls themselves: each names one pipeline, and none too deep. */
export function callFindings(draft: Draft, nesting: number): Finding[] {
  return draft.tasks.filter(runsPipeline).flatMap(({ id, path, literalInputs }): Finding[] => {
    const at = [...path, 'inputs'];
    const [file, pipeline] = [literalInputs['file'], literalInputs['pipeline']];
    if (file === undefined && pipeline === undefined) {
      const message = `task "${id}" names no pipeline to run`;
      return [{ code: 'missing_input', message, path, hint: 'give it "file" or "pipeline"' }];
    }
    if (file !== undefined && pipeline !== undefined) {
      const message = `task "${id}" has both "file" and "pipeline"`;
      return [{ code: 'invalid_input', message, path: [...at, 'file'], hint: 'keep one of them' }];
    }
    if (nesting < MOST_NESTED_PIPELINES || !standsInPlace(pipeline)) return [];
    const message = `pipelines may run each other ${MOST_NESTED_PIPELINES} deep, and this goes deeper`;
    return [{ code: 'nested_too_deep', message, path: [...at, 'pipeline'] }];
  });
}

/** A definition that no template changes: a map is taken as it is written, a text when no template stands in it. */
export function standsInPlace(pipeline: unknown): pipeline is string | Record<string, unknown> {
  return typeof pipeline === 'string' ? !pipeline.includes('{{') : isObject(pipeline);
}
