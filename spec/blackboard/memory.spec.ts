import { MemoryBlackboard } from '../../lib/blackboard/memory.js';
import { blackboardSuite } from '../../lib/testing/blackboard-suite.js';

describe('the blackboard in memory', () => {
  for (const { title, run } of blackboardSuite({ create: () => new MemoryBlackboard() })) it(title, run);
});
