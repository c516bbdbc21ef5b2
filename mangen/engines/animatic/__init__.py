"""The animatic: a CPU engine without weights that draws its own people, places and weather."""
