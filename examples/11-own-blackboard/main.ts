// A blackboard of your own: it passes the conformance suite, and what a plan leaves on it is there in the next run.
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

// In a project of your own this is a spec: one "it" for each title.
let count = 0;
const create = (): FileBlackboard => new FileBlackboard(join(folder, `suite-${count++}`));
for (const { title, run } of blackboardSuite({ create })) {
  await run().catch((error: unknown) => {
    throw new Error(`a blackboard ${title}, and this one does not`, { cause: error });
  });
}
console.log('the blackboard conforms');

const plan = await loadPlan(fileURLToPath(new URL('plan.yaml', import.meta.url)));

// As another process would, tomorrow: with an executor and a blackboard of its own, over the same folder.
for (const metres of [1.4, 2.6]) {
  const executor = new LocalExecutor({ blackboard: new FileBlackboard(join(folder, 'log')) });
  const runId = await executor.submitPlan({ plan, inputs: { metres }, tenant_id: 'harbour' });
  const { blackboard } = await executor.getPlanResult(runId);
  console.log(JSON.stringify(blackboard));
}

const elsewhere = await new FileBlackboard(join(folder, 'log')).get_all('another tenant');
console.log(`another tenant: ${JSON.stringify(elsewhere)}`);
await rm(folder, { recursive: true });
