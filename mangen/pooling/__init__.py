"""Residency, admission and batching for model work: knows no comics, no ledger, no web.

Import what you need from the modules; nothing here loads torch, celery or sqlalchemy.
"""
