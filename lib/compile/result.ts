import { WavetrainError } from '../common/errors.js';
import type { TokenCounts } from '../models/model.js';
import type { CompiledDefinition } from './check-answer.js';
import type { RepairStepSchema } from '../common/wire/model.js';
import type { Shape } from '../common/wire/shape.js';

/** The step of a compilation: asking for the first answer, checking an answer, or asking for its repair. */
export interface CompileProgress {
  readonly state: 'drafting' | 'validating' | 'repairing';
  /** The number of the answer, from 1. */
  readonly attempt: number;
}

/** An answer that was sent back, and why. */
export interface RepairStep extends Shape<typeof RepairStepSchema> {}

/** The requests, the repairs and the tokens that a compilation has taken. */
export interface CompileEffort {
  /** Requests to the model, also one that failed. */
  readonly attempts: number;
  /** The answers that were sent back before the result, in their order: as many as there were repairs. */
  readonly repair_history: readonly RepairStep[];
  /** The tokens of the answers that ended. */
  readonly usage: TokenCounts;
  /** `provider/model`. */
  readonly model: string;
}

/** A valid definition that a model has written. Nothing of it has run. */
export type CompileResult = CompiledDefinition &
  CompileEffort & {
    /** The definition as the model wrote it, without what was around it. */
    readonly yaml_text: string;
    /** The warnings of the validator, and why the model was not asked to fix them, as sentences. */
    readonly warnings: readonly string[];
  };

/** A model has written no valid definition (D40). */
export class CompileFailedError extends WavetrainError implements CompileEffort {
  override readonly name = 'CompileFailedError';
  readonly attempts: number;
  readonly repair_history: readonly RepairStep[];
  readonly usage: TokenCounts;
  readonly model: string;
  /** The last answer; empty when the model declined. */
  readonly last_yaml: string;
  /** Why the last answer was rejected, or why the model declined. */
  readonly last_error: string;

  constructor(message: string, effort: CompileEffort, last: RepairStep) {
    super('compile_failed', message, { fault: 'service' });
    this.attempts = effort.attempts;
    this.repair_history = effort.repair_history;
    this.usage = effort.usage;
    this.model = effort.model;
    this.last_yaml = last.yaml;
    this.last_error = last.error;
  }
}
