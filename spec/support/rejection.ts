import { expect } from 'chai';
import { errorMessage, ToolError } from '../../lib/common/errors.js';

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

/** Returns the message of the ToolError, not retryable, with which a promise rejects. */
export async function catchToolMessage(promise: Promise<unknown>): Promise<string> {
  const error = await catchRejection(promise);
  expect(error).to.be.instanceOf(ToolError).with.property('retryable', false);
  return errorMessage(error);
}

/** Returns the reasons of the rejections that nobody handled during `body`: each would end the process of a user. */
export async function collectUnhandledRejections(body: () => Promise<void>): Promise<readonly unknown[]> {
  const others = process.listeners('unhandledRejection');
  const unhandled: unknown[] = [];
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', (reason) => unhandled.push(reason));
  try {
    await body();
  } finally {
    process.removeAllListeners('unhandledRejection');
    for (const other of others) process.on('unhandledRejection', other);
  }
  return unhandled;
}
