import { expect } from 'chai';
import { NotImplementedError } from '../../lib/common/errors.js';
import { DistributedExecutor } from '../../lib/execution/executor.js';

describe('DistributedExecutor (Errors, rule 5; D52)', () => {
  const executor = new DistributedExecutor();
  const operations = {
    submit: () => executor.submit(),
    getResult: () => executor.getResult(),
    cancel: () => executor.cancel(),
  };
  for (const [name, call] of Object.entries(operations)) {
    it(`rejects ${name} with not_implemented`, async () => {
      const error: unknown = await (call() as Promise<unknown>).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(NotImplementedError);
      expect(error).to.include({ code: 'not_implemented', fault: 'service' });
    });
  }
});
