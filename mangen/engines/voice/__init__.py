"""Voices: lines in, trimmed speech out."""
