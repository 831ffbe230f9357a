"""Readers, one per kind of source; all of them produce chunks."""
