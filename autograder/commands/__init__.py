"""The commands, one module each: `configure(parser)` and `run(course, options)`, thin over plain functions."""
