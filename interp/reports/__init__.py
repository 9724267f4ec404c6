"""Reports: tables and increments in, figures and self-contained pages out; one theme."""
