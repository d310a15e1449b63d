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
