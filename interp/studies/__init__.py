"""Studies: text and a checkpoint in, increments, tables and pages out; each is one function."""
