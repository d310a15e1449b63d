/** Runs an action without the permissions of root, as the user nobody. */
export async function asUnprivilegedUser<T>(action: () => Promise<T>): Promise<T> {
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    return await action();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}
