"""What the levels of categorical columns are worth to the default models, with their score and as codes alone."""
