"""arraygrad side by side with its peers, in one run: `python -m benchmarks`.

Only ratios mean anything: the machines this runs on are noisy, so the systems take turns, many
times over, and the median of each is compared.
"""

import os

# Each system has threads of its own; those that wait must not take time from those that work.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
