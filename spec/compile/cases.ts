import type { RecordedAnswer } from '../../lib/models/providers/mock.js';

/** A request, the answers of a model to it and to the repairs, and what the definition must have. */
export interface CompileCase {
  readonly prompt: string;
  /** Written by hand, with mistakes that models make. */
  readonly answers: readonly string[];
  /** Tools that the definition must call. */
  readonly tools: readonly string[];
  /** Answers that the definition takes; 0 when no definition is expected. */
  readonly attempts: number;
}

/** One task in flow style: `{id: a, tool: t, …}`. */
function pipeline(id: string, ...tasks: readonly string[]): string {
  return `pipeline:\n  id: ${id}\n  goal: g\n  params:\n    file: {type: string}\n    list: {type: list, default: []}\n  tasks:\n${tasks.map((task) => `    - ${task}\n`).join('')}`;
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

function none(prompt: string, ...answers: readonly string[]): CompileCase {
  return { prompt, tools: [], answers, attempts: 0 };
}

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
