/** A promise that a spec settles by hand. */
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

/** Lets everything that is ready run: promises first, then the turns of the event loop that were asked for. */
export async function settle(turns = 3): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    await new Promise<void>((next) => {
      setImmediate(next);
    });
  }
}
