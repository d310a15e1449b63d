import { Agent, request } from 'node:http';

/** Opens as many connections as there are concurrent requests. */
const agent = new Agent({ keepAlive: true });

/** Sends and reads JSON. Rejects for every response without success. */
export function postJson<T>(url: string, path: string, body: unknown): Promise<T> {
  const bytes = Buffer.from(JSON.stringify(body));
  const headers = { 'content-type': 'application/json', 'content-length': bytes.length };
  return new Promise((resolve, reject) => {
    const sent = request(url + path, { method: 'POST', agent, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('end', () => {
        const text = Buffer.concat(chunks).toString();
        if ((response.statusCode ?? 500) < 300) resolve(JSON.parse(text) as T);
        else reject(new Error(`POST ${path} responded ${response.statusCode}: ${text}`));
      });
    });
    sent.once('error', reject);
    sent.end(bytes);
  });
}

export function closeConnections(): void {
  agent.destroy();
}
