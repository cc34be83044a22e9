"""The tables of this folder are modules of their own."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

# pytest would import them a second time in its search for doctests.
collect_ignore_glob = ["cases_*.py", "crossing.py"]
