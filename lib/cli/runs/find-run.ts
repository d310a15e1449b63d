import type { WavetrainClient } from '../../client/client.js';
import { BadUsage } from '../bad-usage.js';
import { PROGRAM } from '../program.js';
import { KEPT } from './kept.js';
import { LARGEST_PAGE } from './pages.js';

const WHOLE = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const PART = /^[0-9a-f-]{4,}$/;

const MOST_NAMED = 5;

/**
 * The id of a run that was named by it, or by its beginning or end.
 *
 * @throws BadUsage when no run has such an id, or more than one
 */
export async function findRun(client: WavetrainClient, named: string): Promise<string> {
  const name = named.toLowerCase();
  if (WHOLE.test(name)) return name;
  if (!PART.test(name)) {
    throw new BadUsage(
      `"${named}" is no run id, nor at least 4 characters of the beginning or end of one`,
      LIST,
    );
  }
  const found: string[] = [];
  for await (const { run_id } of client.runs({ limit: LARGEST_PAGE })) {
    if (run_id.startsWith(name) || run_id.endsWith(name)) found.push(run_id);
  }
  const [only, ...others] = found;
  if (only === undefined) throw new BadUsage(`there is no run whose id begins or ends with "${name}"`, KEPT);
  if (others.length > 0) throw ambiguous(name, found);
  return only;
}

const LIST = `${PROGRAM} runs list shows the ids`;

function ambiguous(name: string, found: readonly string[]): BadUsage {
  const more = found.length > MOST_NAMED ? ', …' : '';
  return new BadUsage(
    `${found.length} runs have an id that begins or ends with "${name}"`,
    `name one of them: ${found.slice(0, MOST_NAMED).join(', ')}${more}`,
  );
}
