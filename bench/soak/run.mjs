import { runBundled } from '../bundle.mjs';

// The server is the built command; the tenants are processes of their own.
await runBundled(
  import.meta.url,
  ['hostile', 'honest', 'origin', 'floor', 'probe'].map((name) => `programs/${name}`),
  [],
);
