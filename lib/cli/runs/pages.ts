import type { WavetrainClient } from '../../client/client.js';
import type { ListQuery } from '../../client/requests.js';
import type { RunSummary } from '../../runs/record.js';

/** Runs that a server tells at once. */
export const LARGEST_PAGE = 500;

/** The newest runs, at most so many; `hasMore` when the server has others. */
export interface Newest {
  readonly runs: readonly RunSummary[];
  readonly hasMore: boolean;
}

export async function newestRuns(client: WavetrainClient, query: ListQuery, most: number): Promise<Newest> {
  const runs: RunSummary[] = [];
  let cursor: string | undefined;
  for (;;) {
    const limit = Math.min(most - runs.length, LARGEST_PAGE);
    const page = await client.list({ ...query, limit, cursor });
    runs.push(...page.runs);
    if (page.next_cursor === null) return { runs, hasMore: false };
    if (runs.length >= most) return { runs, hasMore: true };
    cursor = page.next_cursor;
  }
}
