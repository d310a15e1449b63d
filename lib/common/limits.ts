/** Maximum length of an output as JSON, of the result of an expression and of a text from a template, in characters. */
export const MAX_OUTPUT_LENGTH = 10 * 2 ** 20;

/** Maximum size of a file that a tool reads. */
export const MAX_FILE_BYTES = 10 * 2 ** 20;

/** Maximum length of a log message of a tool, in characters: a longer one contains data, which events would keep. */
export const MAX_LOG_LENGTH = 4000;

export const EXPRESSION_LIMITS = {
  /** Time after which JSONata stops the evaluation. */
  timeoutMs: 1000,
  /** Time after which V8 interrupts the evaluation, wherever it is. */
  hardTimeoutMs: 1250,
  depth: 500,
  /** Maximum number of elements in one list that the expression creates. */
  listLength: 1_000_000,
  /** Maximum memory of a worker process, in MiB. */
  memoryMiB: 256,
  /** Maximum length of the result as JSON text, in characters. */
  resultLength: MAX_OUTPUT_LENGTH,
};

/** The limits of one expression of the `transform` tool. */
export type ExpressionLimits = Readonly<typeof EXPRESSION_LIMITS>;

/** Maximum depth of nested runs below the submitted one. */
export const MAX_NESTING_DEPTH = 8;

/** Maximum number of nested runs of one submitted run at once, at any depth. */
export const MAX_NESTED_PIPELINES = 10_000;

/**
 * Maximum length of a definition that a server reads as text, in characters, of all texts in a request together: parsing
 * YAML takes seconds per megabyte, in a process of its own; parsing JSON does not.
 */
export const MAX_YAML_LENGTH = 256 * 1024;

/** Maximum length of the text of a definition that is kept and shown, in characters: a longer one is shown as JSON only. */
export const MAX_SHOWN_YAML_LENGTH = 2 ** 20;

/** Maximum length of a definition for `run_pipeline`, in characters, as over HTTP: parsing YAML blocks the event loop. */
export const MAX_CALLED_DEFINITION_LENGTH = 256 * 1024;

/** Maximum number of params, of inputs and of session values that `run_pipeline` passes on: their names are sorted and compared at once. */
export const MAX_CALLED_VALUES = 10_000;

/** The longest time, and the largest number, of `keep` in a definition (D74). */
export const KEEP_LIMITS = { days: 3650, runs: 1_000_000 };

/** The longest `timeout` of a run as a whole (D81). */
export const MAX_RUN_TIMEOUT_DAYS = 3650;
/** The limits of `max_running` of a definition, and of `concurrency_key` as it is written and with its params filled in (D81). */
export const CONCURRENCY_LIMITS = { running: 1_000_000, templateLength: 1000, valueLength: 200 };

/** The lowest and the highest `priority` of a definition (D81). */
export const PRIORITY_LIMITS = { lowest: -100, highest: 100 };

/** Maximum number of pipelines and plans of a tenant that statistics count by themselves in one hour (D74). */
export const MAX_PIPELINES_PER_HOUR = 1000;

/** Stands for the pipelines beyond `MAX_PIPELINES_PER_HOUR`, which are counted together: no id has this character. */
export const OTHER_PIPELINES = '*';

/** Maximum number of definitions of one tenant whose `keep` bounds the number of their settled runs (D74). */
export const MAX_QUOTAS = 1000;

/** Maximum length of a goal, in characters, as written and with its params filled in: every list of runs repeats it. */
export const MAX_GOAL_LENGTH = 10_000;

/** Maximum number of sub-pipelines in one plan: what concerns all of them, such as checking inputs, cannot pause. */
export const MAX_SUB_PIPELINES = 2000;

/** Maximum number of inputs of a rerun, and of its session values, with those of the run that it repeats. */
export const MAX_RERUN_VALUES = 100_000;

/** The limits of the requests that tools send (D51). */
export const FETCH_LIMITS = {
  inFlight: 256,
  /** Default of the largest response, as it was sent and as it is unpacked. */
  responseBytes: 10 * 2 ** 20,
  /** The largest response that a task may ask for. */
  largestResponseBytes: 64 * 2 ** 20,
  /** Default of the time for one request with its redirects. */
  timeoutMs: 60_000,
  /** Time for which nothing may arrive. */
  idleMs: 30_000,
  redirects: 5,
  /** Headers of a request, and values in its query. */
  headers: 100,
  queryValues: 1000,
  /** Characters of a URL with its query, and of all headers. */
  urlLength: 64 * 1024,
  headersLength: 64 * 1024,
} as const;

/** The limits of requests to language models. */
export const MODEL_LIMITS = {
  /** Requests in flight to one provider, of all runs together. */
  inFlight: 8,
  connectMs: 30_000,
  /** Time for one answer, and for which nothing of it may arrive: local models read a long prompt in silence. */
  totalMs: 15 * 60_000,
  idleMs: 120_000,
  /** Time without an answer after which the events of a run, and the shell, show the wait. */
  waitNoticeMs: 800,
  /** Length of the name of a model in events and records, in characters. */
  nameLength: 200,
  /** How often a request is repeated after an error that may pass. */
  retries: 4,
  /** Delay before the first repetition; it doubles with each. */
  retryDelayMs: 1000,
  /** Requests of all attempts of one invocation: twice as many as a document may have pages. */
  requestsOfInvocation: 20_000,
  /** Attempts of one invocation that ask a model, also in pipelines that they run. */
  attemptsOfInvocation: 100,
  /** Longest delay that a provider may ask for; up to a tenth is added. */
  longestRetryDelayMs: 60_000,
  /** Maximum length of an answer, in characters. */
  answerLength: 2 * 2 ** 20,
  /** Maximum number of parts of an answer: the longest have 128,000 tokens, and some models send each in a part. */
  answerParts: 200_000,
  /** Maximum size of what a provider sends for one answer, in bytes. */
  answerBytes: 32 * 2 ** 20,
  /** Maximum size of one event of an answer, which one turn of the event loop parses: in bytes; as of MCP servers. */
  event: { messageBytes: 4 * 2 ** 20, messageParts: 20_000, messageValues: 20_000 },
  /** Maximum number of bytes that are read of an error of a provider. */
  errorBytes: 64 * 1024,
  /** Texts of one request together, in characters: more than the context of any model. */
  promptLength: 8 * 2 ** 20,
  /** Images of one request together, in bytes. */
  imageBytes: 20 * 2 ** 20,
  /** Size of the file to which answers are recorded, in bytes. */
  recordedBytes: 64 * 2 ** 20,
  /** Tenants whose place in recorded answers is remembered, and pairs of a tenant and a model that refuses schemas. */
  remembered: 1000,
} as const;

/** Shorter values of keys, such as `none`, and of variables, such as `true`, are no secrets, and would hide much else. */
export const MIN_KEY_LENGTH = 8;

/** Models of each provider that the metrics name. */
export const MAX_MODELS_IN_METRICS = 50;

/** The limits of the tools that read documents with a language model. */
export const EXTRACTION_LIMITS = {
  /** Default of the characters that a model is given at once, and the least that a task may set. */
  maxChars: 400_000,
  leastMaxChars: 1000,
  /** The most that a task may set: more would be refused as a request to a model. */
  mostMaxChars: 6 * 2 ** 20,
  /** How often a task may let a model fix its answer. */
  repairs: 5,
  /** Requests of one task at once: one for each page. */
  atOnce: 4,
  /** Characters of each page that `select` shows to a model. */
  previewLength: 300,
} as const;

/** The limits of compiling a request into a definition. */
export const COMPILE_LIMITS = {
  /** Maximum length of the request, in characters. */
  promptLength: 20_000,
  /** Maximum length of one answer, in characters; the model is asked for a shorter one. */
  answerLength: 100_000,
  /** Default of the repairs, and the most that may be asked for. */
  repairs: 2,
  mostRepairs: 5,
  /** Problems that a model is asked to repair at once, and the longest of them, in characters. */
  problemsSent: 30,
  problemLength: 600,
  /** Names of tools with them, when one of them is an unknown tool. */
  toolsNamed: 200,
  /** Length of the tools that the prompt describes whole, and of those with one line each, in characters. */
  catalogLength: 60_000,
  /** Requests over HTTP that are compiled at once, and one more of each tenant that has none, up to twice as many. */
  atOnce: 8,
} as const;

/** The limits of MCP servers, whose tools tasks call. */
export const MCP_LIMITS = {
  servers: 50,
  /** Tools of one server: the others are left out, with a warning. */
  tools: 1000,
  /** Time for starting a server, or connecting to it, and for listing its tools. */
  connectMs: 10_000,
  listMs: 10_000,
  /** Time for one call, besides the timeout of the task. */
  callMs: 15 * 60_000,
  /** Calls in flight to one server, of all runs together. */
  inFlight: 16,
  /**
   * Maximum size of one message, in bytes, where an image is a third longer, of its lists, objects and members, and of the
   * commas between these and values: they are parsed and copied in one turn of the event loop, in some 30 ms and 200 ms.
   */
  messageBytes: 5 * 2 ** 20,
  messageParts: 100_000,
  messageValues: 300_000,
  /**
   * Messages of one server that answer nothing: at once, and then each second; and in all, and then each second in the
   * long run. A server that sends more is ended. Handling one takes up to 60 µs.
   */
  messagesAtOnce: 2000,
  messagesPerSecond: 1000,
  messagesInAll: 20_000,
  messagesPerSecondInAll: 10,
  /** Bytes of such a message that count as one more. */
  countedBytes: 16 * 1024,
  /** Lines that a server may write to its standard error at once, and then each second; others are left out. */
  logLinesAtOnce: 2000,
  logLinesPerSecond: 1000,
  /** Delay before a server that has ended is started again; it doubles with each failure in a row. */
  restartDelayMs: 500,
  longestRestartDelayMs: 30_000,
  /** Time that a server has to end by itself, and then after SIGTERM. */
  closeMs: 1000,
  /** Maximum length of the schema of the inputs of one tool, in characters of JSON; a longer one is not checked here. */
  schemaLength: 64 * 1024,
  /** Maximum number of schemas in that schema, references resolved, and their depth. */
  schemas: 1000,
  schemaDepth: 32,
  /** Maximum length of the name of a tool, and of a description, which is cut. */
  nameLength: 128,
  descriptionLength: 500,
} as const;

/** The limits of the responses that the source `url` keeps, for all tenants together. */
export const URL_CACHE_LIMITS = { responseBytes: 2 ** 20, totalBytes: 16 * 2 ** 20 } as const;

/** The limits of the source `sec_edgar`. */
export const SEC_LIMITS = {
  /** As the SEC allows, of all runs together. */
  requestsPerSecond: 10,
  responseBytes: 32 * 2 ** 20,
  companies: 100,
  /** Entries of `companies`, `forms` and `facts`, and characters of one. */
  namesInList: 1000,
  nameLength: 200,
  /** Files of older filings of one company. */
  olderFiles: 20,
} as const;

/** Maximum size of one file that a tool writes (D63). */
export const MAX_ARTIFACT_BYTES = 64 * 2 ** 20;

/** Maximum number of files of one run, with those of its nested runs and sub-pipelines. */
export const MAX_ARTIFACTS = 10_000;

/** The most files and skipped tasks (D78) that a run record lists; it says how many files there are. */
export const MAX_LISTED_ARTIFACTS = 1000;
export const MAX_LISTED_SKIPS = 1000;

/**
 * Longest text to search the list of runs for, the searched part of a goal or an error, and the shortest text that is looked
 * for at both ends of ids, too, where fewer would select most of the runs of a month: in characters.
 */
export const LISTING_LIMITS = { textLength: 200, searchedLength: 2000, idPartLength: 6 } as const;

/** Labels of a run (D76), and characters of a name, of a value, and of both with a colon between them. */
export const LABEL_LIMITS = { most: 20, nameLength: 64, valueLength: 128, textLength: 193 } as const;

/** Maximum length of the name of a file that a tool writes, as UTF-8: file systems allow 255 with a number. */
export const MAX_FILE_NAME_BYTES = 200;

/** Maximum length of the texts with JSON, and of all keys, that a call of a function of the package reads. */
export const MAX_FUNCTION_TEXT = 2 ** 20;

/** Maximum number of elements of a list that a function of the package reads: it makes more of each. */
export const MAX_FUNCTION_LIST = 10_000;

/** Maximum number of fields in all objects of such a list together: each takes a microsecond or two. */
export const MAX_FUNCTION_FIELDS = 20_000;

/** Longest key of such objects, and longest name of a company, in characters: keys are searched and rewritten. */
export const MAX_FUNCTION_KEY = 1000;

/** Maximum number of statuses that a task expects of a request, one by one or as ranges. */
export const MAX_EXPECTED_STATUSES = 100;

/** Maximum length of a file that `load_schema` reads, in characters: parsing YAML blocks the event loop. */
export const MAX_SCHEMA_LENGTH = 256 * 1024;

/** Maximum number of fields of a schema: each takes a quarter of a kilobyte, whatever its name. */
export const MAX_SCHEMA_FIELDS = 10_000;

/** The limits of reading the scanned pages of a PDF. */
export const SCAN_LIMITS = {
  /** Maximum number of scanned pages of one document: each is one request to a model. */
  pages: 50,
  /** Maximum number of pixels of an image in a PDF: 600 dots per inch on A4. */
  imagePixels: 40_000_000,
  /** Images that are painted on one page. */
  imagesOfPage: 1000,
  /** The longer side of the raster of a page, in pixels: models make larger ones smaller. */
  longerSide: 2000,
  /** Maximum size of the rasters of the pages of one document together, in bytes. */
  bytes: 24 * 2 ** 20,
  /** How much longer the process may take that reads a document and makes these rasters. */
  timeFactor: 3,
} as const;

/** The limits of `ingest_document` and `select`. */
export const DOCUMENT_LIMITS = {
  pages: 10_000,
  /** Maximum size of the files in a DOCX or XLSX archive together, in bytes, and their number. */
  unzippedBytes: 100 * 2 ** 20,
  zipEntries: 10_000,
  /** Maximum length of the text of one document, in characters: an output holds it twice, whole and by page. */
  textLength: MAX_OUTPUT_LENGTH / 2,
  documents: 1000,
  /** Maximum size of the images of one task together, in bytes: they stay in memory until the task ends. */
  imageBytes: 32 * 2 ** 20,
  /** Documents of all runs that are read at once, and up to twice as many within the guarantees of tenants; others wait. */
  atOnce: 16,
  /** Time and memory of the process that reads one document. */
  timeoutMs: 60_000,
  memoryMiB: 512,
  /** Maximum number of different words in a document that `select` searches: each takes 200 bytes and more. */
  indexedWords: 500_000,
  /** Maximum number of chunks in such a document. */
  chunks: 100_000,
  /** Memory of the indexes that `select` keeps for the next query, also of runs that have ended: others take their place. */
  indexedBytes: 64 * 2 ** 20,
} as const;

/** The limits of `export`. */
export const EXPORT_LIMITS = {
  /** Maximum number of cells in all sheets of a workbook together. */
  cells: 500_000,
  /** Maximum number of cells in a table that is made of objects, of all formats. */
  tableCells: 2_000_000,
  /** Maximum number of cells and rows in all tables of a file together. */
  tableParts: 4_000_000,
  sheets: 255,
  /** Maximum number of rows in a sheet, with the names of its columns, as spreadsheets have them. */
  rows: 1_048_576,
  /** Maximum length of a text in a cell of a workbook, in characters, as spreadsheets have it. */
  cellLength: 32_767,
  /** Exports at work at once, and one more of each tenant that has none, up to twice as many; a workbook takes a thread. */
  atOnce: 2,
  /** Memory of that thread. */
  workbookMiB: 512,
} as const;

/** The limits of inspecting a run: what is kept of the events of its actors, of which there may be hundreds of thousands. */
export const INSPECTION_LIMITS = {
  /** Entries kept of one run, and their memory as JSON, in bytes: half of them are dropped at a time. */
  entries: 50_000,
  length: 32 * 2 ** 20,
  /** Length of a snapshot in an entry, as JSON, and of the data of an event. */
  snapshotLength: 4000,
  dataLength: 1000,
  /** Time for which a run is still recorded after its last viewer has left, who may come back. */
  lingerMs: 10_000,
  /** Actors that had ended already when recording began, and that still get an entry. */
  settledActors: 10_000,
  /** Size of a recording, in bytes, and its entries, when it is written or read. */
  recordingBytes: 100 * 2 ** 20,
  recordingEntries: 1_000_000,
  /** Tasks and items that have failed whose values a recording has, and the characters of each value. */
  failedCalls: 20,
  failedValueLength: 4000,
} as const;

/** The limits of the runs that the shell keeps, in one folder (D68). */
export const HISTORY_LIMITS = {
  /** Runs, with those that are at work. */
  runs: 100,
  /** Size of the runs, in bytes. A larger run is kept up to there. */
  bytes: 500 * 2 ** 20,
} as const;

/** The limits of requests that only their body can prove to be allowed: signed ones to webhooks (D71). */
export const UNPROVED_LIMITS = {
  /** All bodies of such requests together take one part in so many of SERVICE_MEMORY. */
  partOfMemory: 8,
  /** Time for a body to arrive. */
  receiveMs: 10_000,
  /** Bytes that the refused requests of one address may have sent within a time. */
  failedBytes: 256 * 2 ** 20,
  failedWindowMs: 60_000,
  /** Bytes that each refused request counts besides its body. */
  failedHeadBytes: 256,
  /** Addresses that are counted one by one; all others count as one. */
  addresses: 10_000,
} as const;
