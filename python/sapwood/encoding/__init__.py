"""From raw columns to numbers: parsing, type inference, features and the target."""
