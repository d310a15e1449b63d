import type { Json } from '../../common/json.js';
import { nearest } from '../../definition/suggest.js';
import type { ProviderName } from '../../models/choose-model.js';
import type { FormatProblem } from '../tool.js';

const PROVIDERS = Object.keys({
  openai: true,
  anthropic: true,
  ollama: true,
  compatible: true,
  mock: true,
} satisfies Record<ProviderName, true>);

const MAX_SHOWN = 100;

/** Finds what is wrong with the name of a language model as it is written (D50). Which ones a provider has, it alone knows. */
export function* findModelNameProblems(value: Json): Generator<FormatProblem> {
  if (typeof value !== 'string' || value.includes('{{')) return;
  const slash = value.indexOf('/');
  const provider = slash < 0 ? '' : value.slice(0, slash);
  const model = value.slice(slash + 1);
  const isMock = provider === 'mock';
  if (PROVIDERS.includes(provider) && model !== '' && (!isMock || model === 'echo' || model === 'recorded'))
    return;
  const meant = nearest(provider, PROVIDERS);
  const hint = isMock
    ? 'use mock/echo or mock/recorded'
    : meant !== undefined && meant !== provider
      ? `did you mean "${meant}/${model.slice(0, MAX_SHOWN)}"?`
      : `write provider/model, such as openai/gpt-4o-mini; the providers are ${PROVIDERS.join(', ')}`;
  yield { path: [], message: `is ${JSON.stringify(value.slice(0, MAX_SHOWN))}, which is no model`, hint };
}
