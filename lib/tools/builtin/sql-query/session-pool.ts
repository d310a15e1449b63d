import { ToolError } from '../../../common/errors.js';
import { shareLimit } from '../../../common/memory/shared-limit.js';
import { ConcurrencyLimiter } from '../../../common/scheduling/concurrency-limiter.js';
import type { Clock } from '../../../common/clock.js';
import type { ToolContext } from '../../tool.js';
import type { SqlSession, SqlTarget } from './database.js';
import { SQL_LIMITS } from './limits.js';

interface IdleSession {
  readonly session: SqlSession;
  readonly key: string;
  readonly isLocal: boolean;
  readonly clock: Clock;
  readonly timer: unknown;
}

/**
 * The connections to databases. A task takes one for itself; afterwards it waits some time for another task of the same
 * tenant with the same database and password. Tasks beyond the limit wait, fairly between tenants (D25).
 */
export class SessionPool {
  readonly #atWork: ConcurrencyLimiter;
  readonly #processesAtWork: ConcurrencyLimiter;
  /** The least recently used first. */
  readonly #idle = new Set<IdleSession>();
  readonly #used = new Set<SqlSession>();
  #isClosed = false;

  /** @param sharePercent of the limits that is guaranteed to each tenant. Default: 10 */
  constructor(sharePercent?: number) {
    const createLimiter = (total: number): ConcurrencyLimiter =>
      new ConcurrencyLimiter(shareLimit(total, sharePercent), stoppedError);
    this.#atWork = createLimiter(SQL_LIMITS.atOnce);
    this.#processesAtWork = createLimiter(SQL_LIMITS.processesAtOnce);
  }

  /**
   * Lends a session while `work` goes on. When the attempt ends before, the statement is cancelled in the database.
   * Rejects with what `work` rejects with, or with a ToolError when the attempt has ended.
   */
  use<T>(
    target: SqlTarget,
    isUntouched: boolean,
    context: ToolContext,
    work: (session: SqlSession) => Promise<T>,
  ): Promise<T> {
    const limiter = target.isLocal ? this.#processesAtWork : this.#atWork;
    return limiter.run(context, () => this.#lend(target, isUntouched, context, work));
  }

  async #lend<T>(
    target: SqlTarget,
    isUntouched: boolean,
    context: ToolContext,
    work: (session: SqlSession) => Promise<T>,
  ): Promise<T> {
    if (this.#isClosed) throw ToolError.nonRetryable('the server is shutting down');
    const { signal, tenant_id: tenantId } = context;
    const key = JSON.stringify([tenantId, target.key]);
    const session = this.#takeIdle(key) ?? (await target.connect(context));
    this.#used.add(session);
    session.keepAlive(true);
    let cancelled: Promise<void> | undefined;
    let stop: ((error: ToolError) => void) | undefined;
    const onAbort = (): void => {
      cancelled ??= session.cancel();
      stop?.(stoppedError(signal));
    };
    signal.addEventListener('abort', onAbort);
    try {
      if (signal.aborted) throw stoppedError(signal);
      const stopped = new Promise<never>((_, reject) => {
        stop = reject;
      });
      const result = await Promise.race([work(session), stopped]);
      await this.#reset(session, isUntouched);
      this.#keep(session, key, target, context.clock);
      return result;
    } catch (error) {
      if (signal.aborted) throw stoppedError(signal);
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#used.delete(session);
      if (![...this.#idle].some((idle) => idle.session === session)) {
        await cancelled;
        session.close();
      }
    }
  }

  /** Cancels a session that fails to reset, so that it is closed: its task has its result already. */
  async #reset(session: SqlSession, isUntouched: boolean): Promise<void> {
    try {
      await session.reset(isUntouched);
    } catch {
      await session.cancel();
    }
  }

  #takeIdle(key: string): SqlSession | undefined {
    for (const idle of this.#idle) {
      if (idle.key !== key) continue;
      this.#forget(idle);
      if (idle.session.isUsable) return idle.session;
      idle.session.close();
    }
    return undefined;
  }

  #keep(session: SqlSession, key: string, { isLocal }: SqlTarget, clock: Clock): void {
    if (!session.isUsable || this.#isClosed) return;
    session.keepAlive(false);
    const timer = clock.setTimeout(() => this.#end(idle), SQL_LIMITS.idleMs);
    // A process that has nothing else to do ends.
    if (timer instanceof Object && 'unref' in timer && typeof timer.unref === 'function') timer.unref();
    const idle: IdleSession = { session, key, isLocal, clock, timer };
    this.#idle.add(idle);
    const alike = [...this.#idle].filter((other) => other.isLocal === isLocal);
    const most = isLocal ? SQL_LIMITS.idleProcesses : SQL_LIMITS.idleSessions;
    const [oldest] = alike;
    if (alike.length > most && oldest !== undefined) this.#end(oldest);
  }

  #end(idle: IdleSession): void {
    this.#forget(idle);
    idle.session.close();
  }

  #forget(idle: IdleSession): void {
    this.#idle.delete(idle);
    idle.clock.clearTimeout(idle.timer);
  }

  /** Closes the connections. What is at work is cancelled in its database. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const idle of this.#idle) this.#end(idle);
    await Promise.all([...this.#used].map((session) => session.cancel()));
  }
}

function stoppedError({ reason }: AbortSignal): ToolError {
  return new ToolError('the query was stopped', { retryable: false, cause: reason });
}
