import { WavetrainError } from '../../common/errors.js';
import { shareLimit } from '../../common/memory/shared-limit.js';
import { ProcessPool, type SizedPoolOptions } from '../../common/workers/process-pool.js';
import { WorkerError } from '../../common/workers/protocol.js';
import { isParsedAtOnce, PARSING_LIMITS } from '../text/limits.js';
import type { ParsedText } from '../text/parse-text.js';
import { failedSource, readSource, type Source, toSource } from '../text/source.js';

export interface ParsingRequest {
  readonly text: string;
}

type ParsingPool = Pick<ProcessPool<ParsingRequest, ParsedText>, 'run' | 'close'>;

/** A process takes about 50 MB, and most texts are short. */
const MAX_PROCESSES = 4;

/** Only long texts come here: expressions come first. */
const PRIORITY = 10;

/**
 * Parses short texts at once, and longer ones in processes that can be killed: parsing cannot pause, and takes up to a
 * second for the longest texts that callers may send. Texts of different tenants wait in turns (D25).
 */
export class TextParser {
  readonly #pool: ParsingPool;

  constructor(pool: ParsingPool) {
    this.#pool = pool;
  }

  static start({ file, parallelism, tenantShare, clock, launcher }: SizedPoolOptions): TextParser {
    const maxProcesses = Math.min(Math.max(parallelism, 1), MAX_PROCESSES);
    const atWork = shareLimit(maxProcesses, tenantShare);
    const { memoryMiB } = PARSING_LIMITS;
    return new TextParser(
      new ProcessPool({
        file,
        memoryMiB,
        priority: PRIORITY,
        atWork,
        maxProcesses,
        isolateTenants: false,
        clock,
        launcher,
      }),
    );
  }

  /** A text that takes too much time or memory is a problem. Rejects with `shutting_down` when the pool is closed. */
  async parse(text: string, tenantId: string): Promise<Source> {
    if (isParsedAtOnce(text)) return readSource(text);
    try {
      const { timeoutMs } = PARSING_LIMITS;
      return toSource(await this.#pool.run(tenantId, () => ({ text }), { timeoutMs }), text);
    } catch (error) {
      if (error instanceof WorkerError) return failedSource([describeFailure(error)]);
      throw error;
    }
  }

  /** Kills all processes; texts that wait are not parsed. */
  async close(): Promise<void> {
    await this.#pool.close();
  }
}

/** @throws WavetrainError `shutting_down` */
function describeFailure({ failure, message }: WorkerError): Source['problems'][number] {
  const { timeoutMs, memoryMiB } = PARSING_LIMITS;
  const problem = { path: '', severity: 'error', hint: 'send it as JSON, or split it' } as const;
  const tooLarge = { ...problem, code: 'too_large' } as const;
  switch (failure) {
    case 'closed':
      throw new WavetrainError('shutting_down', message);
    case 'timed_out':
      return { ...tooLarge, message: `the text takes longer than ${timeoutMs / 1000} s to parse` };
    case 'out_of_memory':
      return { ...tooLarge, message: `parsing the text takes more than ${memoryMiB} MiB of memory` };
    default:
      return { ...problem, code: 'syntax', message: `the text could not be parsed: ${message}` };
  }
}
