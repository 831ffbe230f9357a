"""Reading a stream: from files, tables, arrays and iterables to batches of numbers, at constant memory.

The package knows nothing of models. A row passes through it in this order:

- `opening` picks the reader for what the user gave;
- `readers` split the source into chunks of raw columns, one module per kind of source;
- `sapwood.encoding` infers the type of each column from the first rows and turns raw values into numbers;
- `bad_rows` skips, quarantines or reports the rows that cannot be used;
- `source` joins these into the public iterator over batches, which can be resumed.
"""
