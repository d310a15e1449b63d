import { resolve } from 'node:path';
import { Option } from 'clipanion';
import { readConfig } from '../../common/config/config.js';
import type { RequestError } from '../../client/errors.js';
import type { CompileRequestOptions } from '../../client/requests.js';
import { errorCode, errorMessage, WavetrainError } from '../../common/errors.js';
import { COMPILE_LIMITS } from '../../common/limits.js';
import { readModelConfig } from '../../common/config/model-config.js';
import { formatCount } from '../../common/text.js';
import type {
  CompileEffort,
  CompileFailedError,
  CompileProgress,
  CompileResult,
} from '../../compile/result.js';
import type { CliContext } from '../context.js';
import { CatalogCommand, textOption, flagOption } from '../input/shared-options.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { readEnvFile, readNumber } from '../input/flags.js';
import { loadCatalog } from '../input/load-definition.js';
import { readText } from '../input/read-file.js';
import { PROGRAM } from '../package-info.js';
import { untilSignal } from '../input/process-events.js';
import { assertNoOwnTools, callServer } from '../runs/server-client.js';
import { CompileLine } from '../progress/compile-line.js';
import { modelLines } from '../render/run-summary.js';
import { detectTerminal } from '../render/terminal.js';
import { escapeControlCharacters, toSingleLine, wrapLine } from '../render/text.js';
import { UsageError } from '../input/usage-errors.js';
import { assertUpdatable, updateFile } from '../render/update-file.js';

const REPAIRS = { least: 0, most: COMPILE_LIMITS.mostRepairs, whole: true, unit: 'repairs', example: '2' };

export class CompileCommand extends CatalogCommand {
  static override paths = [['compile']];
  static override usage = CatalogCommand.Usage({
    description: 'has a language model write a pipeline or a plan from a description in plain words',
    details: `
      The model is given the language of pipelines and the tools that there are. The validator checks its answer, and what is
      wrong goes back to the model for repair. Nothing is run: read the result, then run it.

      The result is printed as YAML, after a comment with its kind, its id and the number of repairs. Warnings go to standard
      error, and with --verbose also what was wrong with each answer that was sent back, and the tokens.

      The exit status is 0 for a valid definition, 1 if the model wrote none, 2 for bad flags or a model that is not
      configured, 3 if the provider did not answer and 130 if it was interrupted.
    `,
    examples: [
      ['write a pipeline', `$0 compile 'read a contract and list our duties' --output duties.yaml`],
      ['a long description, from a file', '$0 compile --prompt-file request.txt --output pipeline.yaml'],
      [
        'from standard input, only the YAML',
        '$0 compile --prompt-file - --json < request.txt > pipeline.yaml',
      ],
      ['with a model of your own machine', `$0 compile 'summarize five pages' --model ollama/qwen3`],
      [
        'on a server, with its models and tools',
        `$0 compile 'summarize five pages' --server http://127.0.0.1:8000`,
      ],
      ['with your own tools', `$0 compile 'rate the songs in songs.csv' --tools tools.ts`],
    ],
  });

  prompt = Option.String({ name: 'PROMPT', required: false });
  output = textOption`--output <FILE> write the YAML to this file, which it replaces`;
  json = flagOption`--json print only the YAML (not JSON), and no messages but errors; with --output, also write it`;
  verbose = flagOption`--verbose also print what was repaired, and how many tokens it took`;
  promptFile = textOption`--prompt-file <FILE> read the description from this file; - reads standard input`;
  maxRepairs = textOption`--max-repairs <N> how often the model is asked to repair its answer, 0 to
    ${COMPILE_LIMITS.mostRepairs}; default ${COMPILE_LIMITS.repairs}`;
  model = textOption`--model <PROVIDER/MODEL> language model; default WAVETRAIN_COMPILE_MODEL or WAVETRAIN_MODEL`;
  allowCommands = flagOption`--allow-commands let the definition start programs, by the tool command; by default it cannot`;
  server = textOption`--server <URL> compile on this server, with its models and tools; Ctrl-C ends it there`;

  /** Compiles a description into a definition (D40, D41). Returns `invalid` if the model wrote no valid one. */
  override async execute(): Promise<ExitStatus> {
    const compiled = await untilSignal(this.context.processEvents, (signal) => this.#compile(signal));
    return compiled ?? EXIT.interrupted;
  }

  async #compile(signal: AbortSignal): Promise<ExitStatus> {
    const { context } = this;
    await readEnvFile(this.envFile, context);
    const maxRepairs = readNumber('--max-repairs', this.maxRepairs, REPAIRS);
    const prompt = await this.#readPrompt();
    const output = this.output === undefined ? undefined : await findOutput(this.output, context);
    const { model } = this;
    const line = new CompileLine(this, context);
    const onProgress = ({ state, attempt }: CompileProgress): void =>
      line.show(`${WORDS[state]} (answer ${attempt}) …`);
    const options = { model, maxRepairs, signal, onProgress };
    try {
      const result = await (this.server === undefined
        ? this.#compileHere(prompt, options)
        : this.#compileOnServer(prompt, options));
      line.close();
      this.#printEffort(result);
      await this.#printResult(result, output);
      return EXIT.done;
    } catch (error) {
      line.close();
      if (signal.aborted) return EXIT.interrupted;
      if (errorCode(error) !== 'compile_failed') throw error;
      this.#printEffort(effortOf(error));
      this.#printFailure(errorMessage(error), lastAnswer(error));
      return EXIT.invalid;
    }
  }

  async #compileHere(prompt: string, options: CompileRequestOptions): Promise<CompileResult> {
    const { context } = this;
    const catalog = await loadCatalog(this.tools, readConfig(context.env), context, { file: this.mcp });
    const { compile, createModels } = await import('../lazy/compile.js');
    const { clock, modelWaits } = context;
    const models = createModels(readModelConfig(context.env), { folders: [context.cwd] });
    const { allowCommands } = this;
    const onWait = (name: string): (() => void) => modelWaits.begin(name, clock);
    return compile(prompt, { ...options, models, catalog, allowCommands, clock, onWait });
  }

  async #compileOnServer(prompt: string, options: CompileRequestOptions): Promise<CompileResult> {
    assertNoOwnTools(this);
    if (this.allowCommands)
      throw new UsageError('--allow-commands is for a definition that is written here', 'leave out --server');
    const { modelWaits, clock } = this.context;
    const answered = modelWaits.begin(toSingleLine(this.server ?? ''), clock);
    try {
      return await callServer(this, this.context, (client) => client.compile(prompt, options));
    } finally {
      answered();
    }
  }

  async #readPrompt(): Promise<string> {
    const example = `as in ${PROGRAM} compile 'read a contract and list our duties'`;
    if ((this.prompt === undefined) === (this.promptFile === undefined)) {
      throw this.prompt === undefined
        ? new UsageError('compile needs a description of the pipeline', `${example}, or --prompt-file FILE`)
        : new UsageError('there are two descriptions', 'give either PROMPT or --prompt-file');
    }
    const text = this.prompt ?? (await readText(this.promptFile ?? '', 'prompt file', this.context));
    if (text.trim() !== '') return text;
    throw new UsageError('the description is empty', example);
  }

  /** With `--verbose`, what was wrong with the answers that were sent back, and what all of them took. */
  #printEffort(effort: Partial<CompileEffort>): void {
    const { repair_history: repairs = [], attempts = 0, usage, model = '' } = effort;
    if (!this.verbose) return;
    const steps = repairs.map(({ error }, index) => `answer ${index + 1} was sent back:\n${indent(error)}`);
    const used = usage === undefined ? [] : modelLines({ usage: [{ model, requests: attempts, ...usage }] });
    for (const text of [...steps, ...used]) this.context.stderr.write(`${escapeControlCharacters(text)}\n`);
  }

  async #printResult(result: CompileResult, output: string | undefined): Promise<void> {
    const { stdout, stderr } = this.context;
    const { kind, yaml_text: yaml, repair_history: repairs, warnings } = result;
    const { id } = result.kind === 'pipeline' ? result.pipeline : result.plan;
    const summary = `${kind} ${id}, ${repairs.length === 0 ? 'no repairs' : formatCount(repairs.length, 'repair')}`;
    if (output !== undefined) await this.#write(output, yaml);
    if (!this.json) for (const warning of warnings) stderr.write(`warning: ${toSingleLine(warning)}\n`);
    if (this.json) stdout.write(yaml);
    else if (output === undefined) stdout.write(`# ${summary}\n${escapeControlCharacters(yaml)}`);
    else stdout.write(`${summary}: written to ${toSingleLine(this.output ?? '')}\n`);
  }

  /** An answer has a price: it is printed when the file cannot be written. */
  async #write(path: string, yaml: string): Promise<void> {
    try {
      await updateFile(path, () => yaml);
    } catch (error) {
      this.context.stdout.write(yaml);
      throw cannotWrite(this.output ?? path, errorMessage(error));
    }
  }

  #printFailure(message: string, yaml: string): void {
    const { stderr, env } = this.context;
    const terminal = detectTerminal(stderr, env);
    const text = escapeControlCharacters(message).split('\n');
    const lines = text.flatMap((line, index) =>
      wrapLine(index === 0 ? `${terminal.style.red(`${PROGRAM}:`)} ${line}` : `  ${line}`, terminal),
    );
    stderr.write(`${lines.join('\n')}\n`);
    if (!this.json && yaml !== '') stderr.write(`the last answer:\n${escapeControlCharacters(yaml)}`);
  }
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ');
}

function effortOf(error: unknown): Partial<CompileEffort> {
  const { detail } = error as Partial<RequestError>;
  return detail ?? (error as CompileFailedError);
}

/** The last answer of a model that has failed, here or on a server; empty when it declined. */
function lastAnswer(error: unknown): string {
  const { last_yaml: here, detail } = error as Partial<CompileFailedError & RequestError>;
  return here ?? detail?.last_yaml ?? '';
}

/** Looks whether the file can be written before a model is paid for its content. @throws WavetrainError `bad_usage` */
async function findOutput(name: string, { cwd }: CliContext): Promise<string> {
  const path = resolve(cwd, name);
  await assertUpdatable(path).catch((error: unknown) => {
    throw cannotWrite(name, errorMessage(error));
  });
  return path;
}

function cannotWrite(name: string, reason: string): WavetrainError {
  return new WavetrainError('bad_usage', `cannot write --output ${name}: ${reason}`);
}

const WORDS: Readonly<Record<CompileProgress['state'], string>> = {
  drafting: 'the model writes a draft',
  validating: 'checking the answer',
  repairing: 'the model repairs its answer',
};
