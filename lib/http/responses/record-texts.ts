import { LinkedMap } from '../../common/memory/linked-map.js';
import type { RunRecord } from '../../runs/record.js';
import type { RouteResult } from '../routing/route.js';
import { isShortJson } from '../../common/json/json-writer.js';
import { JSON_TYPE } from './response-sender.js';

const MAX_TEXTS = 64;

/** Longer texts are not kept, so that all of them together take less than 1 MiB. */
const MAX_TEXT_LENGTH = 8 * 1024;

/** The text of one version of a record. */
interface RecordText {
  readonly runId: string;
  readonly version: string;
  readonly text: string;
}

/**
 * Keeps the JSON texts of the short records that were sent last. Clients that poll a run, or wait for it together, read
 * the same version of its record many times, and creating the text takes longer than the rest of the response.
 */
export class RecordTexts {
  readonly #texts = new LinkedMap<string, RecordText>();

  /**
   * Returns the body of a response with the record of a run.
   *
   * @param version changes whenever the record does
   * @param getRecord is called when the text of this version is not kept
   */
  toBody(
    runId: string,
    version: string,
    getRecord: () => RunRecord,
  ): Pick<RouteResult, 'body' | 'text' | 'type' | 'isLong' | 'isRunData'> {
    const kept = this.#texts.get(runId);
    if (kept?.version === version) return { text: kept.text, type: JSON_TYPE };
    const body = getRecord();
    if (!isShortJson(body)) return { body, isLong: true, isRunData: true };
    const text = JSON.stringify(body);
    if (text.length <= MAX_TEXT_LENGTH) this.#keep({ runId, version, text });
    return { body, text, type: JSON_TYPE };
  }

  #keep(text: RecordText): void {
    this.#texts.delete(text.runId);
    this.#texts.add(text.runId, text);
    const { first } = this.#texts;
    if (this.#texts.size > MAX_TEXTS && first !== undefined) this.#texts.delete(first.runId);
  }
}
