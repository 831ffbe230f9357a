"""Speed: the jobs of the target table, peers in the same run, and scaling curves."""
