// A custom blackboard: it passes the conformance suite, and the next run reads what a plan stored on it.
//
//   npx tsx examples/11-own-blackboard/main.ts

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LocalExecutor, loadPlan } from 'wavetrain';
import { blackboardSuite } from 'wavetrain/testing';
import { FileBlackboard } from './file-blackboard.js';

const folder = await mkdtemp(join(tmpdir(), 'tide-log-'));

// In your own project this is a spec: one "it" per title.
let count = 0;
const create = (): FileBlackboard => new FileBlackboard(join(folder, `suite-${count++}`));
for (const { title, run } of blackboardSuite({ create })) {
  await run().catch((error: unknown) => {
    throw new Error(`not conforming: a blackboard ${title}`, { cause: error });
  });
}
console.log('the blackboard conforms');

const plan = await loadPlan(fileURLToPath(new URL('plan.yaml', import.meta.url)));

// Like another process at a later time: a new executor and a new blackboard over the same folder.
for (const metres of [1.4, 2.6]) {
  const executor = new LocalExecutor({ blackboard: new FileBlackboard(join(folder, 'log')) });
  const runId = await executor.submitPlan({ plan, inputs: { metres }, tenant_id: 'harbour' });
  const { blackboard } = await executor.getPlanResult(runId);
  console.log(JSON.stringify(blackboard));
}

const elsewhere = await new FileBlackboard(join(folder, 'log')).getAll('another tenant');
console.log(`another tenant: ${JSON.stringify(elsewhere)}`);
await rm(folder, { recursive: true });
