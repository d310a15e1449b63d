import type { ModelAccess } from '../../../models/models.js';
import type { Connection, ConnectionSource } from '../../../tools/connections/connection.js';

/** The connections of a server (D92). A call finds those of the file as it was read last. */
export class CurrentConnections implements ConnectionSource {
  #source: ConnectionSource;

  constructor(source: ConnectionSource) {
    this.#source = source;
  }

  use(source: ConnectionSource): void {
    this.#source = source;
  }

  find(tenantId: string, name: string): Connection | undefined {
    return this.#source.find(tenantId, name);
  }

  namesOf(tenantId: string): readonly string[] {
    return this.#source.namesOf(tenantId);
  }
}

/** The language models of a server (D50). A request asks those that were configured last. */
export class CurrentModels implements ModelAccess {
  #models: ModelAccess;

  constructor(models: ModelAccess) {
    this.#models = models;
  }

  use(models: ModelAccess): void {
    this.#models = models;
  }

  assertConfigured(...asked: Parameters<ModelAccess['assertConfigured']>): void {
    this.#models.assertConfigured(...asked);
  }

  generate(...asked: Parameters<ModelAccess['generate']>): ReturnType<ModelAccess['generate']> {
    return this.#models.generate(...asked);
  }
}
