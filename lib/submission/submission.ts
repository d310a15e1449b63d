import type { Steps } from '../common/scheduling/steps.js';
import type { Problem } from '../definition/problems/problem.js';
import type { DefinitionInput, Source } from '../definition/text/source.js';
import type { StartedBy } from '../common/wire/started-by.js';
import { type PipelineInput, toPipelineInputs } from '../plans/plan.js';
import type { SubmissionOptions } from '../runs/registry-options.js';
import type { StoredSubmission } from '../runs/store/run-store.js';
import type { RerunRequest } from '../runs/rerun/rerun.js';

/** A run that a request, a schedule, a webhook, the command line, an MCP host or the library asks for (D73). */
export interface Submission extends SubmissionOptions {
  readonly definition: DefinitionSource;
  readonly values: SubmittedValues;
  readonly tenantId: string;
  readonly startedBy: StartedBy;
  /** The text that the definition was read from, to be shown to people who change it (D59). */
  readonly submittedText?: string | undefined;
}

/** A submission of which is not said yet who starts the run. */
export type SubmissionContent = Omit<Submission, 'startedBy'>;

/** The values of a run, as they were sent; those that do not fit the definition are refused. */
export type SubmittedValues = Pick<
  StoredSubmission,
  'params' | 'inputs' | 'session' | 'options' | 'breakpoints' | 'collect_events' | 'plan_concurrency'
>;

/** A rerun, with a changed definition if there is one (D60). */
export interface RerunSubmission extends Omit<RerunRequest, 'pipeline' | 'plan'> {
  readonly definition?: DefinitionSource | undefined;
}

/** A definition that is checked before it runs. */
export type DefinitionSource = PipelineSource | PlanSource;

export interface PipelineSource extends SourceOptions {
  readonly kind: 'pipeline';
}

export interface PlanSource extends SourceOptions {
  readonly kind: 'plan';
  /** The pipelines that are sent beside the plan, by sub-pipeline id. */
  readonly pipelines?: ReadonlyMap<string, PipelineInput> | undefined;
  /** Finds other pipelines, such as those in the folder of the server (D69). */
  readonly findPipelines?: ((plan: Source) => Steps<ReadonlyMap<string, PipelineInput>>) | undefined;
}

/** Makes a source of a definition that is kept: in the store, or in the folder of the server. */
export function toDefinitionSource(
  { kind, definition: value, pipelines = {} }: KeptDefinition,
  isChecked?: boolean,
): DefinitionSource {
  const source = { definition: { value }, isChecked };
  return kind === 'plan' ? { ...source, kind, pipelines: toPipelineInputs(pipelines) } : { ...source, kind };
}

/** A definition as a value. */
interface KeptDefinition {
  readonly kind: DefinitionSource['kind'];
  readonly definition: unknown;
  /** The pipelines of a plan, by sub-pipeline id, but for those within it. */
  readonly pipelines?: Readonly<Record<string, unknown>>;
}

interface SourceOptions {
  /** The text of the definition, or its value. */
  readonly definition: DefinitionInput;
  /** True when this version checked the definition before, in another process with the same tools. Default: false. */
  readonly isChecked?: boolean | undefined;
  /** Adds the hints that only the receiver of the definition can give, such as the address for another kind. */
  readonly addHints?: ((problems: readonly Problem[]) => readonly Problem[]) | undefined;
}
