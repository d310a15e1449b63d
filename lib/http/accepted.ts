import type { Acceptance } from '../runs/record.js';
import type { Answer } from './route.js';

/** Says that a run was accepted, and where its record is (D31). */
export function acceptedAnswer(acceptance: Acceptance, headers: Record<string, string> = {}): Answer {
  const { run_id } = acceptance;
  return { body: acceptance, headers: { Location: `/pipelines/runs/${run_id}`, ...headers }, runId: run_id };
}
