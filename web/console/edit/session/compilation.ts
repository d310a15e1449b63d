import { EventStreamParser } from '../../../shared/server/event-stream-parser.js';
import { type Server, ServerError } from '../../../shared/server/server.js';

/** An answer of the model that the validator has rejected, and why. */
export interface RejectedAnswer {
  readonly yaml: string;
  readonly error: string;
}

/** How far a compilation is (D35). */
export interface CompilationProgress {
  readonly state: string;
  readonly attempt: number;
}

/** The server's last answer about a compilation. */
export type CompilationResult =
  | {
      readonly kind: 'written';
      readonly yaml: string;
      readonly attempts: number;
      readonly rejected: readonly RejectedAnswer[];
      readonly model: string;
      readonly warnings: readonly string[];
    }
  | {
      readonly kind: 'failed';
      readonly code: string;
      readonly message: string;
      readonly rejected: readonly RejectedAnswer[];
    };

interface Written {
  readonly yaml_text: string;
  readonly attempts: number;
  readonly repair_history: readonly RejectedAnswer[];
  readonly model: string;
  readonly warnings: readonly string[];
}

interface Failure {
  readonly detail?: {
    readonly code?: string;
    readonly message?: string;
    readonly repair_history?: readonly RejectedAnswer[];
  };
}

/** Has the server's model write a definition. Rejects only when `signal` aborts, or the server does not answer. */
export async function compileDefinition(
  server: Server,
  prompt: string,
  onProgress: (progress: CompilationProgress) => void,
  signal: AbortSignal,
): Promise<CompilationResult> {
  let response: Response;
  try {
    response = await server.open(
      '/pipelines/compile',
      {
        method: 'POST',
        headers: { Accept: 'text/event-stream', 'Content-Type': 'application/json' },
        body: JSON.stringify({ prompt }),
      },
      signal,
    );
  } catch (error) {
    if (!(error instanceof ServerError) || error.status === 0) throw error;
    return { kind: 'failed', code: error.code, message: error.message, rejected: [] };
  }
  const frames = new EventStreamParser();
  const decoder = new TextDecoder();
  const body = response.body?.getReader();
  for (;;) {
    const chunk = await body?.read();
    if (chunk?.value === undefined) break;
    for (const { name, data } of frames.read(decoder.decode(chunk.value, { stream: true }))) {
      if (name === 'progress') onProgress(JSON.parse(data) as CompilationProgress);
      if (name === 'result') return toWritten(JSON.parse(data) as Written);
      if (name === 'error') return toFailure(JSON.parse(data) as Failure);
    }
  }
  throw new ServerError(0, 'unreachable', 'the server has ended the answer too early');
}

function toWritten({ yaml_text, attempts, repair_history, model, warnings }: Written): CompilationResult {
  return { kind: 'written', yaml: yaml_text, attempts, rejected: repair_history, model, warnings };
}

function toFailure({ detail }: Failure): CompilationResult {
  const message = detail?.message ?? 'the compilation has failed';
  return { kind: 'failed', code: detail?.code ?? '', message, rejected: detail?.repair_history ?? [] };
}
