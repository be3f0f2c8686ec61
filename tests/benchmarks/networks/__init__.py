"""Private training of networks on data that packages ship: which of the papers' ideas pays, at equal certified ε.

python -m tests.benchmarks.networks run [--case NAME] [--seeds 5]    resumable; adds to runs.csv
python -m tests.benchmarks.networks page                             writes docs/networks.md and its figure
"""
