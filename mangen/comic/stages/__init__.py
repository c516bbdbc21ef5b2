"""What each kind of work does, between a claim and its finish."""
