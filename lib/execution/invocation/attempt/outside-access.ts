import { RunConnections } from '../../../tools/connections/run-connections.js';
import { AttemptFiles } from '../../../tools/files/file-access.js';
import type { ArtifactContent, WrittenArtifact } from '../../../tools/files/artifacts.js';
import type { ToolContext } from '../../../tools/tool.js';
import type { InvocationServices } from '../../run-context.js';

type Outside = 'files' | 'fetch' | 'connect' | 'authorities' | 'connections' | 'command';

/**
 * Gives the tool of an attempt what is outside of its run: files, hosts, databases and object stores, and programs, each
 * within what the service allows, and until the attempt ends.
 */
export class OutsideAccess implements Pick<ToolContext, Outside> {
  readonly #services: InvocationServices;
  readonly #attempt: ToolContext;

  constructor(services: InvocationServices, attempt: ToolContext) {
    this.#services = services;
    this.#attempt = attempt;
  }

  get files(): ToolContext['files'] {
    return new AttemptFiles(this.#services.dependencies.files, this.#attempt);
  }

  get fetch(): ToolContext['fetch'] {
    const { clock, network } = this.#services.dependencies;
    return (url, options = {}) => {
      const { tenant_id: tenantId, signal, pauseTimeout, holdMemory: reserve } = this.#attempt;
      return network.fetch(url, options, { tenantId, clock, signal, pauseTimeout, reserve });
    };
  }

  get connect(): ToolContext['connect'] {
    const { clock, network } = this.#services.dependencies;
    return (host, port) => {
      const { tenant_id: tenantId, signal } = this.#attempt;
      return network.connect(host, port, { tenantId, clock, signal });
    };
  }

  get authorities(): ToolContext['authorities'] {
    return this.#services.dependencies.network.authorities;
  }

  get connections(): ToolContext['connections'] {
    const { dependencies, prepared } = this.#services;
    const hide = (values: Parameters<typeof prepared.secrets.hide>[0]): void => prepared.secrets.hide(values);
    return new RunConnections(dependencies.connections, prepared.tenantId, hide);
  }

  get command(): ToolContext['command'] {
    const { dependencies, prepared } = this.#services;
    return (command) => {
      const { run_id: runId, task_id: taskId, tenant_id: tenantId, artifacts } = this.#attempt;
      const { clock, signal, pauseTimeout, log, holdMemory } = this.#attempt;
      const attempt = { runId, taskId, tenantId, clock, signal, pauseTimeout, log, holdMemory };
      const masker = prepared.secrets.lineMasker;
      const writeFile = (file: ArtifactContent): Promise<WrittenArtifact> => artifacts.write(file);
      return dependencies.commands.run(command, { ...attempt, masker, writeFile });
    };
  }
}
