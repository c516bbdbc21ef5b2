"""The command line: thin commands over mangen.api, behind `manage.py`."""
