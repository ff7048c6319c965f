"""A ledger of small amounts, kept in a text file."""
