/** A promise that a spec resolves or rejects. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(reason: unknown): void;
}

export function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => {};
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}

/** Waits until all pending promises have settled and some ticks of the event loop have passed. */
export async function settle(ticks = 3): Promise<void> {
  for (let tick = 0; tick < ticks; tick++) {
    await new Promise<void>((next) => {
      setImmediate(next);
    });
  }
}
