import type { RecordedAnswer } from '../../lib/models/providers/mock.js';

/** A request, the answers of a model to it and to the repairs, and what the definition must have. */
export interface CompileCase {
  readonly prompt: string;
  /** Written by hand, with mistakes that models make. */
  readonly answers: readonly string[];
  /** Tools that the definition must call. */
  readonly tools: readonly string[];
  /** Fields that the definition must have, such as `when`. */
  readonly fields?: readonly string[];
  /** Answers that the definition takes; 0 when no definition is expected. */
  readonly attempts: number;
}

/** One task in flow style: `{id: a, tool: t, …}`. */
function pipeline(id: string, ...tasks: readonly string[]): string {
  return `pipeline:\n  id: ${id}\n  goal: g\n  params:\n    file: {type: string}\n    list: {type: list, default: []}\n    mode: {type: string, default: full}\n  tasks:\n${tasks.map((task) => `    - ${task}\n`).join('')}`;
}

const READ = '{id: doc, tool: ingest_document, inputs: {path: "{{params.file}}"}}';

function ask(from = '{{doc.output.text}}', more = ''): string {
  return `{id: ask, tool: llm_job, ${more}inputs: {prompt: Answer briefly, text: "${from}"}}`;
}

function fence(text: string): string {
  return `Here is the pipeline:\n\n\`\`\`yaml\n${text}\`\`\`\n\nIt does what you want.`;
}

const DUTIES = pipeline('duties', READ, ask());
const FAN_OUT = pipeline(
  'each',
  '{id: pages, tool: ingest_document, parallel_over: "{{params.list}}", inputs: {path: "{{item}}"}}',
);
const SESSION = pipeline(
  'remember',
  '{id: keep, tool: store, inputs: {key: name, value: "{{params.file}}"}}',
  '{id: ask, tool: llm_job, await: [keep], inputs: {prompt: "Greet {{session.name}}"}}',
);
const PLAN = `plan:
  id: two
  sub_pipelines:
    - id: first
      stores: [topics]
      pipeline: {id: first, goal: g, tasks: [{id: keep, tool: store, inputs: {key: topics, value: [a]}}]}
    - id: second
      reads: [topics]
      pipeline: {id: second, goal: g, tasks: [{id: ask, tool: llm_job, inputs: {prompt: "{{session.topics}}"}}]}
`;

function one(prompt: string, tools: readonly string[], ...answers: readonly string[]): CompileCase {
  return { prompt, tools, answers, attempts: answers.length };
}

/** Says which fields the definition must have. */
function using(fields: readonly string[], compileCase: CompileCase): CompileCase {
  return { ...compileCase, fields };
}

const ALERT =
  '{id: alert, tool: http_request, inputs: {url: "{{params.file}}", method: POST, json: {error: "{{run.error}}"}}}';

/** A pipeline with a task that runs at the end. */
function withEnd(yaml: string, list: string, task: string): string {
  return `${yaml}  ${list}:\n    - ${task}\n`;
}

function none(prompt: string, ...answers: readonly string[]): CompileCase {
  return { prompt, tools: [], answers, attempts: 0 };
}

/** Requests for conditions, handlers, limits and repeats. */
const CONTROL: readonly CompileCase[] = [
  using(
    ['when'],
    one(
      'Ask a model about a file only if the param mode is full.',
      ['ingest_document', 'llm_job'],
      pipeline('full', READ, ask(undefined, 'when: {value: "{{params.mode}}", const: full}, ')),
    ),
  ),
  using(
    ['when'],
    one(
      'Read those files of a list that have a name, and leave out the others.',
      ['ingest_document'],
      FAN_OUT.replace('parallel_over', 'when: "{{item}}", parallel_over'),
    ),
  ),
  using(
    ['on_error'],
    one(
      'Get a rate from an address, and go on with 1 when that fails.',
      ['http_request', 'transform'],
      pipeline(
        'rate',
        '{id: get, tool: http_request, on_error: continue, inputs: {url: "{{params.file}}"}}',
        '{id: rate, tool: transform, inputs: {input: "{{get.output.body ?? 1}}", expression: $}}',
      ),
    ),
  ),
  using(
    ['on_failure'],
    one(
      'Sum up a report, and post to an address when the run fails.',
      ['llm_job', 'http_request'],
      withEnd(DUTIES, 'on_failure', ALERT),
    ),
  ),
  using(
    ['on_success', 'finally'],
    one(
      'Sum up a report, save the answer when all went well, and post to an address in any case.',
      ['llm_job', 'export', 'http_request'],
      withEnd(
        withEnd(
          DUTIES,
          'on_success',
          '{id: save, tool: export, inputs: {data: "{{ask.output}}", format: text}}',
        ),
        'finally',
        ALERT,
      ),
    ),
  ),
  using(
    ['timeout'],
    one(
      'Sum up a report within ten minutes in all.',
      ['llm_job'],
      DUTIES.replace('  tasks:', '  timeout: 10m\n  tasks:'),
    ),
  ),
  using(
    ['max_running', 'on_busy'],
    one(
      'Sum up a report, one run at a time, and a new run takes the place of the old one.',
      ['llm_job'],
      DUTIES.replace('  tasks:', '  max_running: 1\n  on_busy: cancel_running\n  tasks:'),
    ),
  ),
  using(
    ['repeat'],
    one(
      'Ask an address every ten seconds whether the job is done, at most 30 times.',
      ['http_request'],
      pipeline(
        'poll',
        '{id: job, tool: http_request, repeat: {until: {value: "{{this.output.body.state}}", const: done}, every: 10s, at_most: 30}, inputs: {url: "{{params.file}}"}}',
      ),
    ),
  ),
  using(
    ['when'],
    one(
      'A condition in words of another product.',
      ['llm_job'],
      pipeline('full', READ, ask(undefined, 'if: "{{params.mode}} == \'full\'", ')),
      pipeline('full', READ, ask(undefined, 'when: {value: "{{params.mode}}", const: full}, ')),
    ),
  ),
  using(
    ['on_failure'],
    one(
      'A handler in words of another product.',
      ['llm_job', 'http_request'],
      withEnd(DUTIES, 'handlers', ALERT),
      withEnd(DUTIES, 'on_failure', ALERT),
    ),
  ),
];

export const CASES: readonly CompileCase[] = [
  one('List our duties by a contract.', ['ingest_document', 'llm_job'], DUTIES),
  one('Sum up a report, with prose around the answer.', ['llm_job'], fence(DUTIES)),
  one('Think first, then sum up a report.', ['llm_job'], `<think>\npipeline: hm\n</think>\n${DUTIES}`),
  one('Read a list of files at once.', ['ingest_document'], FAN_OUT),
  one('Greet somebody whose name is kept.', ['store', 'llm_job'], SESSION),
  one('Two pipelines: topics, then questions about them.', ['store', 'llm_job'], PLAN),
  one(
    'Save the answer as a file.',
    ['export'],
    pipeline('save', READ, ask(), '{id: file, tool: export, inputs: {data: "{{ask.output}}", format: text}}'),
  ),
  one(
    'Get JSON from an address and count its entries.',
    ['http_request', 'transform'],
    pipeline(
      'count',
      '{id: get, tool: http_request, inputs: {url: "{{params.file}}"}}',
      '{id: n, tool: transform, inputs: {input: "{{get.output.body}}", expression: "$count($)"}}',
    ),
  ),
  one(
    'Find the fiscal year of a company.',
    ['compute'],
    pipeline(
      'year',
      '{id: end, tool: compute, inputs: {function: fiscal_year_end, company: "{{params.file}}"}}',
    ),
  ),
  one(
    'Choose the pages about risks.',
    ['select'],
    pipeline('risks', READ, '{id: pages, tool: select, inputs: {document: "{{doc.output}}", prompt: risks}}'),
  ),
  one(
    'Wait a second, then look again.',
    ['sleep'],
    pipeline(
      'wait',
      '{id: wait, tool: sleep, inputs: {seconds: 1}}',
      '{id: doc, tool: ingest_document, await: [wait], inputs: {path: "{{params.file}}"}}',
    ),
  ),
  ...CONTROL,
  one('A tool of another name.', ['llm_job'], DUTIES.replace('llm_job', 'llm'), DUTIES),
  one(
    'Templates without quotes.',
    ['llm_job'],
    DUTIES.replace('"{{doc.output.text}}"', '{{doc.output.text}}'),
    DUTIES,
  ),
  one('The word outputs.', ['llm_job'], fence(DUTIES.replace('doc.output.', 'doc.outputs.')), fence(DUTIES)),
  one('A filter.', ['llm_job'], DUTIES.replace('output.text', 'output.text | trim'), DUTIES),
  one(
    'Fan out over a bare name.',
    ['ingest_document'],
    FAN_OUT.replace('"{{params.list}}"', 'params.list'),
    FAN_OUT,
  ),
  one(
    'Wait for the session in words of another product.',
    ['store'],
    SESSION.replace('await:', 'depends_on:'),
    SESSION,
  ),
  one('A cycle first.', ['llm_job'], DUTIES.replace('{{params.file}}', '{{ask.output}}'), DUTIES),
  one(
    'Two mistakes, repaired one after another.',
    ['llm_job'],
    DUTIES.replace('llm_job', 'gpt').replace('  goal: g\n', ''),
    DUTIES.replace('  goal: g\n', ''),
    DUTIES,
  ),
  one('A plan with two writers.', ['store'], PLAN.replace('reads: [topics]', 'stores: [topics]'), PLAN),
  none('Make tea.', '# cannot: no tool makes tea'),
  none('The model never learns.', ...['x1', 'x2', 'x3'].map((tool) => DUTIES.replace('llm_job', tool))),
  none('The model repeats itself.', DUTIES.replace('llm_job', 'x1'), DUTIES.replace('llm_job', 'x1')),
  none(
    'The model chats.',
    'What would you like to build today?',
    'Tell me more!',
    'I can help with pipelines.',
  ),
];

/** The cases as answers for `mock/recorded`. */
export function recordedAnswers(): RecordedAnswer[] {
  return CASES.flatMap(({ prompt, answers }) => answers.map((text) => ({ prompt, text })));
}
