import { describeBrowserSpecs } from './browser-specs.js';

describeBrowserSpecs('console');
