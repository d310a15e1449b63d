import type { Clock } from '../../common/clock.js';
import type { ToolArtifacts } from '../files/artifacts.js';
import type { LineMasker } from '../../definition/secrets/masker.js';

/** The attempt that starts a command. */
export interface CommandCaller {
  readonly tenantId: string;
  readonly runId: string;
  readonly taskId: string;
  readonly clock: Clock;
  /** Ends the program with all that it has started. */
  readonly signal: AbortSignal;
  /** Stops the time limit of the attempt; the returned function lets it go on. */
  readonly pauseTimeout: () => () => void;
  /** Takes memory of the run for what the program writes. Throws a ToolError when there is none left. */
  readonly holdMemory: (bytes: number) => void;
  /** Receives each line that the program writes, masked. */
  readonly log: (message: string) => void;
  readonly masker: LineMasker;
  /** Writes an artifact of the run. */
  readonly writeFile: ToolArtifacts['write'];
}
