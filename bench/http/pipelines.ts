/** A request body: a pipeline with one no-op task. */
export const ONE_MOCK = {
  pipeline: {
    id: 'one',
    goal: 'try one task',
    tasks: [{ id: 'only', tool: 'mock', inputs: { text: 'hello' } }],
  },
};

/** Creates waves of equal width; each task awaits one of the previous wave. */
export function layered(waves: number, width: number, task: Readonly<Record<string, unknown>>) {
  const tasks = Array.from({ length: waves * width }, (_, position) => {
    const id = `t${position}`;
    return position < width ? { id, ...task } : { id, ...task, await: [`t${position - width}`] };
  });
  return { pipeline: { id: 'layered', goal: 'try many tasks', tasks } };
}

export const MOCK = { tool: 'mock', inputs: { text: 'hello' } };

export function sleepTask(seconds: number) {
  return { tool: 'sleep', inputs: { seconds } };
}
