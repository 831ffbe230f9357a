"""Memory: that it is flat, however long the stream."""
