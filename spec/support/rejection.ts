/** What a promise rejects with; an error when it does not reject. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`it did not reject, but gave ${JSON.stringify(value)}`);
}
