/** A request and the definition that answers it. A spec validates each. */
export interface WorkedExample {
  readonly request: string;
  readonly yaml: string;
}

/** The examples in the prompt: a chain, a fan-out, the session, a plan. */
export const WORKED_EXAMPLES: readonly WorkedExample[] = [
  {
    request: 'Read a contract and say in three sentences which duties we have.',
    yaml: `pipeline:
  id: contract-duties
  goal: List our duties in {{params.file}}
  params:
    file:
      type: string
      description: The contract, a PDF, DOCX or text file
  tasks:
    - id: contract
      tool: ingest_document
      inputs:
        path: "{{params.file}}"
    - id: duties
      tool: llm_job
      retry: 2
      inputs:
        prompt: Say in three sentences which duties we have by this contract.
        contract: "{{contract.output.text}}"
`,
  },
  {
    request:
      'Fetch the product pages in a list of addresses, at most 4 at once, summarize each, and save a Markdown file.',
    yaml: `pipeline:
  id: product-summaries
  goal: Summarize product pages
  params:
    urls:
      type: list
      description: Addresses of the product pages
  tasks:
    - id: pages
      tool: ingest_document
      parallel_over: "{{params.urls}}"
      fan_out_concurrency: 4
      on_item_error: collect
      retry: 2
      inputs:
        path: "{{item}}"
    - id: readable
      tool: transform
      inputs:
        input: "{{pages.output}}"
        expression: "[$[$exists(text)]]"
    - id: summaries
      tool: llm_job
      parallel_over: "{{readable.output}}"
      fan_out_concurrency: 4
      inputs:
        prompt: Summarize this product page in one paragraph.
        page: "{{item.text}}"
    - id: file
      tool: export
      inputs:
        data: "{{summaries.output}}"
        format: markdown
        filename: summaries.md
`,
  },
  {
    request:
      'Collect the names of our customers from the CRM with our token, and have a model greet them all in one letter.',
    yaml: `pipeline:
  id: greeting
  goal: Greet all customers in one letter
  params:
    crm_url:
      type: string
      description: Address that gives the customers as a JSON list
  tasks:
    - id: customers
      tool: http_request
      inputs:
        url: "{{params.crm_url}}"
        headers:
          authorization: "Bearer {{secrets.CRM_TOKEN}}"
    - id: keep_names
      tool: store
      inputs:
        key: names
        value: "{{customers.output.body}}"
    - id: letter
      tool: llm_job
      await: [keep_names]
      inputs:
        prompt: Write one short letter that greets all of these customers by name.
        customers: "{{session.names}}"
`,
  },
  {
    request: 'Two pipelines: one finds the topics of a text, the other writes an article about them.',
    yaml: `plan:
  id: article
  goal: Write an article about the topics of a text
  inputs:
    text: Wind turbines at sea
  sub_pipelines:
    - id: research
      stores: [topics]
      inputs: [text]
      pipeline:
        id: research
        goal: Find the topics
        tasks:
          - id: find
            tool: llm_job
            inputs:
              prompt: List the topics of this text.
              text: "{{pipeline.inputs.text}}"
          - id: keep
            tool: store
            inputs:
              key: topics
              value: "{{find.output}}"
    - id: writing
      reads: [topics]
      stores: [article]
      pipeline:
        id: writing
        goal: Write the article
        tasks:
          - id: write
            tool: llm_job
            inputs:
              prompt: Write an article of 300 words about these topics.
              topics: "{{session.topics}}"
          - id: keep
            tool: store
            inputs:
              key: article
              value: "{{write.output}}"
`,
  },
];
