"""Measurements: speed, width of the proven intervals, accuracy of what is trained, peers. None of them is a test.

    python -m benchmarks.classifiers run|page|tune        private classifiers; results in classifiers/
    python -m benchmarks.regressors run|page|tune         private regressors; results in regressors.json
    python -m benchmarks.networks run|left|regime|page    private networks; results in networks/
    python -m benchmarks.what_people_run [WORDS ...]      both ends of each question, with CPU seconds and memory
    python -m pytest benchmarks -n 0 -m minutes -s        all the rest, and what is stored measured again

``tests/benchmarks`` compares the stored results with the pages of ``docs/`` and with a few new runs.
"""
