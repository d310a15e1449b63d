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
  const hint = hintForModel(provider, model);
  yield { path: [], message: `is ${JSON.stringify(value.slice(0, MAX_SHOWN))}, which is no model`, hint };
}

function hintForModel(provider: string, model: string): string {
  if (provider === 'mock') return 'use mock/echo or mock/recorded';
  const meant = nearest(provider, PROVIDERS);
  if (meant !== undefined && meant !== provider)
    return `did you mean "${meant}/${model.slice(0, MAX_SHOWN)}"?`;
  return `write provider/model, such as openai/gpt-4o-mini; the providers are ${PROVIDERS.join(', ')}`;
}

/** Finds the end of a period that is no date: words such as "next year" mean another date each time, and none to a model. */
export function* findPeriodProblems(value: Json): Generator<FormatProblem> {
  if (typeof value !== 'string' || value.includes('{{') || /\d/.test(value)) return;
  const hint = 'write the date on which the period ends, such as 2024-12-31, or a template that gives it';
  yield { path: [], message: `is ${JSON.stringify(value.slice(0, 50))}, which is no date`, hint };
}
