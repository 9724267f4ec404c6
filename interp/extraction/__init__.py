"""Extraction: which signal, how it is hooked, and the table in which it is kept.

`interp.extraction.extract` makes an IncrementTable, `interp.extraction.increment_table` reads one
(without importing torch), `interp.extraction.signals` is where signals are added.
"""
