import { expect } from 'chai';
import type { Abort, Slot } from '../../../machines/ports.js';
import type { Call, CallOwner, MakeCall } from '../../../lib/execution/invocation/call.js';
import { CallLayers } from '../../../lib/execution/invocation/layers.js';
import type { InvocationServices } from '../../../lib/execution/run-context.js';
import type { Task } from '../../../lib/pipelines/pipeline.js';

const NO_ABORT: Abort = () => {};

describe('The layers of a call', () => {
  let steps: string[];

  beforeEach(() => {
    steps = [];
  });

  /** The services of a run that uses nothing but what the spec names. */
  function layersOf(prepared: object = {}): CallLayers {
    const services = { prepared: { options: { usesCache: true }, ...prepared }, history: undefined };
    return new CallLayers(services as unknown as InvocationServices);
  }

  function makeCall(make: MakeCall, task: Task, owner: Partial<CallOwner>): void {
    const slot = { settle: (result: object) => void steps.push(`settle ${JSON.stringify(result)}`) };
    const full = owner as CallOwner;
    const call: Call = {
      task,
      owner: full,
      item: 0,
      slot: slot as Slot,
      progress: undefined,
      inputs: {},
      heldBytes: 0,
    };
    make(call, full);
  }

  const plain = { id: 'a' } as Task;
  const cached = { id: 'b', cacheMs: 1000 } as Task;

  it('are composed once for all tasks of a run that use the same ones', () => {
    const layers = layersOf();
    expect(layers.of(plain)).to.equal(layers.of({ id: 'c' } as Task));
    expect(layers.of(cached)).to.equal(layers.of({ id: 'd', cacheMs: 1 } as Task));
    expect(layers.of(plain)).not.to.equal(layers.of(cached));
  });

  it('settle an item that is reused before anything is rendered', () => {
    makeCall(layersOf({ rerunSource: {} }).of(plain), plain, {
      reuseItem: ({ item }) => {
        steps.push(`reuse ${item}`);
        return NO_ABORT;
      },
      render: () => expect.fail('nothing is to be rendered'),
    });
    expect(steps).to.deep.equal(['reuse 0']);
  });

  it('do not ask what may be reused in a run that repeats none', () => {
    makeCall(layersOf().of(plain), plain, {
      reuseItem: () => expect.fail('the run is no rerun'),
      render: () => 'no such key',
      onFailure: (item, error, attempts) => {
        steps.push(`failure of ${item} after ${attempts}`);
        return { ok: false, error };
      },
    });
    expect(steps).to.deep.equal(['failure of 0 after 0', 'settle {"ok":false,"error":"no such key"}']);
  });
});
