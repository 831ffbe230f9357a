"""Memory: that it stays constant however long the stream."""
