"""One reader for each kind of source; all of them hand over `Chunk`s."""
