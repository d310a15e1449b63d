/** A database, as `sql_query` reaches it (D92). */
export interface DatabaseConnection {
  readonly type: 'database';
  readonly url: string;
}

/** A store of objects that speaks the protocol of Amazon S3 (D92). */
export interface ObjectStoreConnection {
  readonly type: 's3';
  /** The address of the service, such as `https://s3.eu-central-1.amazonaws.com`. */
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  /** The buckets that may be named; undefined allows every one that the keys can reach. */
  readonly buckets?: readonly string[] | undefined;
  /** True when the bucket stands in the path, and not in the name of the host. */
  readonly pathStyle: boolean;
}

export type Connection = DatabaseConnection | ObjectStoreConnection;

/** Where the connections of tenants come from (D92). */
export interface ConnectionSource {
  /** Undefined when the tenant has none of that name. */
  find(tenantId: string, name: string): Connection | undefined;
  /** The names of the connections of a tenant, in alphabetical order. */
  namesOf(tenantId: string): readonly string[];
}

/** The connections that a tool may use. Their secret values are masked in whatever is shown of the run (D61). */
export interface ToolConnections {
  /** Returns a connection of the tenant. @throws ToolError, not retryable, naming those that there are */
  get(name: string): Connection;
  /**
   * Returns the connection for a bucket: the one of that name; else the only one that lists the bucket; else the only one of an object
   * store.
   *
   * @throws ToolError, not retryable, that says what to write
   */
  ofBucket(bucket: string, name?: string): ObjectStoreConnection;
  /** Returns the connection of a URL that a task names. @throws ToolError, not retryable, when it is none of a database */
  ofUrl(url: string): DatabaseConnection;
}
