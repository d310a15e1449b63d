import { MemoryBlackboard } from '../../../lib/execution/session/memory-blackboard.js';
import { blackboardSuite } from '../../../lib/testing/blackboard-suite.js';

describe('MemoryBlackboard', () => {
  for (const { title, run } of blackboardSuite({ create: () => new MemoryBlackboard() })) it(title, run);
});
