import type { DefinitionOfTenant, RunQuery } from '../../views/run-query.js';
import type { CommitQueue } from '../commit-queue.js';
import type {
  ArchivedHead,
  ArchiveLimits,
  ArchivePage,
  ArchiveRange,
  EndCounts,
  ListedRun,
  PrunedRun,
  RunArchive,
  RunEnd,
  StoredRunHead,
} from '../run-archive.js';
import { NO_ENDS } from './thread/run-columns.js';
import type { PartialCount } from './thread/run-list.js';
import type { PipelineStatistics, StatisticsQuery, StatisticsRows } from '../statistics/statistics-query.js';
import type { FairReader, StoreThread } from './thread-client.js';

/** The settled runs of a SQLite file (D74). */
export class SqliteArchive implements RunArchive {
  readonly #writer: StoreThread;
  readonly #reader: FairReader;
  readonly #queue: CommitQueue;

  constructor(writer: StoreThread, reader: FairReader, queue: CommitQueue) {
    this.#writer = writer;
    this.#reader = reader;
    this.#queue = queue;
  }

  end(end: RunEnd): void {
    this.#queue.end(end);
  }

  async head(runId: string, tenantId = ''): Promise<ArchivedHead | undefined> {
    return (await this.#reader.read({ kind: 'head', runId }, tenantId)) as ArchivedHead | undefined;
  }

  async page(query: RunQuery, range: ArchiveRange, tenantId: string): Promise<ArchivePage> {
    return (await this.#reader.read({ kind: 'page', query, range }, tenantId)) as ArchivePage;
  }

  async count(query: RunQuery, tenantId: string): Promise<EndCounts> {
    const sums = { ...NO_ENDS };
    for (let before: number | undefined = Number.POSITIVE_INFINITY; before !== undefined; ) {
      const request = { kind: 'count', query, before } as const;
      const part = (await this.#reader.read(request, tenantId)) as PartialCount;
      for (const status of ['succeeded', 'failed', 'cancelled'] as const) sums[status] += part.counts[status];
      before = part.next;
    }
    return sums;
  }

  async oldest(tenants: readonly string[] | undefined, tenantId: string): Promise<number | undefined> {
    return (await this.#reader.read({ kind: 'oldest', tenants }, tenantId)) as number | undefined;
  }

  async lastRuns(
    definitions: readonly DefinitionOfTenant[],
    most: number,
    tenantId: string,
  ): Promise<readonly (readonly ListedRun[])[]> {
    const asked = definitions.map(({ tenantId: owner, id }) => ({ tenantId: owner, id }));
    return (await this.#reader.read({ kind: 'last', definitions: asked, most }, tenantId)) as ListedRun[][];
  }

  async statistics(query: StatisticsQuery, tenantId: string): Promise<StatisticsRows> {
    const rows: PipelineStatistics[] = [];
    let { after } = query;
    do {
      const request = {
        kind: 'statistics',
        query: { ...query, after, limit: query.limit - rows.length },
      } as const;
      const part = (await this.#reader.read(request, tenantId)) as StatisticsRows;
      rows.push(...part.rows);
      after = part.next;
    } while (after !== undefined && rows.length < query.limit);
    return { rows, next: after };
  }

  async findKey(tenantId: string, key: string): Promise<StoredRunHead | undefined> {
    return (await this.#reader.read({ kind: 'key', tenantId, key }, tenantId)) as StoredRunHead | undefined;
  }

  async prune(limits: ArchiveLimits, now: number): Promise<readonly PrunedRun[]> {
    return (await this.#writer.ask({ kind: 'prune', limits, now })) as readonly PrunedRun[];
  }
}
