"""The product: from a text to a comic video, as jobs of the ledger."""
