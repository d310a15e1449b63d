#!/usr/bin/env node
import './start.cjs';
