"""What was done to break Sapwood, how often, and what came of it: each attack a command, each result a file."""
