import { measureConcurrentRuns } from './concurrent-runs.js';
import { measureDefinitions } from './definitions.js';
import { measureReaders } from './readers.js';
import { measureRequests } from './requests.js';
import { Table } from './table.js';

/** `npm run bench:http`: measures our claims about the speed of the API. Arguments select measures. */
const MEASURES = {
  requests: measureRequests,
  concurrent: measureConcurrentRuns,
  readers: measureReaders,
  definitions: measureDefinitions,
};
const chosen = process.argv.slice(2);
const table = new Table();
for (const [name, measure] of Object.entries(MEASURES)) {
  if (chosen.length === 0 || chosen.includes(name)) await measure(table);
}
table.print();
process.exitCode = table.missed > 0 ? 1 : 0;
