/** Lazy boundary: all commands. Imported for help, for errors, and for every command but those that main.ts has at hand. */
export { COMMANDS, commandsFor } from '../commands/index.js';
