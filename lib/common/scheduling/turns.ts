/**
 * Calls a function in the next turn of the event loop: for what joins or ends all that has arrived in this one, such as the
 * lines of a log. Long work pauses by `run-in-slices.ts` instead, so that it keeps the order of tenants.
 */
export function inNextTurn(next: () => void): void {
  setImmediate(next);
}

/** Resolves in the next turn of the event loop: for a single pause between two bounded parts of work. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
