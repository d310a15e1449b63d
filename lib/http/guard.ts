/** What a browser must not be able to do from somebody else's page (D38). */
export interface Guard {
  /**
   * @throws WavetrainError `foreign_host` when the request names a host that this server is not, `foreign_origin`
   * when a page of another origin asks for more than to read
   */
  check(request: GuardedRequest): void;
}

/** Of a request; each header is empty when there is none. */
export interface GuardedRequest {
  readonly method: string;
  readonly host: string;
  readonly origin: string;
  /** The Sec-Fetch-Site header, by which a browser says where the page came from that asks. */
  readonly fetchSite: string;
}
