import { AllowedCommands } from '../../tools/commands/allowed-commands.js';
import { errorMessage, invalidVariable } from '../errors.js';
import type { Environment, EnvironmentVariable } from './environment.js';

const NAME = 'SERVICE_COMMANDS';

/** The variable that allows the programs which tasks start on a server. */
export const COMMANDS_VARIABLE: EnvironmentVariable = {
  name: NAME,
  description: 'programs that the tool command may start, as in git,python3; * allows all',
  secret: false,
};

/** Says how the operator of a server allows a program, as the end of a sentence. */
export const COMMANDS_ADVICE = `its operator lists programs in ${NAME}`;

/**
 * Reads the programs that tasks may start (D88): none by default.
 *
 * @throws WavetrainError `bad_usage` with the variable and an example
 */
export function readCommands({ [NAME]: text = '' }: Environment): AllowedCommands {
  try {
    return AllowedCommands.parse(text);
  } catch (error) {
    throw invalidVariable(NAME, errorMessage(error), error);
  }
}
