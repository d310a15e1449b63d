export interface ScaffoldFile {
  /** Relative to the new folder. */
  readonly path: string;
  readonly text: string;
}

/** The file of tools, which the commands name. */
export const TOOLS_FILE = 'tools.ts';

/** The tests of the pipeline (D91). */
const TEST_FILE = 'pipeline.test.yaml';

/** The JSON Schema of pipelines that call these tools, for editors. */
export const SCHEMA_FILE = 'pipeline.schema.json';

/** The scaffolds that `init` can write: a pipeline with tools of its own, or one that needs no TypeScript. */
export const TEMPLATES = ['tools', 'report'] as const;
export type ScaffoldTemplate = (typeof TEMPLATES)[number];

/** The files of a pipeline that runs as it is, without the JSON Schema. */
export function scaffold(template: ScaffoldTemplate): ScaffoldFile[] {
  const common = [
    { path: 'data/orders.csv', text: ORDERS },
    { path: '.vscode/settings.json', text: SETTINGS },
  ];
  return template === 'report'
    ? [
        { path: 'pipeline.yaml', text: REPORT_PIPELINE },
        { path: TEST_FILE, text: REPORT_TESTS },
        ...common,
        { path: 'README.md', text: REPORT_README },
      ]
    : [
        { path: 'pipeline.yaml', text: PIPELINE },
        { path: TEST_FILE, text: TESTS },
        { path: TOOLS_FILE, text: TOOLS },
        ...common,
        { path: 'README.md', text: README },
      ];
}

const PIPELINE = `# yaml-language-server: $schema=pipeline.schema.json
pipeline:
  id: orders
  goal: Price the orders and report the total, with a discount of {{params.discount}}

  params:
    discount:
      type: number
      description: Discount on orders of ten pieces or more, as a fraction
      default: 0.1
      minimum: 0
      maximum: 1

  tasks:
    # Wave 1. Paths are relative to this file.
    - id: read_orders
      tool: ingest_document
      inputs:
        path: data/orders.csv

    # Wave 2: waits for read_orders because it reads its output. The tool is called once per row, all rows at once.
    - id: price_orders
      tool: price_order # in tools.ts
      parallel_over: "{{read_orders.output.rows}}"
      retry: 1
      inputs:
        order: "{{item}}"
        discount: "{{params.discount}}"

    # Wave 3: two tasks in parallel.
    - id: total
      tool: transform
      inputs:
        input: "{{price_orders.output}}"
        expression: $round($sum(price), 2)

    - id: by_customer
      tool: transform
      inputs:
        input: "{{price_orders.output}}"
        expression: "$ { customer: $round($sum(price), 2) }"

    # Wave 4.
    - id: report
      tool: write_report # in tools.ts
      inputs:
        total: "{{total.output}}"
        customers: "{{by_customer.output}}"
`;

const TESTS = `# What read_orders answers here stands in for data/orders.csv.
cases:
  - name: gives the discount from ten pieces on
    params: { discount: 0.5 }
    answers:
      read_orders:
        output:
          rows:
            - { customer: Ada, pieces: "10", unit_price: "2" }
            - { customer: Grace, pieces: "9", unit_price: "2" }
    expect:
      outputs:
        total: 28
        by_customer: { Ada: 10, Grace: 18 }
        report: { pattern: "Total: 28" }

  - name: fails without the file
    answers:
      read_orders: { error: there is no such file }
    expect:
      error: { pattern: no such file }
      calls: { price_orders: 0 }
`;

const TOOLS = `import { defineTool } from 'wavetrain';

const priceOrder = defineTool({
  name: 'price_order',
  description: 'Computes the price of an order',
  inputs: {
    order: { type: 'object', required: true, description: 'with customer, article, pieces and unit_price' },
    discount: { type: 'number', default: 0, description: 'discount on orders of ten pieces or more, as a fraction' },
  },
  output: { name: 'order', description: 'the order and its price', type: 'object' },
  // It only computes: tests call it as it is.
  pure: true,
  run({ order, discount }) {
    const pieces = Number(order['pieces']);
    const full = pieces * Number(order['unit_price']);
    const price = pieces >= 10 ? full * (1 - discount) : full;
    return { ...order, price: Math.round(price * 100) / 100 };
  },
});

const writeReport = defineTool({
  name: 'write_report',
  description: 'Formats the totals as Markdown',
  inputs: {
    total: { type: 'number', required: true, description: 'total price of all orders' },
    customers: { type: 'object', required: true, description: 'total price by customer' },
  },
  output: { name: 'report', description: 'Markdown', type: 'string' },
  pure: true,
  run({ total, customers }) {
    const lines = Object.entries(customers).map(([name, amount]) => \`- \${name}: \${amount}\`);
    return ['# Orders', '', ...lines, '', \`Total: \${total}\`].join('\\n');
  },
});

export default [priceOrder, writeReport];
`;

const ORDERS = `customer,article,pieces,unit_price
Ada,rope,12,3.5
Ada,lantern,1,20
Grace,anchor,2,75
Grace,sail,1,310
Linus,rope,40,3.5
`;

const REPORT_PIPELINE = `# yaml-language-server: $schema=pipeline.schema.json
pipeline:
  id: report
  goal: Price the orders of a CSV file and write a report, without a tool of one's own

  params:
    least:
      type: integer
      description: Smallest number of pieces of an order that counts
      default: 1

  tasks:
    # Wave 1. Cells of other columns stay text; a price that is no number is an error.
    - id: orders
      tool: ingest_document
      inputs:
        path: data/orders.csv
        columns: { pieces: integer, unit_price: number }

    # Wave 2. A call per row would be: parallel_over: "{{orders.output.rows}}", with {{item.article}} in the inputs
    # of http_request, and fan_out_concurrency: 5.
    - id: priced
      tool: transform
      inputs:
        input: "{{orders.output.rows}}"
        bindings: { least: "{{params.least}}" }
        expression: |
          [$[pieces >= $least].{ "customer": customer, "article": article, "price": $round(pieces * unit_price, 2) }]

    # Wave 3. A misspelt column would make an empty report: this fails with a sentence instead.
    - id: checked
      tool: assert
      inputs:
        input: "{{priced.output}}"
        that: $count($) > 0 and $sum(price) > 0
        message: no order has a price

    # Wave 4: two files, which run writes into the folder outputs.
    - id: workbook
      tool: export
      inputs: { data: "{{checked.output}}", format: xlsx, filename: report }
    - id: page
      tool: export
      inputs: { data: "{{checked.output}}", format: markdown, filename: report }
`;

const REPORT_TESTS = `# What orders answers here stands in for data/orders.csv; what is exported is compared, and no file is written.
cases:
  - name: exports the orders that have enough pieces
    params: { least: 5 }
    answers:
      orders:
        output:
          rows:
            - { customer: Ada, article: rope, pieces: 12, unit_price: 3.5 }
            - { customer: Grace, article: sail, pieces: 1, unit_price: 310 }
      workbook: { output: report.xlsx }
      page: { output: report.md }
    expect:
      calls:
        workbook: [{ data: [{ customer: Ada, article: rope, price: 42 }] }]

  - name: fails when no order has enough pieces
    params: { least: 1000 }
    answers:
      orders: { output: { rows: [{ customer: Ada, article: rope, pieces: 12, unit_price: 3.5 }] } }
    expect:
      error: { pattern: ^no order has a price }
      calls: { workbook: [], page: [] }
`;

const REPORT_README = `# A Wavetrain pipeline

    npx wavetrain validate pipeline.yaml
    npx wavetrain graph pipeline.yaml
    npx wavetrain run pipeline.yaml
    npx wavetrain run pipeline.yaml --params '{"least": 10}' --json
    npx wavetrain test

\`pipeline.yaml\` declares the tasks, \`pipeline.test.yaml\` tests them, \`data/\` holds their input, and \`outputs/\` gets the report. \`npx wavetrain tools\`
lists the tools that a task can call.

With a YAML extension, your editor completes and checks pipeline files as you type: the fields, the names of the tools
and their inputs. It reads them from \`pipeline.schema.json\`.
`;

const SETTINGS = `${JSON.stringify(
  { 'yaml.schemas': { './pipeline.schema.json': ['pipeline.yaml', '*.pipeline.yaml'] } },
  null,
  2,
)}
`;

const README = `# A Wavetrain pipeline

    npx wavetrain validate pipeline.yaml --tools tools.ts
    npx wavetrain graph pipeline.yaml --tools tools.ts
    npx wavetrain run pipeline.yaml --tools tools.ts
    npx wavetrain run pipeline.yaml --tools tools.ts --params '{"discount": 0.25}' --json
    npx wavetrain test --tools tools.ts

\`pipeline.yaml\` declares the tasks, \`pipeline.test.yaml\` tests them, \`tools.ts\` defines two tools of your own, \`data/\` holds their input.

With a YAML extension, your editor completes and checks pipeline files as you type: the fields, the names of the tools
and their inputs. It reads them from \`pipeline.schema.json\`. After a change of \`tools.ts\`, write that file again:

    npx wavetrain schema pipeline --tools tools.ts > pipeline.schema.json
`;
