import { endSlice } from '../slices.js';

/** How often a measurement is tried again. */
const RETRIES = 4;

/**
 * Specifies like `it` behaviour that measures CPU time. The collector and the compiler of V8 work in threads of this
 * process, and count too: one undisturbed measurement of five is enough. Quadratic work exceeds its limit in each.
 */
export function itTimed(title: string, body: Mocha.Func | Mocha.AsyncFunc): void {
  it(title, body).retries(RETRIES);
}

/**
 * Measures the CPU time of `work` in this process, in milliseconds. Unlike wall-clock time, it does not depend on the
 * load of the machine.
 */
export async function measureCpuMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  return msSince(before);
}

/** Measures like {@link measureCpuMs}, for synchronous work. */
export function measureCpuMsSync(work: () => void): number {
  const before = process.cpuUsage();
  work();
  return msSince(before);
}

function msSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Work that uses up the slice of its turn of the event loop, each time, and counts the turns in which it was done. */
export class SlowTurns {
  /** How often work was done. */
  worked = 0;
  /** In how many turns. */
  turns = 0;
  #isCounted = false;

  readonly work = (): void => {
    this.worked++;
    if (!this.#isCounted) {
      this.turns++;
      this.#isCounted = true;
      setImmediate(() => {
        this.#isCounted = false;
      });
    }
    endSlice();
  };
}
