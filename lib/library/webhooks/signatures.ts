import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** How far the time in a signature may be from that of the server: a captured request is of no use after that. */
const TOLERANCE_MS = 5 * 60_000;

/** A sender whose secret is being replaced signs with both. */
const MAX_SIGNATURES = 10;

export interface SignatureHeaders {
  readonly 'x-hub-signature-256'?: string | undefined;
  readonly 'webhook-id'?: string | undefined;
  readonly 'webhook-timestamp'?: string | undefined;
  readonly 'webhook-signature'?: string | undefined;
}

/** The proof of a sender that it knows the secret of a webhook, in one of two schemes (D71). */
export interface WebhookSignature {
  /** The same for whoever sends the signature again: the id of the delivery, or else a hash, which proves nothing. */
  readonly id: string;
  /** True when the id and a time are signed; without them, two deliveries with the same body have the same signature. */
  readonly isDated: boolean;
  /** False when the signed time is too far from now. @param now in milliseconds since 1970 */
  isTimely(now: number): boolean;
  /** Takes as long for every secret, also for none. */
  isOf(body: string, secret: string | undefined): boolean;
}

/** Reads the signature of a request; undefined when it has none, or one of no known form. */
export function readSignature(headers: SignatureHeaders): WebhookSignature | undefined {
  return headers['webhook-signature'] === undefined
    ? readBodySignature(headers)
    : readDatedSignature(headers);
}

const BODY_SIGNATURE = /^sha256=[0-9a-f]{64}$/i;

/** Signs the body alone, as GitHub does: whoever has captured it can send it again for ever. */
function readBodySignature(headers: SignatureHeaders): WebhookSignature | undefined {
  const signature = headers['x-hub-signature-256']?.toLowerCase();
  if (signature === undefined || !BODY_SIGNATURE.test(signature)) return undefined;
  return {
    get id() {
      return createHash('sha256').update(signature, 'utf8').digest('base64url');
    },
    isDated: false,
    isTimely: () => true,
    isOf: (body, secret) => {
      const computed = `sha256=${createHmac('sha256', secret ?? '')
        .update(body, 'utf8')
        .digest('hex')}`;
      return isEqualInConstantTime(signature, secret && computed);
    },
  };
}

/** No JSON object begins with one, so that a signature of a body alone is none of an id, a time and a body. */
const DELIVERY_ID = /^[\w:-]{1,255}$/;
const UNIX_SECONDS = /^\d{1,11}$/;

/** Signs the id of the delivery, its time and the body: the scheme of standardwebhooks.com, `v1`. */
function readDatedSignature(headers: SignatureHeaders): WebhookSignature | undefined {
  const { 'webhook-id': id = '', 'webhook-timestamp': time = '', 'webhook-signature': list = '' } = headers;
  const signatures = list.split(' ', MAX_SIGNATURES).filter((signature) => signature.startsWith('v1,'));
  if (signatures.length === 0 || !DELIVERY_ID.test(id) || !UNIX_SECONDS.test(time)) return undefined;
  return {
    id,
    isDated: true,
    isTimely: (now) => Math.abs(now - 1000 * Number(time)) <= TOLERANCE_MS,
    isOf: (body, secret) => {
      const hmac = createHmac('sha256', toKey(secret ?? ''));
      const computed = `v1,${hmac.update(`${id}.${time}.`).update(body, 'utf8').digest('base64')}`;
      return signatures
        .map((signature) => isEqualInConstantTime(signature, secret && computed))
        .includes(true);
    },
  };
}

const ENCODED_KEY = /^whsec_([A-Za-z0-9+/]{16,}={0,2})$/;

/** The scheme has keys of any bytes, in Base64 behind `whsec_`. Any other text is the key itself. */
function toKey(secret: string): Buffer {
  const encoded = ENCODED_KEY.exec(secret)?.[1];
  return encoded === undefined ? Buffer.from(secret, 'utf8') : Buffer.from(encoded, 'base64');
}

/** Compares in a time that says nothing about either. */
export function isEqualInConstantTime(given: string, expected: string | undefined): boolean {
  const [a, b] = [given, expected ?? ''].map((text) => createHash('sha256').update(text, 'utf8').digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b) && expected !== undefined;
}
