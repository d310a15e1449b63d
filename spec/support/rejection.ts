/** Returns the reason of a rejection. Throws when the promise does not reject. */
export async function catchRejection(promise: Promise<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`it did not reject, but resolved with ${JSON.stringify(value)}`);
}
