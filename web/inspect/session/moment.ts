/** What a link leads to. */
export interface Moment {
  /** The entry after which the run is shown; null for the last one. */
  readonly seq: number | null;
  /** Path of the actor; empty for the root. */
  readonly actor: string;
}

/** Reads the hash of a link, as in `#seq=12&actor=run/wave/a`; what makes no sense is ignored. */
export function readMoment(hash: string): Moment {
  const fields = new URLSearchParams(hash.replace(/^#/, ''));
  const seq = Number(fields.get('seq') ?? NaN);
  return { seq: Number.isSafeInteger(seq) && seq > 0 ? seq : null, actor: fields.get('actor') ?? '' };
}

/** Writes the hash of a link, without what is as it is at first. */
export function writeMoment({ seq, actor }: Moment): string {
  const parts = [
    ...(seq === null ? [] : [`seq=${seq}`]),
    ...(actor === '' ? [] : [`actor=${encodeURIComponent(actor).replaceAll('%2F', '/')}`]),
  ];
  return parts.length === 0 ? '' : `#${parts.join('&')}`;
}
