"""Who runs next and how it is told: rank, canvas, the pass, the reporter. Knows no comics."""
