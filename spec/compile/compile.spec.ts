import { expect } from 'chai';
import { ToolError, WavetrainError } from '../../lib/common/errors.js';
import { compile, type CompilePromptOptions } from '../../lib/compile/compile.js';
import { CompileFailedError, type CompileProgress } from '../../lib/compile/result.js';
import { ModelError, type ModelErrorKind } from '../../lib/models/model.js';
import { builtinCatalog } from '../../lib/tools/catalog.js';
import { defineTool } from '../../lib/tools/tool.js';
import { catchRejection } from '../support/rejection.js';
import { BROKEN, VALID } from './definitions.js';
import { ScriptedModels } from '../models/scripted-models.js';

describe('compile (D35)', () => {
  it('resolves with the first answer when it is valid', async () => {
    const models = new ScriptedModels(`Here it is:\n\`\`\`yaml\n${VALID}\`\`\`\n`);
    const result = await compile('  ask a model \n', { models });
    expect(result).to.deep.equal({
      kind: 'pipeline',
      pipeline: { id: 'ask', goal: 'g', tasks: [{ id: 'a', tool: 'llm_job', inputs: { prompt: 'hi' } }] },
      yaml_text: VALID,
      attempts: 1,
      repair_history: [],
      usage: { input_tokens: 100, output_tokens: 10 },
      model: 'spec/model',
      warnings: [],
    });
    expect(models.requests[0]).to.include({ purpose: 'compile', model: undefined });
    expect(models.promptOf(0)).to.equal('<request>\nask a model\n</request>');
  });

  it('asks for a repair with the answer, and every problem with its line, its path and its cure', async () => {
    const broken = BROKEN.replace('prompt: hi', 'prompt: "{{b.output}}"');
    const models = new ScriptedModels(`Of course!\n${broken}\nEnjoy!`, VALID);
    const result = await compile('ask', { models });
    expect(result).to.include({ attempts: 2, yaml_text: VALID });
    expect(result.repair_history.map(({ yaml }) => yaml)).to.deep.equal([broken]);
    expect(result.repair_history[0]?.error).to.contain('did you mean "llm_job"?');
    expect(result.usage).to.deep.equal({ input_tokens: 200, output_tokens: 20 });
    const { messages = [] } = models.requests[1] ?? {};
    expect(messages.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'user']);
    expect(messages[1]?.content).to.equal(broken);
    expect(models.promptOf(1))
      .to.contain(
        'line 6, column 13: there is no tool "lm_job" (did you mean "llm_job"?) [/pipeline/tasks/0/tool]',
      )
      .and.to.contain('\n    tool: lm_job\n')
      .and.to.match(/line 7, column \d+: \{\{b\.output\}\}/)
      .and.to.contain('return the whole corrected YAML');
  });

  it('sends the last answer alone with a repair, so that the conversation does not grow', async () => {
    const models = new ScriptedModels(BROKEN, BROKEN.replace('lm_', 'lmm_'), VALID);
    expect(await compile('ask', { models })).to.include({ attempts: 3 });
    expect(models.requests.map(({ messages }) => messages.length)).to.deep.equal([1, 3, 3]);
  });

  it('gives up after two repairs by default, with every answer and its errors', async () => {
    const answers = ['x_job', 'y_job', 'z_job'].map((tool) => VALID.replace('llm_job', tool));
    const error = await failureOf({ models: new ScriptedModels(...answers) });
    expect(error).to.include({ code: 'compile_failed', attempts: 3, last_yaml: answers[2] });
    expect(error.repair_history.map(({ yaml }) => yaml)).to.deep.equal(answers);
    expect(error.last_error).to.contain('line 6');
    expect(error.message).to.match(/^the model wrote no valid pipeline in 3 attempts: line 6/);
  });

  it('gives up at once without repairs, or when the same answer comes twice', async () => {
    expect(await failureOf({ models: new ScriptedModels(BROKEN), maxRepairs: 0 })).to.include({
      attempts: 1,
    });
    const twice = await failureOf({ models: new ScriptedModels(BROKEN, BROKEN), maxRepairs: 5 });
    expect(twice).to.include({ attempts: 2 });
    expect(twice.message).to.contain('repeats itself');
  });

  it('gives up when the model declines, with its reason', async () => {
    const error = await failureOf({
      models: new ScriptedModels('# cannot: there is no tool that makes tea'),
    });
    expect(error).to.include({ attempts: 1, last_yaml: '', last_error: 'there is no tool that makes tea' });
  });

  it('asks for a shorter answer when one was cut, even if what there is looks valid', async () => {
    const models = new ScriptedModels({ text: VALID, finish: 'length' }, VALID);
    const result = await compile('ask', { models });
    expect(result.attempts).to.equal(2);
    expect(models.promptOf(1)).to.contain('too long (write a shorter one');
  });

  it('stops an answer of over 100,000 characters, and asks for a shorter one', async () => {
    const models = new ScriptedModels(`${VALID}${'# and so on\n'.repeat(10_000)}`, VALID);
    expect(await compile('ask', { models })).to.include({ attempts: 2 });
    expect(models.callers[0]?.signal.aborted).to.equal(true);
    expect(models.promptOf(1)).to.contain('too long');
  });

  it('asks once to fix what is valid and probably a mistake, and takes the answer if that does not help', async () => {
    const doubtful = VALID.replace('{prompt: hi}', '{prompt: "${{session.name}}"}');
    const fixed = await compile('ask', { models: new ScriptedModels(doubtful, VALID) });
    expect(fixed).to.deep.include({ attempts: 2, yaml_text: VALID, warnings: [] });
    expect(fixed.repair_history[0]?.error).to.contain('the "$" before');
    const kept = await compile('ask', { models: new ScriptedModels(doubtful, doubtful) });
    expect(kept).to.deep.include({ attempts: 2, yaml_text: doubtful, repair_history: [] });
    expect(kept.warnings).to.have.length(2);
    const broken = await compile('ask', { models: new ScriptedModels(doubtful, BROKEN), maxRepairs: 1 });
    expect(broken).to.deep.include({ attempts: 2, yaml_text: doubtful });
    expect(broken.repair_history, 'no repair led to the result').to.deep.equal([]);
    const none = await compile('ask', { models: new ScriptedModels(doubtful), maxRepairs: 0 });
    expect(none).to.deep.include({ attempts: 1, yaml_text: doubtful });
  });

  it('takes a valid answer although the model cannot be asked to fix it, and warns of that', async () => {
    const doubtful = VALID.replace('{prompt: hi}', '{prompt: "${{session.name}}"}');
    const models = new ScriptedModels(doubtful, () => Promise.reject(new ToolError('spec/model: no answer')));
    const result = await compile('ask', { models });
    expect(result).to.deep.include({ attempts: 2, yaml_text: doubtful, repair_history: [] });
    expect(result.warnings.at(-1)).to.equal(
      'the model could not be asked to fix this: spec/model: no answer',
    );
  });

  it('rejects when the request for a repair cannot be made, or when a progress is not taken', async () => {
    const names = (): string[] => {
      throw new Error('no names');
    };
    const catalog = Object.assign(builtinCatalog(), { names });
    const models = new ScriptedModels(VALID.replace('  goal: g\n', ''), VALID);
    expect(await catchRejection(compile('ask', { models, catalog, allowCommands: true }))).to.have.property(
      'message',
      'no names',
    );
    const onProgress = (): void => {
      throw new Error('not taken');
    };
    const others = new ScriptedModels(VALID);
    const error = await catchRejection(compile('ask', { models: others, onProgress }));
    expect(error).to.have.property('message', 'not taken');
  });

  it('compiles a plan, with a warning for a pipeline that is in no file yet', async () => {
    const yaml = 'plan:\n  id: p\n  sub_pipelines:\n    - {id: a, stores: [k]}\n    - {id: b, reads: [k]}\n';
    const result = await compile('plan', { models: new ScriptedModels(yaml) });
    expect(result.kind).to.equal('plan');
    expect(result.kind === 'plan' && result.plan.sub_pipelines.map(({ id }) => id)).to.deep.equal(['a', 'b']);
    expect(result.warnings).to.have.length(2);
  });

  it('rejects a plan with a cycle, and one with two writers of a key', async () => {
    const parts = [
      '- {id: a, reads: [y], stores: [x]}\n    - {id: b, reads: [x], stores: [y]}',
      '- {id: a, stores: [x]}\n    - {id: b, stores: [x]}',
    ];
    for (const [index, code] of ['wait for each other', 'both store'].entries()) {
      const yaml = `plan:\n  id: p\n  sub_pipelines:\n    ${parts[index] ?? ''}\n`;
      const error = await failureOf({ models: new ScriptedModels(yaml), maxRepairs: 0 });
      expect(error.last_error, code).to.match(/line \d/);
    }
  });

  it('rejects a pipeline with a cycle', async () => {
    const yaml = VALID.replace('{prompt: hi}', '{prompt: "{{b.output}}"}').concat(
      '    - id: b\n      tool: llm_job\n      inputs: {prompt: "{{a.output}}"}\n',
    );
    const error = await failureOf({ models: new ScriptedModels(yaml), maxRepairs: 0 });
    expect(error.last_error).to.contain('a -> b -> a');
  });

  it('offers and accepts the tools of the catalog, own ones too, but not those that do nothing', async () => {
    const own = defineTool({ name: 'rate_song', description: 'Rates a song', inputs: {}, run: () => 1 });
    const models = new ScriptedModels(VALID.replace('llm_job', 'rate_song').replace('{prompt: hi}', '{}'));
    await compile('rate', { models, catalog: builtinCatalog().with([own]) });
    const { system = '' } = models.requests[0] ?? {};
    expect(system).to.contain('- rate_song: Rates a song').and.to.contain('- llm_job: ');
    expect(system).not.to.match(/^- (?:mock|fail): /m);
  });

  it('writes no tasks that start programs, unless asked to (D88)', async () => {
    const yaml = VALID.replace('llm_job', 'command').replace('{prompt: hi}', '{run: [ls]}');
    const models = new ScriptedModels(yaml, VALID);
    const {
      repair_history: [repair],
    } = await compile('list my files', { models });
    expect(repair?.error).to.contain('there is no tool "command"');
    expect(models.requests[0]?.system).not.to.match(/^- command: /m);
    const asked = new ScriptedModels(yaml);
    const { yaml_text: written } = await compile('list my files', { models: asked, allowCommands: true });
    expect(written).to.equal(yaml);
    expect(asked.requests[0]?.system).to.match(/^- command: /m);
  });

  it('passes on what a provider does not answer, and asks for no repair', async () => {
    const cases: [ModelErrorKind, string][] = [
      ['misconfigured', 'provider_misconfigured'],
      ['bad_request', 'provider_misconfigured'],
      ['network', 'provider_failed'],
      ['rate_limit', 'provider_failed'],
    ];
    for (const [kind, code] of cases) {
      const models = new ScriptedModels(() =>
        Promise.reject(new ToolError(`spec/model: ${kind}`, { cause: new ModelError(kind, kind) })),
      );
      const error = await catchRejection(compile('ask', { models }));
      expect(error)
        .to.be.instanceOf(WavetrainError)
        .and.to.include({ code, message: `spec/model: ${kind}` });
      expect(models.requests).to.have.length(1);
    }
  });

  it('ends with the reason of its signal, and ends the request', async () => {
    const stopping = new AbortController();
    const models = new ScriptedModels(
      (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(ToolError.nonRetryable('stopped')));
          stopping.abort(new Error('enough'));
        }),
    );
    const error = await catchRejection(compile('ask', { models, signal: stopping.signal }));
    expect(error).to.have.property('message', 'enough');
    expect(models.callers[0]?.signal.aborted).to.equal(true);
    expect(await catchRejection(compile('ask', { models, signal: stopping.signal }))).to.have.property(
      'message',
      'enough',
    );
  });

  it('says what it is doing', async () => {
    const seen: CompileProgress[] = [];
    await compile('ask', { models: new ScriptedModels(BROKEN, VALID), onProgress: (one) => seen.push(one) });
    expect(seen.map(({ state, attempt }) => `${state} ${attempt}`)).to.deep.equal([
      'drafting 1',
      'validating 1',
      'repairing 2',
      'validating 2',
    ]);
  });

  it('refuses an empty prompt, one of over 20,000 characters, and a wrong number of repairs', async () => {
    const models = new ScriptedModels();
    const wrong: [string, Partial<CompilePromptOptions>, RegExp][] = [
      [' \n ', {}, /is empty/],
      ['x'.repeat(20_001), {}, /20,001 characters, and the limit is 20,000/],
      ['ask', { maxRepairs: 6 }, /from 0 to 5/],
      ['ask', { maxRepairs: 0.5 }, /whole number/],
    ];
    for (const [prompt, options, message] of wrong) {
      const error = await catchRejection(compile(prompt, { models, ...options }));
      expect(error).to.have.property('code', 'invalid_options');
      expect(error).to.have.property('message').that.matches(message);
    }
    expect(models.requests).to.deep.equal([]);
  });

  it('lets no prompt close the tag that it stands in', async () => {
    const models = new ScriptedModels(VALID);
    await compile('a </request> b <REQUEST> c', { models });
    expect(models.promptOf(0)).to.equal('<request>\na < /request> b < REQUEST> c\n</request>');
  });

  it('sends at most 30 problems, cut where they are long', async () => {
    const tasks = Array.from(
      { length: 40 },
      (_, index) => `    - {id: t${index}, tool: ${'x'.repeat(2000)}}\n`,
    );
    const models = new ScriptedModels(`pipeline:\n  id: a\n  goal: g\n  tasks:\n${tasks.join('')}`, VALID);
    await compile('ask', { models });
    const message = models.promptOf(1);
    expect(message).to.contain('\n- and 10 more\n');
    expect(message.length).to.be.below(40_000);
  });
});

async function failureOf(options: CompilePromptOptions): Promise<CompileFailedError> {
  const error = await catchRejection(compile('ask', options));
  expect(error).to.be.instanceOf(CompileFailedError);
  return error as CompileFailedError;
}
